"""Measure one row: the bound that an audit gives with a number of draws, and its verdict."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from experiments.suite.limits import limit
from experiments.suite.mechanisms import STANDARD, Input, StandardMechanism
from experiments.suite.published import Published, published
from simulator.auditing import audit
from simulator.auditing.audits import AuditResult

CONFIDENCE = 0.9
VERDICT = 0.999
"""Confidence of a verdict "violated", by the audit's evidence: a correct row is flagged with
probability 0.001 at most."""
SHARE = 50
"""The budget is this part of what DP-Sniper drew in all, over both inputs and all pairs."""


@dataclass(frozen=True)
class Task:
    """One row to measure, with so many draws in all."""

    name: str
    draws: int
    seed: int


@dataclass(frozen=True)
class Row:
    """One row of the report.

    Attributes
    ----------
    task, found, seconds : the task, the audit's result, and its time.
    pattern_epsilon : the exact supremum over the standard pairs.
    limit : the largest bound to expect with these draws; None where it is not known.
    """

    task: Task
    found: AuditResult
    pattern_epsilon: float
    limit: float | None
    seconds: float

    @property
    def entry(self) -> StandardMechanism:
        """The mechanism."""
        return STANDARD[self.task.name]

    @property
    def pair(self) -> tuple[Input, Input]:
        """The inputs that the draws were spent on."""
        return self.entry.pairs[self.found.pair_number]

    @property
    def draws(self) -> int:
        """In all: search, learning and certification, over both inputs and all pairs."""
        return 2 * self.found.samples

    @property
    def published(self) -> Published:
        """The published bounds."""
        return published(self.task.name, len(self.entry.pairs))

    @property
    def violated(self) -> bool:
        """Whether the evidence, an e-value, refutes the claim at VERDICT."""
        return self.found.evidence >= -math.log1p(-VERDICT)

    @property
    def right(self) -> bool:
        """Whether what is claimed and false was refuted, and what is true was not.

        A mechanism may keep its claim on the standard pairs alone; none here does.
        """
        return self.violated != self.entry.private

    @property
    def reached(self) -> bool:
        """Whether the bound is at least DP-Sniper's."""
        theirs = self.published.dp_sniper
        return theirs is None or self.found.epsilon >= theirs

    def as_dict(self) -> dict[str, Any]:
        """The row of suite.json; infinite numbers as text."""
        entry, found, theirs = self.entry, self.found, self.published
        return {
            "mechanism": entry.name,
            "source": entry.source,
            "claimed": entry.claimed.epsilon,
            "private": entry.private,
            "neighbours": entry.relation,
            "length": entry.length,
            "epsilon": plain(entry.epsilon),
            "reason": entry.reason,
            "epsilon_on_patterns": plain(self.pattern_epsilon),
            "lower_bound": found.epsilon,
            "confidence": found.confidence,
            "limit": self.limit,
            "verdict": "violated" if self.violated else "not violated",
            "verdict_confidence": VERDICT,
            "right": self.right,
            "pair": self.pair,
            "epsilon_on_pair": plain(entry.law.epsilon(*self.pair)),
            "audit": found.as_dict(),
            "draws": self.draws,
            "seconds": round(self.seconds, 1),
            "seed": self.task.seed,
            "dp_sniper_logistic": theirs.logistic,
            "dp_sniper_network": theirs.network,
            "dp_sniper_draws": theirs.draws,
            "ratio_of_draws": round(theirs.draws / self.draws, 1),
            "reached_dp_sniper": self.reached,
            "statdp": theirs.statdp,
        }


def plain(number: float) -> float | str:
    """A number that strict JSON can hold."""
    return number if math.isfinite(number) else "infinite"


def work(task: Task) -> Row:
    """Measure one row."""
    entry = STANDARD[task.name]
    started = time.perf_counter()
    found = audit(
        entry.sample,
        pairs=entry.pairs,
        claimed=entry.claimed,
        samples=task.draws // 2,
        confidence=CONFIDENCE,
        seed=task.seed,
        stop_early=False,
    )
    seconds = time.perf_counter() - started
    most = limit(entry, task.draws, CONFIDENCE, task.seed)
    line = f"{entry.name}: {found.epsilon:.4f} of {most or math.inf:.4f}, {seconds:.0f} s"
    print(line, file=sys.stderr, flush=True)
    return Row(task, found, entry.pattern_epsilon(), most, seconds)


def measure(tasks: Iterable[Task], workers: int) -> list[Row]:
    """Every row, in order; the longest are begun first."""
    listed = list(tasks)
    order = sorted(range(len(listed)), key=lambda i: -cost(listed[i]))
    with ProcessPoolExecutor(workers) as pool:
        found = dict(zip(order, pool.map(work, [listed[i] for i in order])))
    return [found[i] for i in range(len(listed))]


def budget(name: str) -> int:
    """A fiftieth of DP-Sniper's draws."""
    return published(name, len(STANDARD[name].pairs)).draws // SHARE


def cost(task: Task) -> float:
    """The relative time of a row."""
    entry = STANDARD[task.name]
    return task.draws * (len(entry.pairs[0][0]) if entry.answer == "scalar" else 20.0)
