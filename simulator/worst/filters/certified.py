"""A filter with a certificate: rows of a plan, and moves from row to row for every other round."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import cached_property, lru_cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.files import write_text
from simulator.foundations.strangers import read_text
from simulator.foundations.validation import nonnegative, numeral, probability_below_one
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
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.worst.filters import certificate_format
from simulator.worst.filters.certificate_check import Proved, check
from simulator.worst.filters.certificate_format import PARAMETERS, SAMPLED, Certificate
from simulator.worst.filters.planned_lattice import PlanLattice
from simulator.worst.filters.planned_rows import Falls, Run

MOST_BYTES = 1 << 24
"""Of a certificate's file."""
FAMILIES: dict[str, Callable[..., Guarantee]] = {
    "pure": PureDP, "range": BoundedRange, "gdp": GaussianDP, SAMPLED: SubsampledGaussianDP,
}  # fmt: skip
ROWS_ONLY = ",rows-only"
"""Written after the certificate of a filter without basic composition."""
NAMES = f"{', '.join(PARAMETERS)} or {SAMPLED}:SIGMA"


@dataclass(frozen=True)
class CertifiedFilter(Filter):
    """A filter that admits a plan as far as any sound filter can, and prices every other round.

    Row n is what an adversary can reach if the plan's last n rounds are left. A round that follows
    the plan falls one row. Any other falls to the largest row from which it gains nothing, whatever
    the answers were: so the adversary may leave the plan at any time, and its order counts. Files
    and texts are verified when they are read, other numbers when the promise is first used.

    Attributes
    ----------
    epsilon, delta, rounds_delta : as of :class:`Filter`.
    plan : (kind, size, rounds) of each stretch of the plan that is admitted, in its order.
    moves : (kind, size, falls) of the listed rounds. ``falls`` are pairs (row, fall): from that row
        on a round falls so many rows; 0 where it is refused. Kinds: see ``certificate_check``.
    pool, floor : squares for rounds smaller than all of the plan, and those that are kept below.
    lattice : of the proof.
    basic : whether basic composition admits rounds, too.

    >>> from simulator.worst import certified_filter
    >>> certified_filter("pure:0.5", 1.0, 0.01, plan="pure:0.25").plan
    (('pure', 0.25, 4),)
    """

    _: KW_ONLY
    plan: tuple[Run, ...]
    moves: tuple[tuple[str, float, Falls], ...]
    lattice: PlanLattice
    pool: float = 0.0
    floor: float = 0.0
    basic: bool = True
    name = "certified"
    source = "a recursion with a certificate, see simulator.worst.filters.certificate_check"
    prices_vary = False

    def _check(self) -> None:
        super()._check()
        try:
            certificate_format.read(json.dumps(self.certificate()))
        except (certificate_format.Refused, TypeError, ValueError) as error:
            raise InvalidInput(f"the numbers of a certified filter: {error}") from None

    def __str__(self) -> str:
        text = json.dumps(self.certificate(), separators=(",", ":"))
        return f"{self.name}:{text}" + ("" if self.basic else ROWS_ONLY)

    @property
    def rows(self) -> int:
        """The number of the first row: the rounds of the plan."""
        return sum(rounds for *_, rounds in self.plan)

    @property
    def largest(self) -> dict[str, float]:
        """The largest size of each kind that is covered."""
        return {kind: size for kind, size, _ in sorted(self.moves)}

    @property
    def initial(self) -> State:
        """The first row with nothing spent, and the table."""
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
        sizes = {"pure": core.pure_epsilon, "range": core.range_width, "gdp": core.gdp_mu}
        if isinstance(core, SubsampledGaussianDP):
            sizes |= self._sampled(core.sigma, core.rate)
        elif isinstance(core, GaussianDP):
            sizes |= self._sampled(1.0 / core.mu, 1.0)
        return self._price(sizes, core.pure_epsilon, guarantee.leak, str(guarantee))

    def _sampled(self, sigma: float, rate: float) -> dict[str, float]:
        """The rate of a round by each listed kind whose sigma is not above its own."""
        return {k: rate for k in self.largest if SAMPLED in k and sigma_of(k) <= sigma}

    def price_of(self, mechanism: Accounted, relation: Any) -> Price:
        """The price of its Laplace law where the filter lists such moves, else of its guarantee."""
        law = mechanism.worst_law(relation)
        if isinstance(law, LaplaceLaw) and "laplace" in self.largest:
            return self.price_of_size("laplace", law.epsilon)
        return super().price_of(mechanism, relation)

    def price_of_size(self, kind: str, size: float, delta: float = 0.0) -> Price:
        """The price of a round of a listed kind, with a delta of its own."""
        size = nonnegative("a round's size", size)
        name, _, sigma = kind.partition(":")
        if kind != "laplace" and name not in FAMILIES:
            raise InvalidInput(f"a round is of {NAMES}, not {kind!r}")
        if kind != "laplace" or size == 0.0:
            numbers = [numeral(sigma), size] if name == SAMPLED else [size]
            return (*self.price(FAMILIES.get(name, PureDP)(*numbers))[:3], delta)
        return self._price({"laplace": size, "pure": size}, size, delta, "Laplace noise")

    def _price(
        self, sizes: dict[str, float], epsilon: float, delta: float, round_: str
    ) -> tuple[int, float, float, float]:
        largest = self.largest
        listed = {k: size for k, size in sizes.items() if k in largest and math.isfinite(size)}
        if not listed:
            kinds = ", ".join(largest)
            raise NotApplicable(f"the certified filter of {kinds} cannot account for {round_}")
        squares = []
        if epsilon * epsilon <= min(self.floor, 0.25):
            squares.append(small_cost(epsilon, self.floor) * (1.0 + 2.0**-40))
        if math.isfinite(sizes.get("gdp", math.inf)):
            squares.append(sizes["gdp"] ** 2)
        small = min(epsilon, *sizes.values()) < min(size for _, size, _ in self.plan)
        square = min(squares, default=-1.0) if small and self.pool else -1.0
        found = [self._move(kind, size) for kind, size in listed.items()]
        top = _table_of(self).next[:, -1]
        return max(found, key=lambda move: top[move]), square, epsilon, delta

    def _move(self, kind: str, size: float) -> int:
        """The first move of a kind whose size is at least ``size``."""
        fit = (i for i, (k, s, _) in enumerate(self.moves) if k == kind and s >= size)
        return next(fit, _NONE)

    def over_menu(self, prices: Sequence[Price]) -> OverMenu:
        """The filter for these prices alone; a round's number is its place in the list."""
        step = _table_of(self).rule(*map(tuple, prices))
        return OverMenu(step, _start(self), [(float(i), 0.0) for i in range(len(prices))])

    def with_one_sum(self, epsilon: float) -> Filter:
        """Without the sum of epsilons: a play beyond the rows has no delta at epsilon."""
        return replace(self, basic=False) if epsilon >= self.epsilon else self

    def bounds_delta(self, epsilon: float) -> float:
        """The promised bound on delta(``epsilon``); the first use checks the certificate."""
        self.verify()
        return super().bounds_delta(epsilon)

    def bounds_epsilon(self, delta: float) -> float:
        """The promised bound on epsilon(``delta``); the first use checks the certificate."""
        self.verify()
        return super().bounds_epsilon(delta)

    def certificate(self) -> dict[str, Any]:
        """The certificate as plain values: what the file has."""
        made = {
            "dpcompose": certificate_format.NAME,
            "version": 1,
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
            "grid": asdict(self.lattice),
        }
        return made | {"digest": certificate_format.digest_of(made)}

    def verify(self) -> Proved:
        """What the certificate proves. Raises NotApplicable where it proves nothing."""
        try:
            return proof(replace(self, basic=True))
        except certificate_format.Refused as error:
            raise NotApplicable(f"the certificate of the filter proves nothing: {error}") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate as JSON. Raises InvalidInput where the file cannot be written."""
        write_text(path, json.dumps(self.certificate()) + "\n")

    @classmethod
    def of(cls, found: Certificate, *, basic: bool = True) -> CertifiedFilter:
        """The filter of a certificate, which is checked when the promise is used."""
        return cls(
            found.epsilon,
            found.delta,
            found.rounds_delta,
            plan=found.plan,
            moves=tuple((move.kind, move.size, move.falls) for move in found.moves),
            lattice=PlanLattice(found.step, found.first, found.start, found.last),
            pool=found.squares,
            floor=found.floor,
            basic=basic,
        )

    def fresh(self) -> RunningCertified:
        """A filter with nothing spent."""
        return RunningCertified(self)


class RunningCertified(RunningFilter):
    """A certified filter in use, for any accountant."""

    spec: CertifiedFilter

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


def _start(filter_: CertifiedFilter) -> tuple[float, ...]:
    return (float(filter_.rows), 0.0, 0.0, 0.0, 0.0, 0.0)


class _Table:
    """The row that follows each row, of each move, and the rules for listed prices."""

    def __init__(self, filter_: CertifiedFilter) -> None:
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
        return self.rules[prices]


@lru_cache(maxsize=16)
def _table_of(filter_: CertifiedFilter) -> _Table:
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
def proof(filter_: CertifiedFilter) -> Proved:
    """What the filter's certificate proves. Raises Refused where it proves nothing."""
    return check(json.dumps(filter_.certificate()))


