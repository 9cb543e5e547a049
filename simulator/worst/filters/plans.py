"""Plans of filters as text, and filters with a certificate that are made for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import (
    nonnegative,
    open_probability,
    positive,
    whole,
)
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.gaussian_curve import gaussian_mu
from simulator.worst.filters.certificate_format import SAMPLED, Refused
from simulator.worst.filters.certified import CertifiedFilter, proof
from simulator.worst.filters.planned_lattice import PlanLattice
from simulator.worst.filters.planned_rows import ROUNDING, search
from simulator.worst.filters.sampled_budget import largest_layout

Plan = str | Sequence[str]
FLOOR = 0.1
"""Share of the pool below which it is not spent."""
USUAL_POOL = 0.02
"""Of a filter without a plan of the user's."""
USUAL_SPARE = 0.02
BY_FORMULA = {"pure": "residue", "gdp": "gaussian"}
"""The filters of one kind that need no certificate."""
UNITS = 1000
SIGMA_STEPS = tuple(1.25**k for k in range(5))
"""Listed sigmas over the smallest one."""
TRIES = 6
"""Searches, each within a smaller delta, until the check accepts what is found: the search rounds
to nearest, and does not see that the bound for bounded range grows with what other rounds add."""
USUAL_SHARE = {"pure": 100, "laplace": 100, "range": 20, "gdp": 20}
"""The promised epsilon over the rounds of the plan, where the user has none."""


_Size = tuple[str, float]
_SIZES: dict[str, Callable[..., _Size]] = {
    "pure": lambda epsilon: ("pure", epsilon),
    "laplace": lambda epsilon: ("laplace", epsilon),
    "range": lambda epsilon: ("range", epsilon),
    "gdp": lambda mu: ("gdp", mu),
    "gaussian": lambda sigma: ("gdp", 1.0 / positive("sigma", sigma)),
}
"""The kind and the size of a round, by the name in a text."""


def parse_kinds(family: str) -> dict[str, float]:
    """The largest size of each kind of ``laplace:0.5`` or ``pure:0.3+range:0.5``.

    Raises InvalidInput on anything else.
    """
    found: dict[str, float] = {}
    for part in family.split("+"):
        kind, size = _size(grammar.read(part), f"family {family!r}")
        if kind in found or "*" in part:
            raise InvalidInput(f"family {family!r}: write each kind once, as pure:0.3+laplace:0.5")
        found[kind] = size
    return found


def parse_plan(plan: Plan) -> list[tuple[str, float, int | None]]:
    """Kinds, sizes and rounds of ``pure:0.1*2,pure:0.01``; None repeats the last one.

    An entry before the last without a number of rounds is of one round. Raises InvalidInput on
    anything else.
    """
    entries = grammar.split(plan) if isinstance(plan, str) else list(map(str, plan))
    if not entries:
        raise InvalidInput("a plan needs a round, as pure:0.1")
    named = [grammar.read(entry) for entry in entries]
    return [
        (*_size(each, "plan"), 1 if each.count is None and i < len(named) else each.count)
        for i, each in enumerate(named, 1)
    ]


def _size(named: grammar.Term, where: str) -> _Size:
    """The kind and the size of a round such as ``pure:0.1``."""
    if named.name not in _SIZES:
        raise InvalidInput(f"{where}: {named} must be of {', '.join(_SIZES)}, as pure:0.1")
    kind, size = grammar.made(named, _SIZES[named.name])
    return kind, positive(f"{where}: the size of {named.name}", size)


def certified_filter(
    family: str | PureDP,
    epsilon: float,
    delta: float,
    rounds_delta: float = 0.0,
    *,
    plan: Plan | None = None,
    sizes: Sequence[float] = (),
    pool: float | None = None,
    spare: float | None = None,
    units: int | None = None,
    sigmas: Sequence[float] | None = None,
) -> CertifiedFilter:
    """The filter that admits a plan as far as any sound filter can, its certificate checked.

    Parameters
    ----------
    family : the largest size of each kind, as ``"laplace:0.5"`` or ``"pure:0.3+range:0.5"``: eps of
        any eps-DP mechanism, shift over scale of Laplace noise on one number, eps of mechanisms of
        bounded range, mu of ``gdp``, or sigma of ``gaussian``. Or
        ``"subsampled-gaussian:1,0.05"``: Gaussian noise of sigma from 1 on a Poisson sample of rate
        up to 0.05, both chosen adaptively.
    epsilon, delta, rounds_delta : the promise, as of :class:`Filter`; delta from 1e-15 to 0.1.
    plan : the rounds that are expected, in their order, as ``"pure:0.1*2,pure:0.01"`` or a list of
        such entries. The last one repeats as long as it fits. By default many rounds of one size.
        Rounds of one kind without a plan have filters by a formula: ``residue:EPSILON,DELTA`` for
        pure ones, and ``gaussian:EPSILON,DELTA``, which is exact.
    sizes : rounds outside the plan that are charged at their own sizes; others are charged at the
        next of a list.
    pool : the share of the budget that is kept for rounds smaller than all of the plan; by default
        0, and 0.02 without a plan.
    spare : the share of delta that the plan leaves at least, for lower prices of other rounds; by
        default 0, and 0.02 without a plan, for some 0.2% of its rounds.
    units : of subsampled Gaussians: rows of the proof, which their rounds cost whole numbers of, by
        default 1,000. Time grows with their square.
    sigmas : of subsampled Gaussians: the sigmas with rates of their own, by default five.

    Raises
    ------
    InvalidInput : a family, a plan or a number out of its range, or a plan of other kinds.
    NotApplicable : not even the first round of the plan fits, or there are too many.

    >>> from simulator import PureDP
    >>> from simulator.worst import certified_filter
    >>> running = certified_filter("pure:0.5", 1.0, 0.01, plan="pure:0.25").fresh()
    >>> for _ in range(4):
    ...     running.spend(PureDP(0.25))
    >>> running.admits(PureDP(0.25))
    False
    """
    epsilon, delta = positive("epsilon", epsilon), positive("delta", delta)
    target = delta - nonnegative("rounds_delta", rounds_delta)
    if not 0.0 < target < 1.0:
        raise InvalidInput(f"a certified filter needs delta above rounds_delta, not {delta!r}")
    require_range(epsilon, target)
    promise = epsilon, delta, rounds_delta
    if str(family).partition(":")[0] == SAMPLED:
        if plan is not None or sizes or pool is not None or spare is not None or rounds_delta:
            raise InvalidInput("subsampled Gaussians have no plan, no pool and no rounds_delta")
        found = _sampled(
            parse_guarantee(str(family)), promise, UNITS if units is None else units, sigmas
        )
    else:
        if units is not None or sigmas is not None:
            raise InvalidInput("units and sigmas are of a filter of subsampled Gaussians")
        found = _planned(str(family), promise, plan, sizes=sizes, pool=pool, spare=spare)
    room = goal = target - (epsilon + rounds_delta) * ROUNDING
    if room <= 0.0:
        raise NotApplicable(
            f"delta = {target:g} is within the rounding of sums of epsilons up to {epsilon:g}"
        )
    for tried in range(TRIES):
        made = found(goal)
        try:
            proof(made)
        except Refused as error:
            if error.reached is None:
                raise NotApplicable(f"no certificate was found: {error}") from None
            goal *= min(room / error.reached, 1.0 - 1e-6) ** (5**tried)
        else:
            return made
    raise NotApplicable("no certificate was found within the rounding of this plan")


