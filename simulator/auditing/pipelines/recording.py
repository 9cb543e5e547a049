"""Record a pipeline on one database, and replay it on a neighbour with its answers frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from simulator.auditing.pipelines.elsewhere import (
    FEW,
    SEEDS,
    looks_elsewhere,
    other_seeds,
    violated_elsewhere,
)
from simulator.auditing.pipelines.paired_runs import PairedRuns
from simulator.auditing.pipelines.readings import explained, read
from simulator.auditing.pipelines.report import (
    KEPT,
    PipelineFinding,
    PipelineReport,
)
from simulator.auditing.pipelines.runs import instrumented
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import probability_below_one
from simulator.foundations.wording import count_of
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

Patch = str | AbstractContextManager[Any]


def record(
    pipeline: Callable[..., Any],
    database_0: Any,
    database_1: Any,
    *,
    claimed: Guarantee | str | None = None,
    patches: Iterable[Patch] = (),
    delta: float | None = None,
    public_coins: bool = False,
    seed: int = 0,
    again: bool = True,
) -> PipelineReport:
    """Run a pipeline on two neighbouring databases, the second time with its answers frozen.

    Whatever the pipeline computes from answers alone is then the same. What differs is computed
    from the data without a mechanism.

    Parameters
    ----------
    pipeline : ``pipeline(database)`` or ``pipeline(database, rng)``. It may draw noise from
        ``rng``, from ``numpy.random``, from the module ``random``, or call functions decorated by
        :func:`mechanism`.
    database_0, database_1 : neighbouring databases, of any type; each run gets a copy.
    claimed : a guarantee of the whole pipeline, or its text such as ``"pure:1"``.
    patches : libraries whose mechanisms are recorded, ``"diffprivlib"`` and ``"opendp"``, or
        context managers of your own.
    delta : at which the composed epsilon is reported, by default the claim's, or 1e-6.
    public_coins : whether draws that are no mechanism's noise are published, so that their secrecy
        cannot lower a cost.
    seed : of every draw, >= 0.
    again : whether to try a pair that is kept with up to a hundred other seeds, where the pipeline
        is seen to look at the data outside of its mechanisms; for some seconds at most.

    Returns a report: the calls, the findings, the loss of the run and the composed epsilon.

    Raises
    ------
    InvalidInput : an invalid claim, patch, delta or seed.
    """
    if not callable(pipeline):
        raise InvalidInput(f"a pipeline must be callable, not {pipeline!r:.80}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidInput(f"seed must be a whole number of at least 0, not {seed!r}")
    claim = parse_guarantee(claimed) if isinstance(claimed, str) else claimed
    if claim is not None and not isinstance(claim, Guarantee):
        raise InvalidInput(f"claimed must be a guarantee, as PureDP(0.1), not {claimed!r}")
    if delta is not None:
        delta = probability_below_one("delta", delta)
    with instrumented(patches):
        trial = PairedRuns(pipeline, (database_0, database_1), claim, public_coins, seed)
        report, trial = read(trial, delta)
        return _tried_again(report, trial, delta) if again else report


def record_near(
    pipeline: Callable[..., Any],
    database: Any,
    neighbour: Any,
    relation: str,
    *,
    claimed: Guarantee | str | None = None,
    patches: Iterable[Patch] = (),
    seed: int = 0,
) -> PipelineReport | None:
    """The report of two neighbours near a database that are violated; None where none is found.

    An undecided report where the pipeline is seen to read data outside of its mechanisms, and no
    two neighbours are found that differ. Parameters are those of :func:`record`.
    """
    claim = parse_guarantee(claimed) if isinstance(claimed, str) else claimed
    with instrumented(patches):
        trial = PairedRuns(pipeline, (database, neighbour), claim, False, seed)
        report, trial = read(trial, None)
        if report.verdict != KEPT:
            return None
        found, tried, seen = violated_elsewhere(trial, relation)
        return found or (_undecided(report, tried) if seen else None)


def _tried_again(report: PipelineReport, trial: PairedRuns, delta: float | None) -> PipelineReport:
    """The report of a pair that is kept, or of another seed that violates it.

    Each seed costs two runs, and a difference is a proof whatever the seed is.
    """
    if report.verdict != KEPT or not trial.first.tape.events:
        return report
    looks = looks_elsewhere(trial)
    if looks is False:
        return report
    tried = 1
    for other in other_seeds(trial, SEEDS if looks else FEW):
        tried += 1
        if other.leaks():
            found = explained(replace(other, strict=frozenset(), merged=False), delta)
            if found.violated:
                return found
    one, other = trial.databases
    if looks and abs(len(one) - len(other)) == 1:  # whole records are private
        return _undecided(report, tried)
    note = f"no difference in {count_of(tried, 'run')} with other noise"
    return replace(report, notes=(*report.notes, note))


def _undecided(report: PipelineReport, tried: int) -> PipelineReport:
    """The report with what speaks against it, though nothing is proven."""
    text = (
        "with the same answers it does otherwise on other records, so it reads the data outside of "
        f"its mechanisms; no difference between neighbours in {count_of(tried, 'run')}"
    )
    return replace(report, findings=(*report.findings, PipelineFinding("output", False, text)))
