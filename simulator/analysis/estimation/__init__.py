"""Estimates from samples of the privacy loss, with confidence intervals.

Losses are arrays of shape (trials,), always ln Pr[V0=v]/Pr[V1=v]; ``experiment`` says in which of
the two experiments they were drawn, and in experiment 1 every function exchanges the roles.
Intervals are valid at every sample size.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
