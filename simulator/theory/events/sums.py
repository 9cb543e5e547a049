"""Gaussian noise on a sum over a sample, by what each record is clipped at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.events.leaves import GaussianEvent
from simulator.theory.events.sampling import SubsampledEvent
from simulator.theory.events.tree import EventRounds, EventTree, refuse
from simulator.theory.events.units import ADD_REMOVE, PRESENT_OR_NOT, REPLACE_ONE, Unit
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.laws.announced import AnnouncedLaw
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.replaced_sample import ReplacedSampleLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.parameters import count

_ERROR = 1e-10
"""Above the relative error of a computed tail of a binomial law."""


@dataclass(frozen=True)
class SampledSumEvent(EventTree):
    """Noise N(0, sigma^2) on a sum over a Poisson sample of records of norm at most ``clip``.

    A step of DP-SGD, under any relation. Under replace-one its law is
    :class:`~simulator.theory.laws.replaced_sample.ReplacedSampleLaw`; otherwise it is
    ``subsampled(gaussian(sigma, clip), rate)``.

    With ``batch`` above 0 a sample of more than ``batch`` records is cut to a uniform subset of
    that size; ``size`` is the number of records of the larger database. Only an upper end is known:
    simulator/theory/lemmas/cut-samples.md.

    >>> from simulator import Account
    >>> from simulator.theory.events import sampled_sum
    >>> round(Account(sampled_sum(sigma=2.0, rate=0.01, clip=2.0)).delta(0.1).upper, 6)
    7.3e-05
    """

    sigma: float
    rate: float
    clip: float = 1.0
    batch: int = 0
    size: int = 0
    kind: ClassVar[str] = "sampled_sum"

    def __post_init__(self) -> None:
        self._hold(())
        GaussianEvent(self.sigma, self.clip)
        for name in ("batch", "size"):
            object.__setattr__(self, name, count(name, getattr(self, name), 0))
        if not 0.0 <= finite("rate", self.rate) <= 1.0:
            raise InvalidInput(f"the sampling rate must be in [0, 1], not {self.rate!r}")
        if self.batch and not self.size:
            raise InvalidInput("size must say how many records a batch is drawn from")

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The round under the relation; raises NotApplicable for what has no theorem in groups."""
        where = f"{path} ({self.kind})"
        cut = 0 < self.batch < self.size and self.rate > 0.0
        if not cut and (unit.relation in PRESENT_OR_NOT or self.rate in (0.0, 1.0)):
            noise = GaussianEvent(self.sigma, Unit(unit.relation, clip=self.clip).moves)
            yield from SubsampledEvent(noise, self.rate).resolved(unit, path)
            return
        if unit.records > 1:
            what = "batches that are cut have" if cut else "Poisson sampling has"
            raise refuse(path, self, f"{what} no theorem here under {unit}")
        mu = GaussianEvent(self.sigma, self.clip).mu
        law = self._cut(mu, unit) if cut else self._uncut(mu, unit)
        yield EventRounds(law, (GaussianDP(2.0 * mu),), exact=not cut, where=where)

    def _uncut(self, mu: float, unit: Unit) -> PrivacyLossLaw:
        if unit.relation == REPLACE_ONE:
            return ReplacedSampleLaw(mu, self.rate)
        return PoissonSubsampledLaw(GaussianLaw(mu), self.rate)

    def _cut(self, mu: float, unit: Unit) -> PrivacyLossLaw:
        from scipy.stats import binom  # slow to import

        full = float(binom.sf(self.batch - 1, self.size - 1, self.rate))
        rest = float(binom.cdf(self.batch - 1, self.size - 1, self.rate))
        kept = self.rate
        if full > 1e-290:  # below, the rate cannot be computed; it is at most the stated one
            some = float(binom.sf(self.batch, self.size, self.rate))
            kept = min(some * self.batch / self.size / full * (1.0 + _ERROR), self.rate)
        moved = GaussianLaw(2.0 * mu)
        whole = (
            PoissonSubsampledLaw(moved, kept)
            if unit.relation == ADD_REMOVE
            else SampledWithoutReplacementLaw(moved, kept)  # the special record is drawn as well
        )
        if self.rate == 1.0:
            return whole
        shares = (max(rest, 1e-300), max(full, 1e-300))
        return AnnouncedLaw((self._uncut(mu, unit), whole), shares, _ERROR)
