"""The rows of a filter with a plan, and the row that a round of any other kind and size leads to.

Row n is the largest delta, from each loss, of the plan's last n rounds played as planned. A round
leads from row n to the largest row from which no adversary gains over row n. This search rounds to
nearest; what it finds is checked by :mod:`simulator.worst.filters.certificate_check`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from itertools import chain, groupby, repeat, takewhile

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import NotApplicable
from simulator.theory.lattice import common_step
from simulator.theory.laws.gaussian_curve import gaussian_mu
from simulator.theory.outward import above
from simulator.worst.filters.planned_lattice import Floats, Mean, PlanLattice, PlanRows, Step

Run = tuple[str, float, int]
"""The same, and how many rounds."""
Falls = tuple[tuple[int, int], ...]
"""From which row on a round leads so many rows down; 0 where it is refused."""

FINENESS = {"pure": 8, "laplace": 4, "range": 16, "gdp": 6}
"""PlanLattice points per size of the plan's smallest round, where more than one size needs them."""
FEWEST = 400
"""Least lattice points between a loss of 0 and the root of the Gaussian's budget, over this."""
ABOVE, BELOW = 3.0, 2.5
"""Range of the lattice above epsilon and below zero, in roots of the Gaussian's budget."""
MOST_VALUES = 3 * 10**7
MOST_ROWS = 20_000
"""As of the check."""
SLACK = 1e-11
"""Relative rounding of a row against another."""
COARSE = 0.01
"""Relative coarseness of long falls."""
RATIO = 1.04
"""Of successive sizes of rounds outside the plan."""
WHOLE = 8
"""Whole numbers of the plan's least size that have falls of their own."""
EARLY = 10.0
"""Rows from which on the room for other rounds' prices is shared out by the logarithm."""
NOTHING_FITS = "not even the first round of the plan keeps ({:g}, {:g})"
ROUNDING = 2.0**-50
"""Of sums of epsilons and of deltas, as of the check."""
INSIDE = 1.0 - 1e-9
"""Share of delta for the rows, which the check rounds up."""


@dataclass(frozen=True)
class Planned:
    """What the search finds: the rows' lattice, the plan's rounds, and the falls of each move."""

    _: KW_ONLY
    lattice: PlanLattice
    plan: tuple[Run, ...]
    moves: tuple[tuple[str, float, Falls], ...]

    @property
    def rows(self) -> int:
        """The number of the first row in force."""
        return sum(rounds for _, _, rounds in self.plan)


def repeated(plan: Sequence[tuple[str, float, int | None]]) -> Iterable[Step]:
    """The rounds of a plan, its last entry without end unless it is counted."""
    return chain.from_iterable(
        repeat((kind, size)) if rounds is None else repeat((kind, size), rounds)
        for kind, size, rounds in plan
    )


def lattice_of(promise: tuple[float, float], plan: Sequence[Step], pool: float) -> PlanLattice:
    """The lattice for a plan's kinds and sizes: whole steps where the sizes have a common divisor.

    Raises NotApplicable where it would be too large.
    """
    epsilon, delta = promise
    root = gaussian_mu(epsilon, delta)
    sizes = np.array([size for _, size in plan])
    common = common_step(np.unique(sizes))
    exact = all(kind == "pure" for kind, _ in plan) and common is not None
    finest = root / (FEWEST / 10)
    if pool > 0.0:
        finest = min(finest, math.sqrt(pool) / 3.0)
    if exact and common is not None and common >= sizes.min() / FINENESS["pure"]:
        step = common / math.ceil(common / finest)
    else:
        finest = min(finest, *(size / FINENESS[kind] for kind, size in plan))
        base = common if common is not None and common >= finest else float(sizes.min())
        step = base / math.ceil(base / finest * (1.0 - 1e-9))
    for size in sizes:  # no size is above its whole number of steps
        while (
            Fraction(step) * round(size / step)
            < Fraction(size)
            <= Fraction(step) * (round(size / step) + Fraction(1, 10**6))
        ):
            step = above(step)
    start = math.floor(Fraction(epsilon) / Fraction(step))
    found = PlanLattice(
        step=step,
        first=-math.ceil(BELOW * root / step) - 1,
        start=start,
        last=start + math.ceil(ABOVE * root / step) + 1,
    )
    if found.points > 20_000:
        if 0.0 < math.sqrt(pool) < sizes.min() / max(FINENESS.values()):
            raise NotApplicable("the pool is too small a share of the budget: give more, or none")
        raise NotApplicable(
            f"the plan's smallest round, {sizes.min():g}, is too small beside epsilon = "
            f"{epsilon:g}; plan larger ones, and a pool for small ones"
        )
    return found


