"""Filters with a certificate: a budget proved by recursion for every adversary of a continuum."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from os import PathLike
from typing import Any

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.files import write_text
from simulator.foundations.validation import nonnegative, positive, whole
from simulator.theory.filters.interface import Filter, Price, RunningFilter, State
from simulator.theory.filters.rules import certified_step
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.outward import below
from simulator.worst.filters import certificate_check, certificates
from simulator.worst.filters.certified_budget import CostShape, ProofLayout, largest_layout, layout
from simulator.worst.filters.planned import PlannedFilter
from simulator.worst.filters.plans import Plan, is_planned, planned_filter, require_range
from simulator.worst.filters.sampled import SampledFilter, sampled_filter

UNITS = 1000
"""Units of a budget: more make the costs of small rounds closer to eps^2, and take longer."""
RESERVE = 0.005
"""Share of the units, one at least, that no round may spend: the costs of the smallest rounds rest
on them."""
COSTS_ONLY = "costs-only"
"""Written after the numbers of a filter without basic composition."""


@dataclass(frozen=True)
class CertifiedFilter(Filter):
    """A filter whose budget of squared epsilons is proved for all adversaries, by a certificate.

    A round of an eps-DP mechanism costs eps^2, up to a few percent more where eps^2 is about one
    unit, or less with an ``order``; a mu-GDP one costs mu^2. Rounds are admitted while costs add up
    to at most :attr:`budget`, or, with ``basic``, while the epsilons add up to at most epsilon.

    Made by :func:`certified_filter`, which finds the unit and checks it. Another unit is checked
    when the promise is first used as a bound, and refused there if it proves nothing.

    Attributes
    ----------
    epsilon, delta, rounds_delta : as of :class:`Filter`.
    largest : rounds of eps-DP mechanisms up to this eps are covered.
    unit, units : the rows of the proof, in squared epsilons, and how many there are.
    reserve : in units.
    order : of the cost, see :class:`~simulator.worst.filters.certified_budget.CostShape`.
    basic : whether basic composition admits rounds, too.
    """

    _: KW_ONLY
    largest: float
    unit: float
    units: int = UNITS
    reserve: float = RESERVE * UNITS
    order: float = 0.0
    basic: bool = True
    name = "certified"
    source = "a recursion with a certificate, see simulator.worst.filters.certificate_check"
    sums = rounds_up = True
    step = staticmethod(certified_step)

    def _check(self) -> None:
        super()._check()
        for name in ("largest", "unit", "reserve"):
            object.__setattr__(self, name, positive(f"a filter's {name}", getattr(self, name)))
        object.__setattr__(self, "units", whole("a filter's units", self.units, 2))
        object.__setattr__(self, "order", nonnegative("a filter's order", self.order))
        if self.order > 1e6:
            raise InvalidInput(f"a filter's order must be at most 1e6, not {self.order!r}")

    def __str__(self) -> str:
        numbers = (self.epsilon, self.delta, self.rounds_delta, self.largest, self.unit)
        text = ",".join(map(repr, (*numbers, self.units, self.reserve, self.order)))
        return f"{self.name}:{text}" + ("" if self.basic else f",{COSTS_ONLY}")

    @property
    def budget(self) -> float:
        """The largest sum of costs. One of the units is for rounds that begin a unit."""
        return below((self.units - 1) * self.unit)

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`."""
        basic = self.epsilon if self.basic else 0.0
        budgets = (self.budget, basic, self.rounds_delta)
        proof = (self.unit, self.reserve * self.unit, self.largest, self.order)
        return (0.0,) * 5 + budgets + proof

    def cost(self, epsilon: float) -> float:
        """The cost of a round of an epsilon-DP mechanism; infinite where no sum has room for it.

        Of a Gaussian one for ``epsilon`` = -mu.
        """
        found = certified_step(replace(self, basic=False).initial, float(epsilon), 0.0)
        return float(found[1][0]) if found[0] else math.inf

    def price(self, guarantee: Guarantee) -> Price:
        """The pure epsilon, or -mu where the Gaussian pair of another mechanism costs less.

        A round at -mu has no part in basic composition.
        """
        core = guarantee.core
        choices = [x for x in (core.pure_epsilon, -core.gdp_mu) if math.isfinite(x)]
        if not choices:
            raise NotApplicable(f"the {self.name} filter cannot account for {guarantee}")
        if isinstance(core, PureDP):
            return choices[0], guarantee.leak
        return min(choices, key=self.cost), guarantee.leak

    def fresh(self) -> RunningCertified:
        """A filter with nothing spent."""
        return RunningCertified(self)

    def with_one_sum(self, epsilon: float) -> Filter:
        """See :meth:`Filter.with_one_sum`.

        A play beyond the budget of costs is within basic composition: it gets nothing at epsilon.
        """
        return replace(self, basic=False) if epsilon >= self.epsilon else self

    def bounds_delta(self, epsilon: float) -> float:
        """See :meth:`Filter.bounds_delta`. Checks the certificate when it is first used."""
        self.verify()
        return super().bounds_delta(epsilon)

    def bounds_epsilon(self, delta: float) -> float:
        """See :meth:`Filter.bounds_epsilon`. Checks the certificate when it is first used."""
        self.verify()
        return super().bounds_epsilon(delta)

    @property
    def layout(self) -> ProofLayout:
        """The lattice and the cells of the proof."""
        return layout(self.epsilon, self.shape, self.unit, self.units)

    @property
    def shape(self) -> CostShape:
        """The cost up to rounding in cells."""
        return CostShape(self.largest, self.order, self.reserve)

    def certificate(self) -> dict[str, Any]:
        """The certificate as plain values: what the file has."""
        promise = (self.epsilon, self.delta, self.rounds_delta)
        return certificates.document(promise, self.shape, self.layout, self.budget)

    def verify(self) -> float:
        """The delta that the certificate proves, without the rounds' own deltas.

        Takes as long as the last part of the search, once. Raises NotApplicable where it proves
        nothing.
        """
        return _verified(replace(self, basic=True))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate as JSON. Raises InvalidInput where the file cannot be written."""
        write_text(path, json.dumps(self.certificate(), indent=1) + "\n")


class RunningCertified(RunningFilter):
    """A certified filter in use, for any accountant."""

    spec: CertifiedFilter

    def admit(self, epsilon: float, delta: float = 0.0) -> bool:
        """Account for a round of an (epsilon, delta)-DP mechanism, if it is admitted.

        Returns whether it may run. A refused round costs nothing.
        """
        guarantee = parse_guarantee(f"approx:{epsilon!r},{delta!r}") if delta else PureDP(epsilon)
        admitted, self.state = self._step(guarantee)
        return admitted

    @property
    def charged(self) -> float:
        """The sum of costs, in squared epsilons."""
        return float(self.state[0])

    @property
    def remaining(self) -> float:
        """What is left of the budget of costs, in squared epsilons."""
        return max(self.spec.budget - self.charged, 0.0)


@lru_cache(maxsize=64)
def _verified(filter_: CertifiedFilter) -> float:
    try:
        return certificate_check.check(json.dumps(filter_.certificate()))
    except certificate_check.Refused as error:
        raise NotApplicable(f"the certificate of the filter proves nothing: {error}") from None


def certified_filter(
    family: str | PureDP,
    epsilon: float,
    delta: float,
    rounds_delta: float = 0.0,
    *,
    units: int = UNITS,
    order: float = 0.0,
    reserve: float | None = None,
    sigmas: Sequence[float] | None = None,
    plan: Plan | None = None,
    sizes: Sequence[float] = (),
    pool: float | None = None,
    spare: float | None = None,
) -> CertifiedFilter | SampledFilter | PlannedFilter:
    """The filter with the largest budget that the recursion finds, its certificate checked.

    Parameters
    ----------
    family : ``"pure:0.5"`` or ``PureDP(0.5)``: every eps-DP mechanism with eps up to 0.5, chosen
        adaptively, and any Gaussian one. ``"laplace:0.5"``, ``"range:0.5"`` and mixtures as
        ``"pure:0.2+laplace:0.5"``: Laplace noise on one number, mechanisms of bounded range, each
        by laws of their own. ``"subsampled-gaussian:1,0.05"``: Gaussian noise of sigma
        from 1 on a Poisson sample of rate up to 0.05, both chosen adaptively. For Gaussian noise
        alone see :class:`~simulator.theory.filters.gaussian.GaussianFilter`, which is exact.
    epsilon, delta, rounds_delta : the promise, as of :class:`Filter`; delta from 1e-15 to 0.1.
    units : rows of the proof. Time grows with their square; 1,000 take about half a minute.
    order : of the cost. 0 charges eps^2; a larger one charges less for large rounds, from a smaller
        budget.
    reserve : in units; more make the costs of the smallest rounds closer to eps^2, and take as much
        from the budget.
    sigmas : of subsampled Gaussians, the sigmas with costs of their own.
    plan, sizes, pool, spare : the rounds that are expected, as ``"pure:0.1*2,pure:0.01"``: as many
        of them are admitted as by any sound filter. See
        :func:`~simulator.worst.filters.plans.planned_filter`.

    Raises
    ------
    InvalidInput : another family, or a number out of its range.
    NotApplicable : no budget was found.
    """
    if plan is not None or is_planned(str(family)):
        epsilon, delta = positive("epsilon", epsilon), positive("delta", delta)
        leaks = nonnegative("rounds_delta", rounds_delta)
        return planned_filter(
            str(family), (epsilon, delta, leaks), plan, sizes=sizes, pool=pool, spare=spare
        )
    if sizes or pool is not None or spare is not None:
        raise InvalidInput(
            "sizes, a pool and a spare share are of a filter with a plan; give a plan"
        )
    kind = parse_guarantee(family) if isinstance(family, str) else family
    units = whole("units", units, 2)
    if units > 10_000:
        raise InvalidInput(f"units must be at most 10000, not {units}")
    if isinstance(kind, SubsampledGaussianDP) and kind.rate > 0.0:
        epsilon, delta = positive("epsilon", epsilon), positive("delta", delta)
        require_range(epsilon, delta)
        if rounds_delta:
            raise InvalidInput("subsampled Gaussians have no rounds_delta; leave it out")
        return sampled_filter(kind, (epsilon, delta), units, sigmas)
    if not isinstance(kind, PureDP) or not kind.epsilon > 0.0:
        raise InvalidInput(
            "a certified filter is for pure:EPSILON, laplace:EPSILON or range:EPSILON, the largest "
            "of a round, mixtures as pure:0.2+laplace:0.5, or subsampled-gaussian:SIGMA,RATE, the "
            f"smallest sigma and largest rate, not {family}; Gaussians have the filter "
            "gaussian:EPSILON,DELTA, which is exact, zCDP has zcdp:EPSILON,DELTA"
        )
    trial = CertifiedFilter(
        epsilon,
        delta,
        rounds_delta,
        largest=kind.epsilon,
        unit=1.0,
        units=units,
        reserve=max(RESERVE * units, 1.0) if reserve is None else reserve,
        order=order,
    )
    target = trial.delta - trial.rounds_delta
    require_range(trial.epsilon, target)
    rounding = trial.epsilon / 2.0**50  # the check takes it off, for sums of epsilons
    if not rounding < target / 2.0:
        raise NotApplicable(
            f"delta = {target:g} is within the rounding of sums of epsilons up to {trial.epsilon:g}"
        )
    found = largest_layout(trial.epsilon, target - rounding, trial.shape, units)
    filter_ = replace(trial, unit=found.unit)
    filter_.verify()
    return filter_
