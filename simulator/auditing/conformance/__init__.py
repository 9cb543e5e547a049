"""Tests of accountants, filters and odometers, of other libraries and of this one.

A library has an adapter in :mod:`simulator.auditing.libraries`, which states what each of its
subjects claims, and runs in a separate process. :func:`tried` compares every claim with certified
ends of the truth; a claim that is too small is computed a second way before it is called a defect.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
