"""The search for counterexamples: an adversary that breaks a claim, found and written as a program.

A claim is anything that promises: a filter, an odometer, a bound, an accountant.
:func:`find_adversary` searches for an adversary that gets more than is promised, and returns it as
the source of a short generator with what it gets, exactly or from fresh plays. The names are listed
in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
