"""Rare events: the choice of a sampling measure, and estimates under it.

A measure is chosen on held-out draws and then fixed; weights correct the final sample for it.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
