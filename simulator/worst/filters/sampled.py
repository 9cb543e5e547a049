"""A certified filter of Gaussians on a Poisson sample, with sigma and rate chosen adaptively."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from os import PathLike
from typing import Any

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.files import write_text
from simulator.foundations.validation import numeral, positive, whole
from simulator.theory.filters.interface import Filter, Price, State
from simulator.theory.filters.rules import units_step
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.worst.filters import sampled_check
from simulator.worst.filters.certificate_check import digest_of
from simulator.worst.filters.sampled_budget import SampledLayout, largest_layout, layout

SIGMA_STEPS = tuple(1.25**k for k in range(5))
"""Listed sigmas over the smallest one."""
COVERS = (
    "Any adaptive choice of Gaussian noise sigma on a Poisson sample of rate q (sensitivity 1, add "
    "or remove one), and in each round of the neighbour that holds the record, at sigmas from the "
    "first and rates up to the last of its row. A round costs costs[j], the least with rates[i][j] "
    ">= q, where sigmas[i] is the largest that is not above sigma. Rounds run while the costs add "
    "up to at most units."
)


@dataclass(frozen=True)
class SampledFilter(Filter):
    """A filter that charges whole units for Gaussians on Poisson samples, proved by a certificate.

    Made by :func:`sampled_filter`. Other numbers are checked when the promise is first used as a
    bound, and refused there if they prove nothing.

    Attributes
    ----------
    epsilon, delta : the promise; ``rounds_delta`` is 0.
    sigmas, costs, rates : ascending; ``rates[i][j]`` is the largest rate at ``sigmas[i]`` and
        larger ones that costs ``costs[j]`` units.
    units : the budget.
    """

    _: KW_ONLY
    sigmas: tuple[float, ...]
    costs: tuple[int, ...]
    rates: tuple[tuple[float, ...], ...]
    units: int
    name = "sampled"
    source = "a recursion with a certificate, see simulator.worst.filters.sampled_check"
    prices_vary = False
    step = staticmethod(units_step)

    def _check(self) -> None:
        super()._check()
        if self.rounds_delta:
            raise InvalidInput("the sampled filter has no rounds_delta: its rounds have no delta")
        whole("a filter's units", self.units)
        if not self.sigmas or len(self.rates) != len(self.sigmas):
            raise InvalidInput("the sampled filter needs a row of rates for each sigma")
        if not self.costs or any(len(row) != len(self.costs) for row in self.rates):
            raise InvalidInput("the sampled filter needs a rate for each sigma and cost")

    def __str__(self) -> str:
        parts = [(self.epsilon, self.delta, self.units), self.sigmas, self.costs, *self.rates]
        return f"{self.name}:" + "/".join(",".join(map(repr, part)) for part in parts)

    @property
    def initial(self) -> State:
        """See :meth:`Filter.initial`."""
        return (0.0, float(self.units))

    def cost(self, sigma: float, rate: float) -> int:
        """The units of a round. Raises NotApplicable for parameters that are not covered."""
        row = bisect_right(self.sigmas, sigma) - 1
        if row >= 0:
            place = bisect_left(self.rates[row], rate)
            if place < len(self.costs):
                return self.costs[place]
        raise NotApplicable(
            f"the sampled filter covers sigma from {self.sigmas[0]:g} and rates up to "
            f"{self.rates[max(row, 0)][-1]:g} there, not {sigma:g} and {rate:g}"
        )

    def price(self, guarantee: Guarantee) -> Price:
        """The units of a round, twice. Raises NotApplicable for another mechanism."""
        core = guarantee.core
        if isinstance(core, SubsampledGaussianDP):
            return float(self.cost(core.sigma, core.rate)) if core.rate else 0.0, guarantee.leak
        if isinstance(core, GaussianDP) and core.mu > 0.0:
            return float(self.cost(1.0 / core.mu, 1.0)), guarantee.leak
        if core.pure_epsilon == 0.0:
            return 0.0, guarantee.leak
        raise NotApplicable(f"the {self.name} filter cannot account for {guarantee}")

    def bounds_delta(self, epsilon: float) -> float:
        """See :meth:`Filter.bounds_delta`. Checks the certificate when it is first used."""
        self.verify()
        return super().bounds_delta(epsilon)

    def bounds_epsilon(self, delta: float) -> float:
        """See :meth:`Filter.bounds_epsilon`. Checks the certificate when it is first used."""
        self.verify()
        return super().bounds_epsilon(delta)

    @property
    def layout(self) -> SampledLayout:
        """The lattice of the proof."""
        return layout(self.epsilon, self.units, self.sigmas, self.costs, self.rates)

    def certificate(self) -> dict[str, Any]:
        """The certificate as plain values: what the file has."""
        found = self.layout
        made = {
            "dpcompose": sampled_check.NAME,
            "version": 1,
            "covers": COVERS,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "units": self.units,
            "sigmas": list(self.sigmas),
            "costs": list(self.costs),
            "rates": [list(row) for row in self.rates],
            "grid": {
                "step": found.step,
                "first": found.first,
                "start": found.start,
                "last": found.last,
                "nodes": list(found.nodes),
            },
        }
        return made | {"digest": digest_of(made)}

    def verify(self) -> float:
        """The delta that the certificate proves. Raises NotApplicable where it proves nothing."""
        return _verified(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate as JSON. Raises InvalidInput where the file cannot be written."""
        write_text(path, json.dumps(self.certificate(), indent=1) + "\n")


