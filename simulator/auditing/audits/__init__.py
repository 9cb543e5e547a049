"""Audits of black boxes: evidence of their answers against the guarantee that they claim.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
