"""Events on a random sample of the records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.events.leaves import NOTHING_LOST, keeping, rounded_up
from simulator.theory.events.tree import (
    EventRounds,
    EventTree,
    refuse,
)
from simulator.theory.events.units import PRESENT_OR_NOT, REPLACE_ONE, Unit
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.subsampled import SubsampledDP, SubsampledGaussianDP
from simulator.theory.guarantees.transforms import amplified_by_sampling, sampled_with_replacement
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_mixture import binomial_mixture
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.outward import above, below, sum_bracket
from simulator.theory.parameters import count

Sampling = Literal["poisson", "without_replacement"]

_HAS_THEOREM = {"poisson": PRESENT_OR_NOT, "without_replacement": (REPLACE_ONE,)}
_NAMES_CLIP = "sampled_sum says what a record is clipped at, and has one"
_UP = 1.0 + 2.0**-45


@dataclass(frozen=True)
class SubsampledEvent(EventTree):
    """An event on a secret sample, as ``subsampled(gaussian(1.0), 0.01)``.

    A new sample is drawn for each repetition.

    ``poisson`` keeps every record independently with probability ``rate``; its pair is known under
    add-remove and replace-special; where records are replaced, it depends on what they are clipped
    at, which :class:`~simulator.theory.events.sums.SampledSumEvent` states. Of a group, as many
    records as a binomial law says are in the sample of a Gaussian: the exact pair is then a mixture
    of Gaussians. ``without_replacement`` draws the share ``rate`` of the records; its pair, and the
    sensitivity inside, are under replace-one. That pair dominates, but no two databases attain it
    above and below epsilon = 0 at once, so only upper ends are certain.

    Several Gaussians on one sample are one Gaussian; any other composition on one sample has no
    single law here. A sample of a sample is one sample.

    Source: Zhu, Dong and Wang 2022, Theorem 11; for guarantees Balle, Barthe and Gaboardi 2018,
    Theorems 8 and 9.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian, subsampled
    >>> round(Account(subsampled(gaussian(1.0), 0.01)).delta(0.1).upper, 6)
    7.3e-05
    """

    event: EventTree
    rate: float
    sampling: Sampling = "poisson"
    kind: ClassVar[str] = "subsampled"

    def __post_init__(self) -> None:
        self._hold((self.event,))
        if not 0.0 <= finite("rate", self.rate) <= 1.0:
            raise InvalidInput(f"the sampling rate must be in [0, 1], not {self.rate!r}")
        if not isinstance(self.sampling, str) or self.sampling not in _HAS_THEOREM:
            words = " or ".join(_HAS_THEOREM)
            raise InvalidInput(f"sampling must be {words}, not {self.sampling!r}")

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The rounds of the event on a sample; raises NotApplicable without a theorem."""
        known = _HAS_THEOREM[self.sampling]
        where = f"{path} ({self.kind})"
        if unit.relation not in known and 0.0 < self.rate < 1.0:
            more = f"; {_NAMES_CLIP}" if self.sampling == "poisson" else ""
            raise refuse(
                path, self, f"{self.sampling} sampling has a theorem under {' and '.join(known)} "
                f"only, not under {unit.relation}{more}"
            )  # fmt: skip
        inner, rate = self.event, self.rate
        path = f"{path}.event"
        while isinstance(inner, SubsampledEvent) and inner.sampling == self.sampling:
            rate = rate if inner.rate == 1.0 else min(above(rate * inner.rate), rate)
            rate = 0.0 if inner.rate == 0.0 else rate
            inner, path = inner.event, f"{path}.event"
        parts = list(inner.resolved(unit if rate == 1.0 else unit.once, path))
        if rate == 1.0:
            yield from parts
        elif rate == 0.0:
            yield _at(NOTHING_LOST, where)
        else:
            once = single_round(parts, path, inner)
            if unit.records > 1:
                yield _at(self._of_group(once, rate, unit, path), where)
            else:
                yield _at(self._sampled(once, rate), where)

    def _of_group(self, once: EventRounds, rate: float, unit: Unit, path: str) -> EventRounds:
        """The round where as many of the group as a binomial law says are in the sample."""
        if once.law == NOTHING_LOST.law:
            return NOTHING_LOST
        if not (self.sampling == "poisson" and isinstance(once.law, GaussianLaw)):
            raise refuse(
                path, self, f"under {unit} a sample has a theorem for Gaussian noise on a Poisson "
                "sample only"
            )  # fmt: skip
        law = binomial_mixture(once.law.mu, unit.records, rate)
        whole = GaussianDP(above(max(law.sensitivities)))
        return EventRounds(law, (whole,), exact=once.exact)

    def _sampled(self, once: EventRounds, rate: float) -> EventRounds:
        """The round on a sample; it also keeps its guarantees without sampling."""
        guarantees = [_amplified(one, rate) for one in once.guarantees]
        pure = once.guarantees[0].core.pure_epsilon
        if math.isfinite(pure):
            guarantees.append(SubsampledDP(pure, once.guarantees[0].leak, rate))
        if self.sampling == "poisson" and isinstance(once.law, GaussianLaw):
            sigma = 1.0 / once.law.mu
            sigma = sigma if 1.0 / sigma >= once.law.mu else below(sigma)
            guarantees.append(SubsampledGaussianDP(sigma, rate))
        of = PoissonSubsampledLaw if self.sampling == "poisson" else SampledWithoutReplacementLaw
        law: PrivacyLossLaw | None = None if once.law is None else of(once.law, rate)
        others = tuple(of(each, rate) for each in once.others)
        exact = once.exact and self.sampling == "poisson"
        attained = guarantees[-1] if exact and once.attained is not None else None
        return EventRounds(law, tuple(guarantees), others=others, exact=exact, attained=attained)