@lru_cache(maxsize=64)
def _verified(filter_: SampledFilter) -> float:
    try:
        return sampled_check.check(json.dumps(filter_.certificate()))
    except sampled_check.Refused as error:
        raise NotApplicable(f"the certificate of the filter proves nothing: {error}") from None


def sampled_filter(
    family: SubsampledGaussianDP,
    promise: tuple[float, float],
    units: int,
    sigmas: Sequence[float] | None = None,
) -> SampledFilter:
    """The filter with the largest rates that the recursion finds, its certificate checked.

    Parameters
    ----------
    family : the smallest sigma and the largest rate.
    promise : (epsilon, delta).
    units : the budget: most rounds of the cheapest parameters.
    sigmas : those that are listed; by default five, each 1.25 times the one before. The first is
        the family's.
    """
    listed = tuple(
        sorted({family.sigma, *(positive("sigmas", s) for s in sigmas)})
        if sigmas is not None
        else (family.sigma * factor for factor in SIGMA_STEPS)
    )
    if listed[0] != family.sigma:
        raise InvalidInput(f"sigmas must be at least the family's {family.sigma:g}")
    found = largest_layout(promise, listed, family.rate, units)
    made = SampledFilter(
        *promise, sigmas=found.sigmas, costs=found.costs, rates=found.rates, units=found.units
    )
    made.verify()
    return made


def parse_sampled(values: str) -> SampledFilter:
    """Read what ``str()`` writes after ``sampled:``. Raises InvalidInput on anything else."""
    try:
        first, *parts = [[numeral(x) for x in part.split(",")] for part in values.split("/")]
        epsilon, delta, units = first
        sigmas, costs, *rates = parts
        return SampledFilter(
            epsilon,
            delta,
            sigmas=tuple(sigmas),
            costs=tuple(map(int, costs)),
            rates=tuple(map(tuple, rates)),
            units=int(units),
        )
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"sampled:{values:.60} is not what str() writes of a filter") from None


def sampled_of(stored: dict[str, Any]) -> SampledFilter:
    """The filter of a certificate's members; raises KeyError, TypeError or ValueError."""
    return SampledFilter(
        stored["epsilon"],
        stored["delta"],
        sigmas=tuple(stored["sigmas"]),
        costs=tuple(stored["costs"]),
        rates=tuple(tuple(row) for row in stored["rates"]),
        units=stored["units"],
    )
