"""The format of a filter's certificate, and its reader; imports the standard library only.

A certificate is a JSON object with exactly the members of ``MEMBERS``. What each of them means is
stated in :mod:`simulator.worst.filters.certificate_check`, which proves the claim from what is
read here. No member holds words.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

NAME = "certificate of a privacy filter"
MEMBERS = (
    "dpcompose", "version", "epsilon", "delta", "rounds_delta", "rows", "plan", "moves", "pool",
    "grid", "digest",
)  # fmt: skip
PARAMETERS = {"pure": "eps", "laplace": "shift/scale", "range": "eps", "gdp": "mu"}
"""What the size of a round is, by its kind; the rate where the kind is SAMPLED:SIGMA."""
SAMPLED = "subsampled-gaussian"
MOST = 20_000
"""Most rows, lattice points, lattice steps of a loss, and entries of a list."""
MOST_MOVES = 2000


class Refused(ValueError):
    """A certificate that proves nothing; one line says where it fails.

    ``reached`` is the delta that its rows reach, where that is too large and all else is right.
    """

    def __init__(self, message: str, reached: float | None = None) -> None:
        super().__init__(message)
        self.reached = reached


def require(holds: bool, message: str) -> None:
    """Raise Refused unless the condition holds."""
    if not holds:
        raise Refused(message)


@dataclass(frozen=True)
class Move:
    """Rounds of a kind with sizes above ``low``, up to ``size``, and how far they fall.

    ``falls`` are pairs (row, fall): from that row on they fall so far; 0 refuses. ``low`` is the
    next smaller size of the kind, or 0: the moves of a kind cover all sizes up to its largest.
    """

    kind: str
    low: float
    size: float
    falls: tuple[tuple[int, int], ...]

    @property
    def sigma(self) -> float:
        """The sigma of sampled Gaussians, 0 of other kinds."""
        return float(self.kind.partition(":")[2] or 0.0)

    def following(self, rows: int) -> array[int]:
        """The row after each row 0, ..., ``rows``, or -1 where the round is refused."""
        found = array("i", [-1]) * (rows + 1)
        for place, (first, fall) in enumerate(self.falls):
            last = self.falls[place + 1][0] if place + 1 < len(self.falls) else rows + 1
            if fall:
                found[first:last] = array("i", range(first - fall, last - fall))
        return found


@dataclass(frozen=True)
class Certificate:
    """What stands in a certificate, each number of its type and in its range.

    Attributes
    ----------
    epsilon, delta, rounds_delta : the promise; the last is the part for rounds' own deltas.
    rows : the number of the first row: how many rounds the plan has.
    plan : (kind, size, rounds) that are admitted, in this order.
    moves : by kind and size.
    squares, floor : of the pool.
    step, first, start, last : of the lattice.
    digest : of all other members, see :func:`digest_of`.
    """

    _: KW_ONLY
    epsilon: float
    delta: float
    rounds_delta: float
    rows: int
    plan: tuple[tuple[str, float, int], ...]
    moves: tuple[Move, ...]
    squares: float
    floor: float
    step: float
    first: int
    start: int
    last: int
    digest: str

    def covering(self, kind: str, size: float) -> Move:
        """The move of a planned round, whose inequality covers it. Raises Refused without one."""
        fit = [m for m in self.moves if m.kind == kind and m.low < size <= m.size]
        require(bool(fit), "plan: a round that no move covers")
        return fit[0]


def read(text: str) -> Certificate:
    """Read a certificate with its own digest. Raises Refused on anything else."""
    try:
        document = json.loads(text, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise Refused(f"it is not JSON: {error}") from None
    named = isinstance(document, dict) and document.get("dpcompose") == NAME
    require(named, f"it is not a {NAME}")
    version = document.get("version")
    require(type(version) is int and version == 1, "its version is not 1")
    require(document.get("digest") == digest_of(document), "it was changed: wrong digest")
    stored = _object(document, MEMBERS, "certificate")
    pool = _object(stored["pool"], ("squares", "floor"), "pool")
    grid = _object(stored["grid"], ("step", "first", "start", "last"), "grid")
    found = Certificate(
        epsilon=_number(stored["epsilon"], "epsilon"),
        delta=_number(stored["delta"], "delta"),
        rounds_delta=_number(stored["rounds_delta"], "rounds_delta", zero=True),
        rows=_whole(stored["rows"], "rows", 1),
        plan=tuple(_run(each) for each in _list(stored["plan"], "plan")),
        moves=_moves(_list(stored["moves"], "moves", MOST_MOVES)),
        squares=_number(pool["squares"], "squares", zero=True),
        floor=_number(pool["floor"], "floor", zero=True),
        step=_number(grid["step"], "step"),
        **{name: _whole(grid[name], name, -MOST) for name in ("first", "start", "last")},
        digest=stored["digest"],
    )
    require(found.delta < 1.0, "delta: must be below 1, a larger one promises nothing")
    require(found.rows == sum(n for *_, n in found.plan), "rows: must be the rounds of the plan")
    last = max(row for move in found.moves for row, _ in move.falls)
    require(last <= found.rows, "moves: falls: a row above the first one")
    require((found.floor > 0.0) == (found.squares > 0.0), "pool: squares and floor, or neither")
    require(found.first <= -1 and 0 <= found.start < found.last, "grid: the start is outside")
    require(found.last - found.first < MOST, f"grid: more than {MOST} points")
    low, high = (Fraction(found.step) * i for i in (found.start, found.start + 1))
    require(low <= Fraction(found.epsilon) <= high, "grid: epsilon is not beside the start")
    return found


def digest_of(document: dict[str, Any]) -> str:
    """SHA-256 of the members but ``digest``, as JSON with sorted keys and without spaces."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; other readers may take another one of two with one name."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("two members of an object have one name")
    return dict(pairs)