def _amplified(guarantee: Guarantee, rate: float) -> Guarantee:
    """The guarantee on a sample: amplified where a theorem applies, otherwise unchanged.

    Sampling never makes a round less private.
    """
    pure = guarantee.core.pure_epsilon
    if math.isinf(pure):
        return guarantee
    found = amplified_by_sampling(ApproxDP(pure, guarantee.leak), rate)
    return rounded_up(found)


def single_round(parts: list[EventRounds], path: str, event: EventTree) -> EventRounds:
    """The single round on the sample; several Gaussians are merged into one."""
    if len(parts) == 1 and parts[0].count == 1:
        return parts[0]
    mus = []
    for part in parts:
        if part.guarantees == NOTHING_LOST.guarantees:
            continue
        if not (isinstance(part.law, GaussianLaw) and part.exact):
            raise refuse(
                path, event, "a composition on one sample has no law here unless all of it is "
                "Gaussian; sample each of its events, or state a promise of the whole"
            )  # fmt: skip
        mus.append(part.law.mu * math.sqrt(part.count))
    return keeping(GaussianDP(math.hypot(*mus) * _UP)) if mus else NOTHING_LOST


@dataclass(frozen=True)
class SampledWithReplacementEvent(EventTree):
    """An event on a secret sample of ``drawn`` records, each drawn from all ``records``.

    Under replace-one, for events of pure differential privacy. No law is known; the guarantee is an
    upper end.

    Source: Balle, Barthe and Gaboardi 2018, Theorem 10.

    >>> from simulator import Account
    >>> from simulator.theory.events import promise, sampled_with_replacement
    >>> event = sampled_with_replacement(promise("pure:0.5"), drawn=2, records=10)
    >>> round(Account(event, relation="replace-one").delta(0.1).upper, 6)
    0.01137
    """

    event: EventTree
    drawn: int
    records: int
    kind: ClassVar[str] = "sampled_with_replacement"

    def __post_init__(self) -> None:
        self._hold((self.event,))
        object.__setattr__(self, "drawn", count("drawn", self.drawn))
        object.__setattr__(self, "records", count("records", self.records))

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The rounds of the event on a sample drawn with replacement; raises NotApplicable."""
        if unit.relation != REPLACE_ONE or unit.records > 1:
            raise refuse(
                path, self, f"sampling with replacement has a theorem under {REPLACE_ONE} only, "
                f"not under {unit}"
            )  # fmt: skip
        parts = self.event.resolved(unit, f"{path}.event")
        epsilon = sum_bracket((part.guarantees[0].pure_epsilon, part.count) for part in parts).upper
        if math.isinf(epsilon):
            raise refuse(
                path, self, "sampling with replacement has a theorem for pure differential privacy "
                "only; state a promise of the whole"
            )  # fmt: skip
        guarantee = sampled_with_replacement(PureDP(epsilon), self.drawn, self.records)
        if epsilon > 0.0:
            guarantee = rounded_up(guarantee)
        where = f"{path} ({self.kind})"
        yield EventRounds(guarantee.worst_law, (guarantee,), where=where)


def _at(once: EventRounds, where: str) -> EventRounds:
    return replace(once, where=where, count=1)