def search(
    promise: tuple[float, float],
    largest: dict[str, float],
    plan: Sequence[tuple[str, float, int | None]],
    *,
    sizes: Sequence[float],
    pool: float,
    spare: float,
) -> Planned:
    """The longest beginning of a plan that keeps a promise, and the falls of other rounds.

    Parameters
    ----------
    promise : (epsilon, delta).
    largest : the largest size of each kind that is covered.
    plan : kinds, sizes and numbers of rounds; None repeats the last one.
    sizes : further sizes that have falls of their own.
    pool : squares that are kept for small rounds, its floor included.
    spare : the share of delta that the plan leaves at least for the prices of other rounds.

    Raises
    ------
    NotApplicable : not even the first round of the plan fits, or the rows would be too many.
    """
    useful = largest_useful(promise)
    plan = list(takewhile(lambda run: run[1] <= useful[run[0]], plan))
    if not plan:
        raise NotApplicable(NOTHING_FITS.format(*promise))
    largest = {kind: min(size, useful[kind]) for kind, size in largest.items()}
    lattice = lattice_of(promise, [(kind, size) for kind, size, _ in plan], pool)
    limit = promise[1] * INSIDE
    played, reached = played_rounds((promise[0], limit * (1.0 - spare)), lattice, plan, pool)
    listed = listed_sizes(lattice, largest, set(played), sizes)
    means = {step: Mean(step, lattice) for step in listed}
    pad = max(mean.reach for mean in means.values()) + 2
    rows = PlanRows(lattice, pad)
    require_few(len(played), rows)
    table = np.empty((len(played) + 1, len(rows.payoff)))
    table[0] = rows.payoff
    for n, step in enumerate(reversed(played), 1):
        table[n] = rows.extended(means[step](table[n - 1], pad))
    growth = np.log1p(np.arange(len(table)) / EARLY)
    growth *= math.log(limit / max(reached, limit / math.e)) / growth[-1]
    found, out = [], set()
    for kind, size in listed:
        if kind in out:
            continue
        planned = np.array([step == (kind, size) for step in reversed(played)])
        falls = falls_of(means[kind, size], table, pad, planned, growth)
        if not falls:  # nor does a larger size fit
            out.add(kind)
            continue
        found.append((kind, size, falls))
    runs = tuple((*step, len(list(same))) for step, same in groupby(played))
    return Planned(lattice=lattice, plan=runs, moves=tuple(found))


def largest_useful(promise: tuple[float, float]) -> dict[str, float]:
    """Sizes of each kind of which one round alone loses more than a delta of at most 0.1."""
    epsilon, delta = promise
    beyond = {"pure": 0.3, "laplace": 0.3, "range": 1.5}
    return {kind: epsilon + more for kind, more in beyond.items()} | {
        "gdp": gaussian_mu(epsilon, delta) * 1.01
    }


