"""Mechanisms that claims and games play, one file each.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
