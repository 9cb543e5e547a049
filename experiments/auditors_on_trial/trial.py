"""The trial of an auditor: how often its bound is above the truth, and how near it is otherwise."""

from __future__ import annotations

import math
import statistics
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.auditors_on_trial.games import AuditGame
from experiments.auditors_on_trial.subjects import AuditorLibrary, AuditorUnderTest
from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.estimation.intervals import clopper_pearson

LEVEL = 0.05
"""The nominal probability of a false bound."""
PLAYS = 200
LEAST_PLAYS = 10
CONFIDENCE = 0.999
"""Of each interval of a rate, so that about one in a thousand honest auditors is accused."""
PURE_DELTA = 1e-300
"""At which a pure epsilon is read off: the least delta of this package's accountant."""
ROUNDING = 1e-6
"""Relative tolerance of a bound: the precision to which auditors search for it."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One auditor in one game.

    Attributes
    ----------
    plays : the plays with a bound.
    false : of these, the bounds above the truth.
    failures : further plays without a bound: an exception, or NaN; ``why`` has the first.
    rate : of false bounds, with an interval.
    median : of the bounds; NaN without any.
    seconds : of one play.
    outside : why the game is outside what the auditor documents, or "".
    """

    library: str
    auditor: str
    game: str
    runs: str
    truth: float
    plays: int
    false: int
    failures: int
    why: str
    rate: Estimate | None
    median: float
    seconds: float
    level: float
    outside: str

    @property
    def power(self) -> float:
        """The median over the truth; NaN where the truth is 0."""
        return self.median / self.truth if self.truth > 0.0 else math.nan

    @property
    def too_often(self) -> bool:
        """Whether bounds are false more often than the level, with confidence."""
        return self.rate is not None and self.rate.lower > self.level

    @property
    def counts(self) -> bool:
        """Whether that is a defect: the game is within what is documented."""
        return self.too_often and not self.outside


def tried(
    library: str,
    auditor: AuditorUnderTest,
    game: AuditGame,
    *,
    plays: int = PLAYS,
    level: float = LEVEL,
    seed: int = 0,
) -> Cell:
    """Let an auditor judge ``plays`` plays of a game; every auditor gets the same scores."""
    bounds, false, why, failures = [], 0, "", 0
    delta = PURE_DELTA if auditor.pure else game.delta
    truth = game.truth_at(delta)
    start = time.perf_counter()
    for number in range(plays):
        scores = game.play(seed, number)
        try:
            bound = float(auditor.bound(scores, level, delta, number))
        except Exception as error:  # a library may raise anything
            failures += 1
            why = why or f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            continue
        if math.isnan(bound):
            failures += 1
            why = why or "returns NaN"
            continue
        bounds.append(bound)
        false += bound > truth.upper * (1.0 + ROUNDING)
    return Cell(
        library=library,
        auditor=auditor.name,
        game=game.name,
        runs=game.runs,
        truth=truth.value,
        plays=len(bounds),
        false=false,
        failures=failures,
        why=why,
        rate=clopper_pearson(false, len(bounds), CONFIDENCE) if bounds else None,
        median=statistics.median(bounds) if bounds else math.nan,
        seconds=(time.perf_counter() - start) / plays,
        level=level,
        outside=auditor.outside(game),
    )


def all_tried(
    library: AuditorLibrary,
    games: Sequence[AuditGame],
    *,
    plays: int = PLAYS,
    level: float = LEVEL,
    seed: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Cell]:
    """Every auditor of a library in every game that it is made for."""
    cells = []
    for auditor in library.auditors:
        for game in games:
            if game.runs not in auditor.runs or not auditor.takes(game):
                continue
            progress(f"{library.name}: {auditor.name}, {game.name}")
            share = max(LEAST_PLAYS, round(plays * auditor.share))
            cells.append(
                tried(library.name, auditor, game, plays=min(plays, share), level=level, seed=seed)
            )
    return cells


def program(
    auditor: AuditorUnderTest, game: AuditGame, level: float = LEVEL, plays: int | None = None
) -> str:
    """A program without this package that counts false bounds; "" where there is none."""
    if not auditor.code:
        return ""
    plays = plays or auditor.shown
    delta = PURE_DELTA if auditor.pure else game.delta
    code = f"{game.code}\n{auditor.code.format(level=level, delta=delta)}"
    body = textwrap.indent(code, "    ")
    return (
        f"import numpy as np\n{auditor.imports}\n\nfalse = 0\nfor seed in range({plays}):\n"
        f"    rng = np.random.default_rng(seed)\n{body}\n"
        f"    false += bound > {game.truth_at(delta).upper:.9g}\n"
        f'print(false, "of {plays} bounds are above the truth")\n'
    )
