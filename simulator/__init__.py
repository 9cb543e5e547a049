"""Adversarial composition experiments for differential privacy.

Each round an adversary picks two neighbouring databases and a private mechanism, and receives the
mechanism's answer on database b (Roth 2011, Lecture 4, Algorithm 1). :func:`simulate` plays this
experiment; :mod:`simulator.theory` has the bounds to compare its results with.

The package has the names of a first program, and a namespace for each further job. Both are listed
in ``__init__.pyi`` and imported when first used, so that a worker process loads only what it needs.
"""

from simulator.foundations.attached import attached

__version__ = "0.1.0"

__getattr__, __dir__, _ = attached(__name__, __file__)

__all__ = [
    "Account",
    "Composition",
    "Database",
    "Gaussian",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
    "Result",
    "bounds_for",
    "counting_query",
    "estimate_rare",
    "rule",
    "simulate",
    "verify",
]
