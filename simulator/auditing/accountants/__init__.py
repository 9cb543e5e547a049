"""Accountants with this package's certified numbers, for training loops of other libraries.

Each is loaded with its library when its name is first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
