"""Groups of records, and records that are correlated."""

from __future__ import annotations

import math

from simulator.foundations.wording import count_of
from simulator.teaching.claims.findings import ROUNDING, number, statement, upper_bound
from simulator.teaching.claims.model import Finding
from simulator.teaching.games.library.correlated import Chain
from simulator.teaching.games.library.group import worst_chain
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.laws.gaussian import GaussianLaw


def approximate_group(
    *, epsilon: float = 0.3, delta: float = 1e-5, group: int = 5, share: float = 1.0
) -> Finding:
    """The worst of all (epsilon, delta)-DP mechanisms along a chain of databases."""
    claimed = delta * math.expm1(group * epsilon) / math.expm1(epsilon)
    return upper_bound(
        worst_chain(epsilon, delta, group, group * epsilon),
        share * claimed,
        f"δ(kε) of databases {count_of(group, 'step')} apart",
    )


def concentrated_group(*, sigma: float = 2.0, group: int = 5, power: float = 2.0) -> Finding:
    """Gaussian noise of deviation sigma for one record: the Renyi divergence over its order."""
    attained = float(GaussianLaw(group / sigma).log_mgf(1.0)) / 2.0
    return upper_bound(
        attained,
        group**power * 0.5 / sigma**2,
        f"rho of {count_of(group, 'record')}",
        note="of order 2; it is the same at every order",
    )


def gaussian_group(
    *, sigma: float = 2.0, group: int = 5, level: float = 1.0, power: float = 1.0
) -> Finding:
    """Gaussian noise of deviation sigma for one record: δ at one ε, between far databases."""
    return upper_bound(
        GaussianLaw(group / sigma).delta(level),
        GaussianDP(group**power / sigma).hockey_stick(level),
        f"δ({level:g}) of {count_of(group, 'record')}",
    )


def quilts(*, epsilon: float = 0.5, n: int = 8, cases: int = 40, share: float = 1.0) -> Finding:
    """The largest loss of all answers about one record of a chain, at many flips and places.

    Judged at the chain where the bound is nearest to what is attained.
    """
    chains = [
        Chain(epsilon, n, 0.5 * (case + 1) / cases, place)
        for case in range(cases)
        for place in range(1, n + 1)
    ]
    chain = min(chains, key=lambda one: share * one.quilt_bound() / one.worst_answers())
    return upper_bound(
        chain.worst_answers(),
        share * chain.quilt_bound(),
        f"largest loss about record {chain.place} of {n}, flips of {chain.flip:g}",
    )


def one_record_of_chain(*, epsilon: float = 0.5, n: int = 6, flip: float = 0.2) -> Finding:
    """Whether all answers together lose more about one record than the promise for one record."""
    chain = Chain(epsilon, n, flip, (n + 1) // 2)
    lost = chain.worst_answers()
    return statement(
        lost > epsilon * (1.0 + ROUNDING),
        f"largest loss about record {chain.place} of {n}: {number(lost)}, of one answer "
        f"{number(epsilon)}",
    )