def _planned(
    family: str,
    promise: tuple[float, float, float],
    plan: Plan | None,
    *,
    sizes: Sequence[float],
    pool: float | None,
    spare: float | None,
) -> Callable[[float], CertifiedFilter]:
    """The filter of a plan, by the delta that its rows may reach as far as this search sees."""
    epsilon, delta, leaks = promise
    largest = parse_kinds(family)
    if plan is None:
        kind, most = next(iter(largest.items()))
        if len(largest) == 1 and kind in BY_FORMULA:
            raise InvalidInput(
                f"without a plan, {family} has the filter {BY_FORMULA[kind]}:{epsilon!r},{delta!r},"
                f" which needs no certificate; give a plan, as {kind}:{most / 10:g}, for one"
            )
        if sizes or pool is not None or spare is not None:
            raise InvalidInput("sizes, a pool and a spare share are of a plan; give a plan")
        plan = f"{kind}:{min(most, epsilon / USUAL_SHARE[kind])!r}"
        pool, spare = USUAL_POOL, USUAL_SPARE
    listed = parse_plan(plan)
    for kind, size, _ in listed:
        if size > largest.get(kind, 0.0):
            raise InvalidInput(f"the plan's {kind}:{size!r} is not within the family {family}")
    share = open_probability("the pool's share", pool) if pool else 0.0
    left = open_probability("the spare share of delta", spare) if spare else 0.0
    squares = share * gaussian_mu(epsilon, delta - leaks) ** 2
    floor = FLOOR * squares
    others = [positive("a size", size) for size in sizes]

    def found(goal: float) -> CertifiedFilter:
        rows = search((epsilon, goal), largest, listed, sizes=others, pool=squares, spare=left)
        return CertifiedFilter(
            *promise,
            plan=rows.plan,
            moves=rows.moves,
            lattice=rows.lattice,
            pool=max(squares - floor, 0.0),
            floor=floor,
        )

    return found


def _sampled(
    family: Guarantee,
    promise: tuple[float, float, float],
    units: int,
    sigmas: Sequence[float] | None,
) -> Callable[[float], CertifiedFilter]:
    """The filter of subsampled Gaussians, by the delta that its rows may reach."""
    if not isinstance(family, SubsampledGaussianDP) or not family.rate > 0.0:
        raise InvalidInput(f"{family}: the largest rate must be above 0")
    if whole("units", units, 2) > 10_000:
        raise InvalidInput(f"units must be at most 10000, not {units}")
    listed = tuple(
        sorted({family.sigma, *(positive("sigmas", s) for s in sigmas)})
        if sigmas is not None
        else (family.sigma * factor for factor in SIGMA_STEPS)
    )
    if listed[0] != family.sigma:
        raise InvalidInput(f"sigmas must be at least the family's {family.sigma:g}")

    def found(goal: float) -> CertifiedFilter:
        rows = largest_layout((promise[0], goal), listed, family.rate, units)
        kinds = [f"{SAMPLED}:{sigma!r}" for sigma in rows.sigmas]
        moves = {
            (kind, rate): (kind, rate, ((cost, cost),))
            for kind, row in zip(kinds, rows.rates)
            for cost, rate in reversed(list(zip(rows.costs, row)))  # of equal rates the cheapest
        }
        return CertifiedFilter(
            *promise,
            plan=((kinds[0], rows.rates[0][0], rows.units),),
            moves=tuple(moves[key] for key in sorted(moves)),
            lattice=PlanLattice(rows.step, rows.first, rows.start, rows.last),
        )

    return found


def require_range(epsilon: float, delta: float) -> None:
    """Raise NotApplicable unless budgets are found for that promise."""
    if not (1e-15 <= delta <= 0.1 and 1e-3 <= epsilon <= 20.0):
        raise NotApplicable(
            "a certified filter is found for 0.001 <= epsilon <= 20 and a delta, without "
            f"rounds_delta, from 1e-15 to 0.1, not {epsilon:g} and {delta:g}"
        )
