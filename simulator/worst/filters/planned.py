"""A filter made for a plan: no other sound filter admits more rounds of it, and none is fixed."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.files import write_text
from simulator.foundations.validation import nonnegative, positive, probability_below_one
from simulator.theory.filters.interface import (
    Accounted,
    Filter,
    OverMenu,
    Price,
    RunningFilter,
    State,
)
from simulator.theory.filters.rules import AS_STORED, UP
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.worst.filters import planned_check
from simulator.worst.filters.certificate_check import MOST, digest_of
from simulator.worst.filters.certificates import small_cost
from simulator.worst.filters.planned_lattice import PlanLattice
from simulator.worst.filters.planned_rows import Falls, Run

COSTS_ONLY = "rows-only"
"""Written after the numbers of a filter without basic composition."""
COVERS = (
    "Any adaptive choice of rounds of the listed kinds, of sizes from 0 to the largest: pure, "
    "eps of any eps-DP mechanism; laplace, shift over scale of Laplace noise on one number; range, "
    "eps of an eps-bounded-range mechanism; gaussian, mu of a mu-GDP one. A round moves from row n "
    "to row n - fall, its fall the last pair of its move with a row of at most n; fall 0 refuses, "
    "and its move is the least of its kind whose size is at least its own. A round smaller than "
    "all of the plan may instead take squares from the pool: a pure one with r = e^2/floor <= 1 "
    "and e <= 1/2 takes e^2 g (1 + g e^2/2), g = (r + sqrt(r^2 + 4))/2, a Gaussian one mu^2. While "
    "the eps of all rounds add up to at most epsilon, a refused round may run, and from then on "
    "only that sum counts. The delta_i of rounds add up to at most rounds_delta. Both directions."
)


@dataclass(frozen=True)
class PlannedFilter(Filter):
    """A filter that admits a plan as far as any sound filter can, and prices every other round.

    Row n is what an adversary can reach if the plan's last n rounds are left. A round that follows
    the plan falls one row. Any other falls to the largest row from which it gains nothing, whatever
    the answers were: so the adversary may leave the plan at any time, and its order counts. Made by
    :func:`~simulator.worst.filters.certified.certified_filter`. Other numbers are checked when the
    promise is first used as a bound, and refused there if they prove nothing.

    Attributes
    ----------
    epsilon, delta, rounds_delta : as of :class:`Filter`.
    plan : (kind, size, rounds) of each stretch of the plan that is admitted, in its order.
    moves : (kind, size, falls) of the listed rounds. ``falls`` are pairs (row, fall): from that row
        on a round falls so many rows; 0 where it is refused.
    pool, floor : squares for rounds smaller than all of the plan, and those that are kept below.
    lattice : of the proof.
    basic : whether basic composition admits rounds, too.
    """

    _: KW_ONLY
    plan: tuple[Run, ...]
    moves: tuple[tuple[str, float, Falls], ...]
    lattice: PlanLattice
    pool: float = 0.0
    floor: float = 0.0
    basic: bool = True
    name = "planned"
    source = "a recursion with a certificate, see simulator.worst.filters.planned_check"
    prices_vary = False

    def _check(self) -> None:
        super()._check()
        numbers = [n for *_, n in self.plan] + [
            n for *_, f in self.moves for pair in f for n in pair
        ]
        if not self.plan or not self.moves or any(type(n) is not int for n in numbers):
            raise InvalidInput("the planned filter needs a plan and moves, of whole numbers")
        if not 0 < self.rows <= MOST:
            raise InvalidInput(f"the planned filter has from 1 to {MOST} rows, not {self.rows}")
        for name in ("pool", "floor"):
            nonnegative(f"a filter's {name}", getattr(self, name))
        for kind, size, falls in self.moves:
            positive("a move's size", size)
            if kind not in planned_check.KINDS:
                raise InvalidInput(f"a move is of {', '.join(planned_check.KINDS)}, not {kind!r}")
            rows = [row for row, _ in falls]
            if rows != sorted(set(rows)) or any(not 0 <= f <= max(r, 0) for r, f in falls):
                raise InvalidInput("a move's falls must be in order, and end at row 0 or above")

    def __str__(self) -> str:
        found = self.lattice
        numbers = (self.epsilon, self.delta, self.rounds_delta, self.pool, self.floor)
        parts = [
            ",".join(map(repr, numbers)),
            ",".join(map(repr, (found.step, found.first, found.start, found.last))),
            ";".join(f"{kind},{size!r},{rounds}" for kind, size, rounds in self.plan),
            ";".join(
                ",".join(map(str, (kind, repr(size), *(x for pair in falls for x in pair))))
                for kind, size, falls in self.moves
            ),
        ]
        return f"{self.name}:{'/'.join(parts)}" + ("" if self.basic else f"/{COSTS_ONLY}")

    @property
    def rows(self) -> int:
        """The number of the first row: the rounds of the plan."""
        return sum(rounds for _, _, rounds in self.plan)

    @property
    def largest(self) -> dict[str, float]:
        """The largest size of each kind that is covered."""
        return {kind: size for kind, size, _ in sorted(self.moves)}

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`."""
        return (*_start(self), _table_of(self))

    @staticmethod
    def step(state: State, *price: Any) -> tuple[bool, State]:
        """State: row, pool spent, sum of epsilon and of delta with their errors, and the table."""
        *numbers, table = state
        admitted, after = table.rule(price)(tuple(numbers), 0.0, 0.0)
        return (True, (*after, table)) if admitted else (False, state)

    def price(self, guarantee: Guarantee) -> Price:
        """The move, the squares of the pool (-1 if none), epsilon and delta of a round."""
        core = guarantee.core
        if core.pure_epsilon == 0.0:
            return (_FREE, -1.0, 0.0, guarantee.leak)
        sizes = {"pure": core.pure_epsilon, "range": core.range_width, "gaussian": core.gdp_mu}
        return self._price(sizes, core.pure_epsilon, guarantee.leak, str(guarantee))

    def price_of(self, mechanism: Accounted, relation: Any) -> Price:
        """The price of its Laplace law where the filter has moves of them, else of its guarantee.

        See :meth:`Filter.price_of`.
        """
        law = mechanism.worst_law(relation)
        if isinstance(law, LaplaceLaw) and "laplace" in self.largest:
            return self.price_of_size("laplace", law.epsilon)
        return super().price_of(mechanism, relation)

    def price_of_size(self, kind: str, size: float, delta: float = 0.0) -> Price:
        """The price of a round of a listed kind, with a delta of its own."""
        size = nonnegative("a round's size", size)
        if kind == "laplace":
            sizes = {"laplace": size, "pure": size}
            return (
                self._price(sizes, size, delta, "Laplace noise") if size else (_FREE, -1, 0, delta)
            )
        families: dict[str, Callable[[float], Guarantee]] = {
            "pure": PureDP,
            "range": BoundedRange,
            "gaussian": GaussianDP,
        }
        if kind not in families:
            raise InvalidInput(f"a round is of {', '.join(planned_check.KINDS)}, not {kind!r}")
        return (*self.price(families[kind](size))[:3], delta)

    def _price(
        self, sizes: dict[str, float], epsilon: float, delta: float, round_: str
    ) -> tuple[int, float, float, float]:
        listed = {
            kind: size
            for kind, size in sizes.items()
            if kind in self.largest and math.isfinite(size)
        }
        if not listed:
            kinds = ", ".join(self.largest)
            raise NotApplicable(f"the planned filter of {kinds} cannot account for {round_}")
        squares = []
        if epsilon * epsilon <= min(self.floor, 0.25):
            squares.append(small_cost(epsilon, self.floor) * (1.0 + 2.0**-40))
        if math.isfinite(sizes.get("gaussian", math.inf)):
            squares.append(sizes["gaussian"] ** 2)
        small = min(epsilon, *sizes.values()) < min(size for _, size, _ in self.plan)
        square = min(squares, default=-1.0) if small else -1.0
        found = [self._move(kind, size) for kind, size in listed.items()]
        top = _table_of(self).next[:, -1]
        return max(found, key=lambda move: top[move]), square, epsilon, delta

    def _move(self, kind: str, size: float) -> int:
        """The first move of a kind whose size is at least ``size``."""
        fit = (i for i, (k, s, _) in enumerate(self.moves) if k == kind and s >= size)
        return next(fit, _NONE)

    def over_menu(self, prices: Sequence[Price]) -> OverMenu:
        """See :meth:`Filter.over_menu`. A round's number is its place in the list."""
        step = _table_of(self).rule(*map(tuple, prices))
        return OverMenu(step, _start(self), [(float(i), 0.0) for i in range(len(prices))])

    def with_one_sum(self, epsilon: float) -> Filter:
        """See :meth:`Filter.with_one_sum`. A play beyond the rows pays nothing at epsilon."""
        return replace(self, basic=False) if epsilon >= self.epsilon else self

    def bounds_delta(self, epsilon: float) -> float:
        """See :meth:`Filter.bounds_delta`. Checks the certificate when it is first used."""
        self.verify()
        return super().bounds_delta(epsilon)

    def bounds_epsilon(self, delta: float) -> float:
        """See :meth:`Filter.bounds_epsilon`. Checks the certificate when it is first used."""
        self.verify()
        return super().bounds_epsilon(delta)

    def certificate(self) -> dict[str, Any]:
        """The certificate as plain values: what the file has."""
        found = self.lattice
        made = {
            "dpcompose": planned_check.NAME,
            "version": 1,
            "covers": COVERS,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rounds_delta": self.rounds_delta,
            "rows": self.rows,
            "plan": [list(run) for run in self.plan],
            "moves": [
                {"kind": kind, "size": size, "falls": [list(pair) for pair in falls]}
                for kind, size, falls in self.moves
            ],
            "pool": {"squares": self.pool, "floor": self.floor},
            "grid": {
                "step": found.step,
                "first": found.first,
                "start": found.start,
                "last": found.last,
            },
            "made_by": {"python": platform.python_version(), "numpy": np.__version__},
        }
        return made | {"digest": digest_of(made)}

    def verify(self) -> float:
        """The delta that the certificate proves. Raises NotApplicable where it proves nothing."""
        return _verified(replace(self, basic=True))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate as JSON. Raises InvalidInput where the file cannot be written."""
        write_text(path, json.dumps(self.certificate()) + "\n")

    def fresh(self) -> RunningPlanned:
        """A filter with nothing spent."""
        return RunningPlanned(self)


class RunningPlanned(RunningFilter):
    """A planned filter in use, for any accountant."""

    spec: PlannedFilter

    def admit(self, size: float, delta: float = 0.0, kind: str | None = None) -> bool:
        """Account for a round of a listed kind, by default the plan's first, if it is admitted.

        Returns whether it may run. A refused round costs nothing.
        """
        delta = probability_below_one("a round's delta", delta)
        price = self.spec.price_of_size(kind or self.spec.plan[0][0], size, delta)
        admitted, self.state = self.spec.step(self.state, *price)
        return admitted

    @property
    def rows_left(self) -> int:
        """How many rounds of the plan are left; -1 where only basic composition is."""
        return int(self.state[0])


_FREE, _NONE = -2, -1
"""Moves of rounds that cost nothing, and that no move covers: the last two lines of a table."""


def _start(filter_: PlannedFilter) -> tuple[float, ...]:
    return (float(filter_.rows), 0.0, 0.0, 0.0, 0.0, 0.0)


class _Table:
    """The row that follows each row, of each move, and the rules for listed prices."""

    def __init__(self, filter_: PlannedFilter) -> None:
        self.filter, self.rules = filter_, {}  # type: ignore[var-annotated]

    @cached_property
    def next(self) -> NDArray[np.int64]:
        """A line for each move; then that of free rounds, and that of refused ones."""
        rows = self.filter.rows
        found = np.full((len(self.filter.moves) + 2, rows + 1), -1, dtype=np.int64)
        for line, (_, _, falls) in zip(found, self.filter.moves):
            for row, fall in falls:
                line[row:] = np.arange(row, rows + 1) - fall if fall else -1
        found[_FREE] = np.arange(rows + 1)
        return found

    def rule(self, *prices: tuple[Any, ...]) -> Callable[..., tuple[bool, Any]]:
        """The step of the filter for rounds at these prices, by their place."""
        if prices not in self.rules:
            self.rules[prices] = _rule(self, prices)
        return self.rules[prices]  # type: ignore[no-any-return]


@lru_cache(maxsize=16)
def _table_of(filter_: PlannedFilter) -> _Table:
    return _Table(filter_)


def _rule(table: _Table, prices: Sequence[tuple[Any, ...]]) -> Callable[..., tuple[bool, Any]]:
    own = table.filter
    moves, squares, epsilons, deltas = (np.array(column) for column in zip(*prices))
    following = table.next[moves]
    pool, leak_budget = own.pool, own.rounds_delta
    basic = own.epsilon if own.basic else 0.0
    epsilons = np.minimum(epsilons, 2.0 * basic + 1.0) if own.basic else 0.0 * deltas
    as_stored, up = AS_STORED, UP

    def step(state, place, _):  # type: ignore[no-untyped-def]
        row, pooled, spent, spent_error, leaked, leaked_error = state
        at, now = int(place), int(row)
        epsilon, delta, square = float(epsilons[at]), float(deltas[at]), float(squares[at])
        total, leaks = spent + epsilon, leaked + delta
        spent_error += (spent - total) + epsilon if spent >= epsilon else (epsilon - total) + spent
        leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
        if not leaks + leaked_error <= leak_budget * as_stored:
            return False, state
        after = -1
        if now >= 0:
            if square >= 0.0 and (pooled + square) * up <= pool:
                pooled = (pooled + square) * up
                after = now
            else:
                after = following[at, now]
        if after < 0 and not 0.0 < total + spent_error <= basic * as_stored:
            return False, state
        return True, (float(after), pooled, total, spent_error, leaks, leaked_error)

    return step


@lru_cache(maxsize=64)
def _verified(filter_: PlannedFilter) -> float:
    try:
        return planned_check.check(json.dumps(filter_.certificate()))
    except planned_check.Refused as error:
        raise NotApplicable(f"the certificate of the filter proves nothing: {error}") from None