def small_cost(epsilon: float, floor: float) -> float:
    """The squares of the pool for a round of epsilon, by lemma 6 of the check."""
    square = epsilon * epsilon
    ratio = square / floor
    gain = (ratio + math.sqrt(ratio * ratio + 4.0)) / 2.0
    return square * gain * (1.0 + gain * square / 2.0)


def sigma_of(kind: str) -> float:
    """The sigma of a kind of sampled Gaussians."""
    return float(kind.partition(":")[2])


def read_certificate(path: str | PathLike[str]) -> str:
    """The text of a certificate file. Raises InvalidInput where it cannot be read."""
    return read_text(path, MOST_BYTES)


def read_certified(path: str | PathLike[str]) -> CertifiedFilter:
    """The filter of a certificate file, which is verified.

    Raises InvalidInput for a file that is no certificate, that was changed, or proves nothing.

    >>> import tempfile
    >>> from simulator.worst import certified_filter, read_certified
    >>> found = certified_filter("pure:0.5", 1.0, 0.01, plan="pure:0.25")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found.save(f"{folder}/filter.json")
    ...     read_certified(f"{folder}/filter.json") == found
    True
    """
    try:
        return _verified(certificate_format.read(read_certificate(path)))
    except certificate_format.Refused as error:
        raise InvalidInput(f"{path} proves nothing: {error}") from None


def parse_certified(values: str) -> CertifiedFilter:
    """Read a certificate's file, or what ``str()`` writes after ``certified:``, and verify it.

    Raises InvalidInput on anything else.
    """
    if values.endswith(".json"):
        return read_certified(values)
    basic = not values.endswith(ROWS_ONLY)
    try:
        return _verified(certificate_format.read(values.removesuffix(ROWS_ONLY)), basic=basic)
    except certificate_format.Refused as error:
        raise InvalidInput(
            f"certified:{values:.60} is neither certified:FILE.json nor a certificate that proves "
            f"something: {error}"
        ) from None


def _verified(found: Certificate, *, basic: bool = True) -> CertifiedFilter:
    """The filter of a certificate. Raises Refused where it proves nothing."""
    filter_ = CertifiedFilter.of(found)
    proof(filter_)
    return replace(filter_, basic=basic)
