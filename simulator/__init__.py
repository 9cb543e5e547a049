"""Adversarial composition experiments for differential privacy.

An adversary picks, round by round, two neighbouring databases and a private mechanism, and is
handed the mechanism's answer on database b (Roth 2011, Lecture 4, Algorithm 1). Play it with
:func:`simulate`; hold what was measured against :mod:`simulator.theory`.

The root has the names of a first program, and a namespace for every job beyond it. Both are listed
in ``__init__.pyi`` and imported when first used, so that a worker process loads only what it plays
with.
"""

from typing import Any

import lazy_loader

from simulator.moved import moved_name

__version__ = "0.1.0"

_listed, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)

__all__ = [
    "Account",
    "Composition",
    "Database",
    "Gaussian",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
    "Result",
    "audit",
    "bounds_for",
    "counting_query",
    "estimate_rare",
    "rule",
    "simulate",
    "verify",
    "worst_case",
]


def __getattr__(name: str) -> Any:
    try:
        return _listed(name)
    except AttributeError:
        return moved_name(name)
