"""Record a pipeline on one database, and replay it on a neighbour with its answers frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from simulator.auditing.pipelines.elsewhere import quick_pair, search
from simulator.auditing.pipelines.neighbours import (
    check_relation,
    is_of_records,
    relation_of,
)
from simulator.auditing.pipelines.paired_runs import PairedRuns
from simulator.auditing.pipelines.readings import read
from simulator.auditing.pipelines.report import PipelineFinding, PipelineReport
from simulator.auditing.pipelines.runs import instrumented
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import probability_below_one
from simulator.foundations.wording import count_of
from simulator.theory.events.units import ADD_REMOVE
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
    neighbours: str | None = None,
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
    again : whether to look for a difference elsewhere where this pair shows none: with other seeds,
        and on other databases of the same records; for some seconds at most.
    neighbours : the relation of these other databases, ``"add-remove"`` or ``"replace-one"``; by
        default that of the two databases, if it can be seen. ``""`` for a relation of another kind:
        then no other databases are called neighbours.

    Returns a report: the calls, the findings, the loss of the run and the composed epsilon.

    Raises
    ------
    InvalidInput : an invalid claim, patch, delta or seed.

    >>> from simulator.auditing import mechanism, record
    >>> @mechanism("total", guarantee="pure:0.1", sensitivity=1)
    ... def noisy(total, rng):
    ...     return total + rng.laplace(scale=10.0)
    >>> def twice(values, rng):
    ...     return noisy(len(values), rng) + noisy(sum(values), rng)
    >>> record(twice, [1, 1, 0], [1, 1], claimed="pure:0.2").verdict
    'kept'
    """
    if neighbours:
        check_relation(neighbours)
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
        return _tried_again(report, trial, neighbours) if again else report


def _tried_again(
    report: PipelineReport, trial: PairedRuns, neighbours: str | None
) -> PipelineReport:
    """The report of a pair, or of one with other noise or near it that is violated."""
    if report.violated or not all(map(is_of_records, trial.databases)):
        return report
    seen = relation_of(*trial.databases)
    relation = seen if neighbours is None else neighbours
    databases = quick_pair(trial) if relation == ADD_REMOVE else trial.databases
    found = search(replace(trial, databases=databases), relation)
    if found.report is not None:
        return found.report
    count = count_of(found.runs, "run")
    text = ""
    if found.looks and (relation or seen == ADD_REMOVE):  # whole records are private
        text = (
            "with the same answers it does otherwise on other records, so it reads the data "
            f"outside of its mechanisms; no difference between neighbours in {count}"
        )
    elif found.late and (relation or seen == ADD_REMOVE):
        text = f"it reads {found.late}, after its last call; no difference in {count}"
    if text:
        finding = PipelineFinding("output", False, text)
        return replace(report, findings=(*report.findings, finding))
    return replace(report, notes=(*report.notes, f"no difference in {count} with other noise"))
