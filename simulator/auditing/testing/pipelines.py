"""The assertion on a data pipeline: recorded on neighbouring databases, and made small."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from simulator.auditing.pipelines.elsewhere import quiet
from simulator.auditing.pipelines.neighbours import (
    NeighbourPair,
    Neighbours,
    check_relation,
    drawn_pairs,
    pairs,
    smallest,
)
from simulator.auditing.pipelines.recording import Patch, record
from simulator.auditing.pipelines.report import KEPT, PipelineReport
from simulator.auditing.testing.assertions import PrivacyViolation
from simulator.auditing.testing.failure import name_of, with_replay
from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee

SECONDS = 1.0
"""Of processor time, for which smaller databases are looked for, and for which the neighbours of a
relation are tried one by one, two of them in any case."""


def assert_pipeline(
    pipeline: Callable[..., Any],
    database: Any,
    *,
    claimed: Guarantee | str,
    neighbours: Neighbours | Iterable[Any] | Callable[[Any], Iterable[Any]] = "add-remove",
    patches: Sequence[Patch] = (),
    rounds: int | None = None,
    most: int = 16,
    strict: bool = False,
    seed: int = 0,
    replay: Sequence[str] = (),
) -> PipelineReport:
    """Record a pipeline on neighbouring databases; raise PrivacyViolation where one is violated.

    A violation is proven by two runs, or leaves a doubt below 1e-4 where noise that is not recorded
    could hide it; nothing is drawn from a false-alarm budget. From it
    the smallest databases and the fewest rounds that still show it are looked for, for a second,
    unless one pair takes longer.

    Parameters
    ----------
    pipeline : ``pipeline(database)`` or ``pipeline(database, rng)``, as for
        :func:`simulator.auditing.record`.
    database : a list, an array, a table, a Database, or a strategy of hypothesis that draws such.
    claimed : a guarantee of the whole pipeline, or its text such as ``"pure:1"``.
    neighbours : ``add-remove``, ``replace-one``, the neighbours themselves, or a function that
        makes them from the database.
    patches : see :func:`simulator.auditing.record`.
    rounds : passed to the pipeline as ``rounds=``, and made smaller in a failure.
    most : most neighbours that are tried; of a relation fewer, where that takes over a second.
    strict : fail as well where a difference is not proven to be a violation.
    seed : of the draws, >= 0.
    replay : commands that replay a failure, for its message.

    Returns the report of the first pair that is not kept, or of the last pair.

    Raises
    ------
    PrivacyViolation : the pipeline is violated; ``result`` is the report.
    InvalidInput : an invalid argument.

    >>> from simulator.auditing import assert_pipeline, mechanism
    >>> @mechanism("total", guarantee="pure:0.1", sensitivity=1)
    ... def noisy(total, rng):
    ...     return total + rng.laplace(scale=10.0)
    >>> def pipeline(values, rng):
    ...     return noisy(len(values), rng)
    >>> assert_pipeline(pipeline, [1, 1, 0], claimed="pure:0.1").verdict
    'kept'
    """
    __tracebackhide__ = True
    if rounds is not None and (isinstance(rounds, bool) or rounds < 1):
        raise InvalidInput(f"rounds must be a whole number of at least 1, not {rounds!r}")
    if most < 1:
        raise InvalidInput(f"most must be at least 1, not {most!r}")

    def pair_pipeline(pair: NeighbourPair) -> Callable[..., Any]:
        return functools.partial(pipeline, rounds=pair.rounds) if pair.rounds else pipeline

    took = 0.0

    def of(pair: NeighbourPair, seed: int = seed) -> PipelineReport:
        nonlocal took
        began = time.process_time()
        report = record(
            pair_pipeline(pair), pair.first, pair.second,
            claimed=claimed, patches=_names(patches), seed=seed, again=False,
        )  # fmt: skip
        took = time.process_time() - began
        return report

    def fails(report: PipelineReport) -> bool:
        return report.violated or (strict and report.verdict != KEPT)

    found = _searched(database, neighbours, rounds, most, (of, fails))
    if found is None:
        raise InvalidInput("there are no neighbours to try")
    report, pair = found
    drawn = hasattr(database, "example")
    if not report.violated and not drawn:
        report = record(
            pair_pipeline(pair), pair.first, pair.second,
            claimed=claimed, patches=_names(patches), seed=seed,
            neighbours=neighbours if isinstance(neighbours, str) else "",
        )  # fmt: skip
        pair = NeighbourPair(*report.databases, pair.rounds)
    if not fails(report):
        return report
    if isinstance(neighbours, str) and not drawn and took < SECONDS:
        kind, verdict = report.findings[0].kind, report.verdict

        def shows_it(each: NeighbourPair) -> bool:
            again = of(each, report.seed)
            return again.verdict == verdict and again.findings[0].kind == kind

        with quiet():
            least = smallest(pair, SECONDS, shows_it)
        if least is not pair:
            report, pair = of(least, report.seed), least
    title = f"{name_of(pipeline)} does not keep {report.claimed}"
    played = f"\n  rounds       {pair.rounds}" if pair.rounds is not None else ""
    raise PrivacyViolation(with_replay(f"{title}\n{report}{played}", replay), report)


def _searched(
    database: Any,
    neighbours: Any,
    rounds: int | None,
    most: int,
    tests: tuple[Callable[[NeighbourPair], PipelineReport], Callable[[PipelineReport], bool]],
) -> tuple[PipelineReport, NeighbourPair] | None:
    """The first report that fails, else the first that is not kept, else the last one."""
    of, fails = tests
    if hasattr(database, "example"):  # a strategy of hypothesis
        if not isinstance(neighbours, str):
            raise InvalidInput("a strategy of databases needs neighbours by the name of a relation")
        check_relation(neighbours)
        seen: list[tuple[PipelineReport, NeighbourPair]] = []

        def breaks(pair: NeighbourPair) -> bool:
            report = of(pair)
            seen.append((report, pair))
            return fails(report)

        least = drawn_pairs(database, neighbours, rounds, breaks)
        return (of(least), least) if least is not None else _worst(seen)
    reports: list[tuple[PipelineReport, NeighbourPair]] = []
    end = time.process_time() + (SECONDS if isinstance(neighbours, str) else math.inf)
    for pair in pairs(database, neighbours, most, rounds):
        if len(reports) > 1 and time.process_time() > end:
            break
        report = of(pair)
        reports.append((report, pair))
        if fails(report):
            return report, pair
    return _worst(reports)


def _worst(
    found: Sequence[tuple[PipelineReport, NeighbourPair]],
) -> tuple[PipelineReport, NeighbourPair] | None:
    undecided = [each for each in found if each[0].verdict != KEPT]
    return undecided[0] if undecided else (found[-1] if found else None)


def _names(patches: Sequence[Patch]) -> Sequence[Patch]:
    """The patches; a context manager could be entered once only."""
    if any(not isinstance(each, str) for each in patches):
        raise InvalidInput(
            "assert_pipeline records many runs: give the names of patches, and enter context "
            "managers of your own around it"
        )
    return patches
