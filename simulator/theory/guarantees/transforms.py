"""Guarantees derived from guarantees: of groups, disjoint parts, samples and shuffles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import singledispatch

import numpy as np

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import instance, listed
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.guarantees.shuffled import ShuffledDP
from simulator.theory.guarantees.subsampled import amplified_epsilon, sampling_rate
from simulator.theory.parameters import count


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """The guarantee for databases that differ by ``size`` steps of the relation.

    Pure: g epsilon. Approximate: (g epsilon, delta (e^(g epsilon) - 1)/(e^epsilon - 1)), the sum
    of delta e^(i epsilon) over the chain. Concentrated: g^2 rho. Gaussian: g mu. Bounded range:
    g epsilon. Raises NotApplicable for others or when the delta reaches 1.

    Source: Dwork and Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2; Bun and Steinke 2016,
    Proposition 1.9; Dong, Roth and Su 2022, Theorem 2.14.

    >>> from simulator.theory import ZCDP, group
    >>> group(ZCDP(0.125), 2)
    ZCDP(rho=0.5)
    """
    return _group(guarantee, count("group size", size))


@singledispatch
def _group(guarantee: Guarantee, size: int) -> Guarantee:
    raise NotApplicable(f"no group privacy is stated here for {guarantee}")


@_group.register
def _(guarantee: PureDP, size: int) -> Guarantee:
    return PureDP(size * guarantee.epsilon)


@_group.register
def _(guarantee: BoundedRange, size: int) -> Guarantee:
    return BoundedRange(size * guarantee.epsilon)


@_group.register
def _(guarantee: ZCDP, size: int) -> Guarantee:
    return ZCDP(size * size * guarantee.rho)


@_group.register
def _(guarantee: GaussianDP, size: int) -> Guarantee:
    return GaussianDP(size * guarantee.mu)


@_group.register
def _(guarantee: ApproxDP, size: int) -> Guarantee:
    epsilon = guarantee.epsilon
    total = size * epsilon
    if guarantee.delta == 0.0:
        return ApproxDP(total, 0.0)
    growth = float(size)
    if epsilon > 0.0:
        log_growth = total - epsilon + math.log(math.expm1(-total) / math.expm1(-epsilon))
        growth = math.exp(min(log_growth, 700.0))
    if guarantee.delta * growth >= 1.0:
        raise NotApplicable(
            f"{guarantee} gives no guarantee for groups of {size}: its delta reaches 1"
        )
    return ApproxDP(total, guarantee.delta * growth)


def parallel(guarantees: Iterable[Guarantee], *, replace_one: bool = False) -> Guarantee:
    """The guarantee of mechanisms on disjoint parts of the records, all of one kind.

    The guarantees are under add-or-remove-one, which changes one part: the weakest holds. Replacing
    one record (``replace_one``) is a removal and an addition, in one part or in two. Both are
    covered by the weakest guarantee for a group of two. Raises NotApplicable for a kind without
    :func:`group`.

    Source: McSherry 2009, Theorem 4 (add or remove); replace-one by group privacy.

    >>> from simulator import PureDP
    >>> from simulator.theory import parallel
    >>> parallel([PureDP(0.1), PureDP(0.3)]), parallel([PureDP(0.1), PureDP(0.3)], replace_one=True)
    (PureDP(epsilon=0.3), PureDP(epsilon=0.6))
    """
    parts = [instance("each part", part, Guarantee) for part in listed("guarantees", guarantees)]
    if not parts:
        raise InvalidInput("parallel composition needs at least one guarantee")
    kind = type(parts[0])
    if any(type(part) is not kind for part in parts) or kind not in _ORDERED:
        raise NotApplicable("parallel composition is stated for guarantees of one simple kind")
    if replace_one:
        parts = [group(part, 2) for part in parts]
    columns = zip(*([getattr(part, field.name) for field in fields(part)] for part in parts))
    return kind(*map(max, columns))


_ORDERED = (PureDP, ApproxDP, BoundedRange, ZCDP, GaussianDP)
"""Kinds whose guarantees weaken as any of their parameters grows."""


def amplified_by_sampling(guarantee: Guarantee, rate: float) -> Guarantee:
    """The guarantee of a pure or approximate mechanism on a random sample of the records.

    (ln(1 + q (e^epsilon - 1)), q delta). Condition: each record is kept independently with
    probability q under add-or-remove-one, or a fixed fraction q is drawn without replacement under
    replace-one; which records were drawn stays secret. :class:`SubsampledDP` composes to tighter
    bounds.

    Source: Balle, Barthe and Gaboardi 2018, Theorems 8 and 9.

    >>> from simulator import PureDP
    >>> from simulator.theory import amplified_by_sampling
    >>> round(amplified_by_sampling(PureDP(1.0), rate=0.01).pure_epsilon, 6)
    0.017037
    """
    rate, core = sampling_rate(rate), instance("guarantee", guarantee, Guarantee).core
    if not isinstance(core, PureDP):
        raise NotApplicable(f"subsampling is stated here for pure and approximate, not {guarantee}")
    amplified = amplified_epsilon(core.epsilon, rate)
    if guarantee.leak == 0.0:
        return PureDP(amplified)
    return ApproxDP(amplified, rate * guarantee.leak)


_MOST_DRAWN = 10**6


def sampled_with_replacement(
    guarantee: Guarantee, drawn: int, records: int, copies: int = 1
) -> Guarantee:
    """The guarantee of a pure mechanism on ``drawn`` records, each drawn from all.

    It is (ln(1 + eta (e^(c epsilon) - 1)), sum over k > c of Pr[K = k] delta_k), for any number c
    of ``copies``: K ~ Bin(drawn, 1/records) is how often one record is drawn, eta = Pr[K > 0], and
    delta_k is the delta that a group of k has at c epsilon. With as many copies as records are
    drawn it is pure. Condition: replace-one, and the sample is secret.

    Raises InvalidInput for invalid numbers, NotApplicable unless the guarantee is pure, and for
    more than a million draws.

    Source: Balle, Barthe and Gaboardi 2018, Theorem 10, with the curve of randomized response of
    k epsilon for a group of k.

    >>> from simulator.theory import ApproxDP, sampled_with_replacement
    >>> guarantee = sampled_with_replacement(ApproxDP(0.5, 0.0), drawn=2, records=10)
    >>> round(guarantee.hockey_stick(0.1), 6)
    0.01137
    """
    drawn, records = count("drawn", drawn), count("records", records)
    copies = min(count("copies", copies), drawn)
    if drawn > _MOST_DRAWN:
        raise NotApplicable(f"more than {_MOST_DRAWN:g} draws are too many to enumerate")
    if not isinstance(guarantee.core, PureDP) or guarantee.leak > 0.0:
        raise NotApplicable(f"sampling with replacement is stated here for pure, not {guarantee}")
    from scipy.stats import binom  # slow to import

    epsilon, law = guarantee.core.epsilon, binom(drawn, 1.0 / records)
    covered = copies * epsilon
    amplified = amplified_epsilon(covered, float(law.sf(0)))
    many = np.arange(copies + 1, drawn + 1)
    many = many[law.pmf(many) > 0.0]
    deltas = [PureDP(k * epsilon).hockey_stick(covered) for k in many.tolist()]
    delta = float(law.pmf(many) @ np.array(deltas))
    return PureDP(amplified) if delta == 0.0 else ApproxDP(amplified, delta)


def shuffled(guarantee: Guarantee, reports: int) -> ShuffledDP:
    """The guarantee of ``reports`` shuffled reports of a pure local randomizer.

    Condition: each person sends one report, from a randomizer that keeps the guarantee given the
    reports before it; the senders stay secret. The relation is replace-one.

    Source: Feldman, McMillan and Talwar 2021, Theorem 3.1.

    >>> from simulator import PureDP
    >>> from simulator.theory import shuffled
    >>> shuffled(PureDP(1.0), 1000)
    ShuffledDP(epsilon=1.0, reports=1000)
    """
    instance("guarantee", guarantee, Guarantee)
    if not isinstance(guarantee.core, PureDP) or guarantee.leak > 0.0:
        raise NotApplicable(f"shuffling is stated here for pure local privacy, not {guarantee}")
    return ShuffledDP(guarantee.core.epsilon, reports)


@dataclass(frozen=True)
class Transform:
    """A rule that derives a guarantee from others, and its source.

    >>> from simulator import PureDP
    >>> from simulator.theory import TRANSFORMS
    >>> group, = (each for each in TRANSFORMS if each.name == "group")
    >>> group.apply(PureDP(0.25), 3)
    PureDP(epsilon=0.75)
    """

    name: str
    source: str
    apply: Callable[..., Guarantee]


TRANSFORMS: tuple[Transform, ...] = (
    Transform("group", "Dwork and Roth 2014, Theorem 2.2; Vadhan 2017, Lemma 2.2", group),
    Transform("parallel", "McSherry 2009, Theorem 4", parallel),
    Transform(
        "amplified-by-sampling",
        "Balle, Barthe and Gaboardi 2018, Theorems 8 and 9",
        amplified_by_sampling,
    ),
    Transform(
        "sampled-with-replacement",
        "Balle, Barthe and Gaboardi 2018, Theorem 10",
        sampled_with_replacement,
    ),
    Transform("shuffled", "Feldman, McMillan and Talwar 2021, Theorem 3.1", shuffled),
)
"""Every transform, for listing beside the bounds."""
