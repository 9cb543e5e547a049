"""Audits of whole interactions: a verdict on a claim for all rounds together."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from simulator.adversaries.loading import game_of
from simulator.analysis.result import Result
from simulator.auditing.audits.audit import audit_answers, prepared
from simulator.auditing.audits.defaults import CONFIDENCE
from simulator.auditing.audits.result import AuditResult
from simulator.auditing.audits.view_columns import ViewReader
from simulator.auditing.audits.view_sources import ChallengeNumbers, PlayedViews, played_views
from simulator.auditing.evidence.float_features import bit_features, digit_features
from simulator.auditing.evidence.training_draws import ReaderOf
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import instance
from simulator.foundations.wording import count_of
from simulator.runner.play import checked_jobs
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee

SAMPLES = 100_000
"""The default of ``samples``."""


def audit_composition(
    adversary: Callable[..., Any] | str,
    family: Guarantee | str,
    rounds: int,
    *,
    claimed: Guarantee | str,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    relation: Relation = ADD_REMOVE,
    filter: Filter | str | None = None,
    jobs: int | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
    bits: bool = True,
    seconds: float = math.inf,
    stop_early: bool = True,
) -> AuditResult:
    """Audit the guarantee that is claimed for the views of an interaction.

    Only answers are used, and no likelihoods, so mechanisms may be black boxes or interactive. Both
    experiments are played in blocks, and their views are audited as by
    :func:`simulator.auditing.audits.audit`.

    Parameters
    ----------
    adversary, family, rounds, relation, filter, jobs : as for ``simulate``.
    claimed : the guarantee of all rounds together.
    samples : at most so many trials of each experiment.
    confidence, delta, epsilon, bits, seconds, stop_early : as for ``audit``.

    Raises
    ------
    InvalidInput, Breach : as ``simulate``; also if every answer is an exception.

    >>> from simulator.auditing import audit_composition
    >>> result = audit_composition(
    ...     "fixed-worst-case", "pure:0.2", 3, claimed="pure:0.001", samples=2000, jobs=1
    ... )
    >>> result.verdict
    'violated'
    """
    checked_jobs(jobs)
    if isinstance(filter, str):
        filter = parse_filter(filter)
    game = game_of(adversary, family, rounds)
    specification = Specification(*game, rounds, samples, seed, relation=relation, filter=filter)
    source = PlayedViews(specification, jobs)
    search = prepared(
        source,
        claimed,
        samples=samples,
        confidence=confidence,
        delta=delta,
        epsilon=epsilon,
        seconds=seconds,
        reader_of=views_reader(source.challenges, bits),
        stop_early=stop_early,
    )
    return search.run(specification.seed)


def audit_views(
    result: Result,
    *,
    claimed: Guarantee | str,
    confidence: float = CONFIDENCE,
    delta: float | None = None,
    epsilon: float | None = None,
    bits: bool = True,
    stop_early: bool = True,
) -> AuditResult:
    """Audit the views that a simulation kept, which must be those of all trials.

    A simulation keeps them if a mechanism has no likelihood, or if ``keep_views`` is the number of
    trials. Parameters as for ``audit``. Raises InvalidInput.

    >>> from simulator import simulate
    >>> from simulator.auditing import audit_views
    >>> result = simulate(
    ...     "fixed-worst-case", "pure:0.2", 3, 200, keep_views=200, jobs=1, progress=False
    ... )
    >>> audit_views(result, claimed="pure:0.6").verdict
    'not violated'
    """
    s = instance("result", result, Result, "a result of a simulation").specification
    views = [[view for view in result.views if view.experiment == b] for b in (0, 1)]
    if any(len(kept) != s.trials for kept in views):
        raise InvalidInput(
            f"an audit needs the views of {count_of(s.trials, 'trial')} of each experiment, and "
            f"{len(views[0])} and {len(views[1])} were kept: simulate with keep_views={s.trials}"
        )
    if s.sampling is not None:
        raise InvalidInput("an audit needs views of plain play: simulate without sampling")
    challenges = ChallengeNumbers()
    tables = [played_views(kept, s, challenges) for kept in views]
    return audit_answers(
        *tables, claimed=claimed, confidence=confidence, delta=delta, epsilon=epsilon,
        reader_of=views_reader(challenges, bits), stop_early=stop_early,
    )  # fmt: skip


def views_reader(challenges: ChallengeNumbers, bits: bool) -> ReaderOf:
    """A function that makes readers of played views, with every bit of a float or digits alone."""
    features = bit_features if bits else digit_features
    return partial(ViewReader, challenges=challenges.words, features=features)