def played_rounds(
    promise: tuple[float, float],
    lattice: PlanLattice,
    plan: Sequence[tuple[str, float, int | None]],
    pool: float,
) -> tuple[list[Step], float]:
    """The rounds of the longest beginning of a plan that keeps the promise, and their delta.

    Raises NotApplicable where not even the first one does, or where there are too many.
    """
    means = {(kind, size): Mean((kind, size), lattice) for kind, size, _ in plan}
    wide = Mean(("gdp", math.sqrt(pool)), lattice) if pool else None
    pad = max(m.reach for m in (*means.values(), *([wide] if wide else []))) + 2
    rows = PlanRows(lattice, pad)
    played: list[Step] = []
    row, reached = rows.payoff, 0.0
    for step in repeated(plan):
        row = rows.extended(means[step](row, pad))
        last = rows.extended(wide(row, pad)) if wide else row
        if (now := rows.at_start(last, promise[0])) > promise[1]:
            break
        reached = now
        played.append(step)
        require_few(len(played), rows)
    if not played:
        raise NotApplicable(NOTHING_FITS.format(*promise))
    return played, reached


def require_few(rounds: int, rows: PlanRows) -> None:
    """Raise NotApplicable where rows for so many rounds would take too much memory."""
    most = min(MOST_VALUES // len(rows.payoff), MOST_ROWS)
    if rounds > most:
        raise NotApplicable(
            f"the plan has more than {most} rounds: give its last entry a number of rounds, or "
            "plan larger ones and a pool for small ones"
        )


def listed_sizes(
    lattice: PlanLattice,
    largest: dict[str, float],
    planned: set[Step],
    sizes: Sequence[float],
) -> list[Step]:
    """The kinds and sizes with falls of their own, in order: the plan's, and some of all others.

    Ranges in between are whole numbers of lattice steps.
    """
    found, least = set(planned), min(size for _, size in planned)
    for kind, most in largest.items():
        found |= {(kind, most), *((kind, size) for size in sizes if size <= most)}
        ladder = [least * RATIO**i for i in range(math.ceil(math.log(most / least, RATIO)))]
        for wanted in (*(least * k for k in range(1, WHOLE + 1)), *ladder):
            whole = kind == "range" or wanted < lattice.step
            size = whole_steps(wanted, lattice.step) if whole else wanted
            near = any(k == kind and abs(s - size) < 1e-9 * size for k, s in found)
            if size < most and not near:
                found.add((kind, size))
    return sorted(found)


def whole_steps(size: float, step: float) -> float:
    """The least whole number of lattice steps that holds a size, up to rounding, rounded down."""
    steps = max(math.ceil(size / step * (1.0 - 1e-9)), 1)
    exact = step * steps
    return math.nextafter(exact, 0.0) if Fraction(exact) > Fraction(step) * steps else exact


def falls_of(
    mean: Mean, table: Floats, pad: int, planned: NDArray[np.bool_], growth: Floats
) -> Falls:
    """How many rows a round falls from each row, in runs; empty where it never fits.

    Rows are compared after each is multiplied by e^growth, which takes what the plan leaves of
    delta. ``planned[n - 1]`` where the plan's own round is of this kind and size: it falls one row.
    """
    values, means = table[:, pad:-pad], mean.of_rows(table[:-1], pad)
    falls, after = [], -1
    for n in range(1, len(table)):

        def fits(row: int, n: int = n) -> bool:
            room = math.exp(growth[n] - growth[row]) * (1.0 + SLACK)
            return bool((means[row] <= values[n] * room).all())

        after = min(after + 1, n - 1)
        if planned[n - 1]:
            after = n - 1
        else:
            while after >= 0 and not fits(after):
                after -= 1
            while after + 1 < n and fits(after + 1):
                after += 1
        fall = n - after
        coarse = max(int(fall * COARSE), 1)
        falls.append(min(-(-fall // coarse) * coarse, n) if after >= 0 else 0)
    runs, row = [], 1
    for fall, same in groupby(falls):
        runs.append((row, fall))
        row += len(list(same))
    return tuple(runs) if any(falls) else ()
