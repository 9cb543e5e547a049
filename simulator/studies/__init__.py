"""A study: many tasks, a rule for when to stop each, and one table of what was found.

``collect`` plays the tasks and writes one line of a CSV file per task and quantity. The names are
listed in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
