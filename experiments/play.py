"""Adversaries of the library played from a figure's specification, and estimates as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simulator import Result, simulate
from simulator.adversaries import make
from simulator.theory import parse_guarantee

ENDS = ("value", "lower", "upper")


def columns(estimates: Iterable[Any], ends: Iterable[str] = ENDS) -> dict[str, list[float]]:
    """The values and the ends of the intervals of estimates, one list each."""
    found = list(estimates)
    return {end: [getattr(estimate, end) for estimate in found] for end in ends}


def played(specification: Mapping[str, Any]) -> Iterator[tuple[str, Result]]:
    """Play every adversary named in ``trials`` against one family; yield it with its result.

    ``specification`` has ``family`` (as on the command line), ``rounds``, ``seed`` and ``trials``,
    a mapping from adversary to number of trials; ``experiments``, ``trace`` and ``keep_views``
    are optional.
    """
    family = parse_guarantee(specification["family"])
    rounds = specification["rounds"]
    for name, trials in specification["trials"].items():
        adversary = make(name, family, rounds)
        result = simulate(
            adversary, family, rounds, trials,
            seed=specification["seed"],
            experiments=specification.get("experiments", (0, 1)),
            trace=specification.get("trace", False),
            keep_views=specification.get("keep_views", 0),
        )  # fmt: skip
        yield name, result


def label_of(name: str) -> str:
    """An adversary's name as it stands in a legend."""
    return name.replace("-", " ")
