"""Plans of filters as text, and the filter of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import numeral, open_probability, positive
from simulator.theory.laws.gaussian_curve import gaussian_mu
from simulator.worst.filters.planned import PlannedFilter
from simulator.worst.filters.planned_check import KINDS
from simulator.worst.filters.planned_rows import search

Plan = str | Sequence[str]
FLOOR = 0.1
"""Share of the pool below which it is not spent."""
USUAL_POOL = 0.02
"""Of a filter without a plan of the user's."""
USUAL_SPARE = 0.02
USUAL_SHARE = {"pure": 100, "laplace": 100, "range": 20, "gaussian": 20}
"""The promised epsilon over the rounds of the plan, where the user has none."""


def is_planned(family: str) -> bool:
    """Whether a family's text is of the kinds that only filters with a plan cover."""
    return "+" in family or family.partition(":")[0] in ("laplace", "range")


def parse_kinds(family: str) -> dict[str, float]:
    """The largest size of each kind of ``laplace:0.5`` or ``pure:0.3+range:0.5``.

    Raises InvalidInput on anything else.
    """
    found: dict[str, float] = {}
    for part in family.split("+"):
        kind, size, rounds = _entry(part, f"family {family!r}")
        if kind in found or rounds is not None:
            raise InvalidInput(f"family {family!r}: write each kind once, as pure:0.3+laplace:0.5")
        found[kind] = size
    return found


def parse_plan(plan: Plan) -> list[tuple[str, float, int | None]]:
    """Kinds, sizes and rounds of ``pure:0.1*2,pure:0.01``; None repeats the last one.

    An entry before the last without a number of rounds is of one round. Raises InvalidInput on
    anything else.
    """
    entries = plan.split(",") if isinstance(plan, str) else list(plan)
    if not entries:
        raise InvalidInput("a plan needs a round, as pure:0.1")
    found = [_entry(entry, "plan") for entry in entries]
    return [
        (kind, size, 1 if rounds is None and i < len(found) else rounds)
        for i, (kind, size, rounds) in enumerate(found, 1)
    ]


def _entry(text: str, where: str) -> tuple[str, float, int | None]:
    """The kind, the size and the number of ``pure:0.1*2``."""
    kind, _, values = str(text).strip().partition(":")
    size, times, rounds = values.partition("*")
    if kind not in KINDS:
        raise InvalidInput(f"{where}: {text!r} must be of {', '.join(KINDS)}, as pure:0.1")
    try:
        found = kind, positive(f"the size of {kind}", numeral(size)), int(rounds) if times else None
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise InvalidInput(f"{where}: {error}") from None
        raise InvalidInput(f"{where}: {text!r} is not KIND:SIZE or KIND:SIZE*ROUNDS") from None
    if found[2] is not None and found[2] < 1:
        raise InvalidInput(f"{where}: {text!r} must have one round or more")
    return found


def planned_filter(
    family: str,
    promise: tuple[float, float, float],
    plan: Plan | None = None,
    *,
    sizes: Sequence[float] = (),
    pool: float | None = None,
    spare: float | None = None,
) -> PlannedFilter:
    """The filter that admits a plan as far as any sound filter can, its certificate checked.

    Parameters
    ----------
    family : the largest size of each kind, as ``"laplace:0.5"`` or ``"pure:0.3+range:0.5"``.
    promise : (epsilon, delta, rounds_delta).
    plan : the rounds that are expected, in their order, as ``"pure:0.1*2,pure:0.01"`` or a list of
        such entries. The last one repeats as long as it fits. By default many rounds of one size.
    sizes : rounds outside the plan that are charged at their own sizes; others are charged at the
        next of a list.
    pool : the share of the budget that is kept for rounds smaller than all of the plan; by default
        0, and 0.02 without a plan.
    spare : the share of delta that the plan leaves at least, for lower prices of other rounds; by
        default 0, and 0.02 without a plan, for some 0.2% of its rounds.

    Raises
    ------
    InvalidInput : a plan or a number out of its range, or a plan of other kinds than the family's.
    NotApplicable : not even the first round of the plan fits, or there are too many.
    """
    epsilon, delta, leaks = promise
    largest = parse_kinds(family)
    if plan is None:
        kind, most = next(iter(largest.items()))
        plan = f"{kind}:{min(most, epsilon / USUAL_SHARE[kind])!r}"
        pool = USUAL_POOL if pool is None else pool
        spare = USUAL_SPARE if spare is None else spare
    listed = parse_plan(plan)
    for kind, size, _ in listed:
        if size > largest.get(kind, 0.0):
            raise InvalidInput(f"the plan's {kind}:{size:g} is not within the family {family}")
    target = delta - leaks
    if not 0.0 < target < 1.0:
        raise InvalidInput(f"the planned filter needs delta above rounds_delta, not {delta!r}")
    require_range(epsilon, target)
    share = open_probability("the pool's share", pool) if pool else 0.0
    left = open_probability("the spare share of delta", spare) if spare else 0.0
    squares = share * gaussian_mu(epsilon, target) ** 2
    floor = FLOOR * squares
    others = [positive("a size", size) for size in sizes]
    found = search((epsilon, target), largest, listed, sizes=others, pool=squares, spare=left)
    made = PlannedFilter(
        epsilon,
        delta,
        leaks,
        plan=found.plan,
        moves=found.moves,
        lattice=found.lattice,
        pool=max(squares - floor, 0.0),
        floor=floor,
    )
    made.verify()
    return made


def require_range(epsilon: float, delta: float) -> None:
    """Raise NotApplicable unless budgets are found for that promise."""
    if not (1e-15 <= delta <= 0.1 and 1e-3 <= epsilon <= 20.0):
        raise NotApplicable(
            "a certified filter is found for 0.001 <= epsilon <= 20 and a delta, without "
            f"rounds_delta, from 1e-15 to 0.1, not {epsilon:g} and {delta:g}"
        )