def _object(value: Any, names: Iterable[str], where: str) -> dict[str, Any]:
    """The value, an object of exactly these members: others would be words that prove nothing."""
    good = isinstance(value, dict) and set(value) == set(names)
    require(good, f"{where}: must have the members {', '.join(names)}")
    return dict(value)


def _list(value: Any, where: str, most: int = MOST, length: int | None = None) -> list[Any]:
    """The value, a list that is not empty."""
    good = isinstance(value, list) and 0 < len(value) <= most
    require(good and length in (None, len(value)), f"{where}: must be a list, and not empty")
    return list(value)


def _number(found: Any, name: str, *, zero: bool = False) -> float:
    """A float from 1e-99 to 1e9, or 0 if that may be."""
    good = type(found) in (int, float) and 0 <= found <= 1e9 and (zero or found >= 1e-99)
    require(good, f"{name}: must be a number above 0")
    return float(found)


def _whole(found: Any, name: str, least: int) -> int:
    """An integer from ``least`` to MOST."""
    require(type(found) is int and least <= found <= MOST, f"{name}: must be a whole number")
    return int(found)


def _run(stored: Any) -> tuple[str, float, int]:
    """An entry of the plan."""
    kind, size, rounds = _list(stored, "plan: kind, size and rounds", length=3)
    return _kind(kind), _number(size, "size"), _whole(rounds, "rounds", 1)


def _kind(stored: Any) -> str:
    """The kind of a round."""
    name, _, sigma = stored.partition(":") if isinstance(stored, str) else ("", "", "")
    try:
        good = stored in PARAMETERS or (
            name == SAMPLED and repr(_number(float(sigma), "sigma")) == sigma
        )
    except (TypeError, ValueError):
        good = False
    require(good, f"kind: must be of {', '.join(PARAMETERS)} or {SAMPLED}:SIGMA")
    return str(stored)


def _moves(listed: list[Any]) -> tuple[Move, ...]:
    """The moves, in the order of their kinds and sizes."""
    found: list[Move] = []
    for each in listed:
        stored = _object(each, ("kind", "size", "falls"), "moves")
        falls, last = [], 0
        for pair in _list(stored["falls"], "moves: falls"):
            row, fall = (_whole(x, "falls", 0) for x in _list(pair, "moves: falls", length=2))
            require(last < row and fall <= row, "moves: falls: order, or below row 0")
            falls.append((row, fall))
            last = row
        kind, size = _kind(stored["kind"]), _number(stored["size"], "size")
        low = found[-1].size if found and found[-1].kind == kind else 0.0
        found.append(Move(kind, low, size, tuple(falls)))
        require(kind in PARAMETERS or size <= 1.0, "moves: a rate above 1")
    require(all((a.kind, a.size) < (b.kind, b.size) for a, b in pairwise(found)), "moves: order")
    return tuple(found)
