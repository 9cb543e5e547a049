"""Groups of records, and records that are correlated."""

from __future__ import annotations

import math
from typing import Annotated

from simulator.foundations.knobs import Within
from simulator.foundations.wording import count_of
from simulator.teaching.claims.findings import ROUNDING, number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Factor, Power
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.correlated import Chain
from simulator.teaching.games.library.group import worst_chain
from simulator.theory import GaussianDP
from simulator.theory.laws.gaussian import GaussianLaw

Group = Annotated[int, "records of the group", Within(1, 1000)]
Sigma = Annotated[float, "standard deviation of the noise", Within(1e-3, 10.0)]
Level = Annotated[float, "the ε at which δ is taken", Within(0.0, 50.0)]
Cases = Annotated[int, "random cases that are tried", Within(1, 10_000)]
Flip = Annotated[float, "probability that the next record of a chain differs", Within(0.001, 0.5)]


@claim(
    "vadhan2017-lemma-2-2",
    "Lemma 2.2",
    "An (ε, δ)-DP mechanism is (kε, δ(e^{kε}-1)/(e^ε-1))-DP for databases k steps apart.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
)
def approximate_group(
    *, epsilon: Epsilon = 0.3, delta: Delta = 1e-5, group: Group = 5, share: Factor = 1.0
) -> Finding:
    """The worst of all (epsilon, delta)-DP mechanisms along a chain of databases."""
    claimed = delta * math.expm1(group * epsilon) / math.expm1(epsilon)
    return upper_bound(
        worst_chain(epsilon, delta, group, group * epsilon),
        share * claimed,
        f"δ(kε) of databases {count_of(group, 'step')} apart",
    )


@claim(
    "bun2016-proposition-1-9",
    "Proposition 1.9",
    "A rho-zCDP mechanism is k²rho-zCDP for groups of k; ours: Gaussian noise, which attains it.",
    Verdict.HOLDS,
    wrong={"power": 1.0},
)
def concentrated_group(*, sigma: Sigma = 2.0, group: Group = 5, power: Power = 2.0) -> Finding:
    """Gaussian noise of deviation sigma for one record: the Renyi divergence over its order."""
    attained = float(GaussianLaw(group / sigma).log_mgf(1.0)) / 2.0
    return upper_bound(
        attained,
        group**power * 0.5 / sigma**2,
        f"rho of {count_of(group, 'record')}",
        note="of order 2; it is the same at every order",
    )


@claim(
    "dong2022-theorem-2-14",
    "Theorem 2.14",
    "A μ-GDP mechanism is kμ-GDP for groups of k; ours: Gaussian noise, which attains it.",
    Verdict.HOLDS,
    wrong={"power": 0.5},
)
def gaussian_group(
    *, sigma: Sigma = 2.0, group: Group = 5, level: Level = 1.0, power: Power = 1.0
) -> Finding:
    """Gaussian noise of deviation sigma for one record: δ at one ε, between far databases."""
    return upper_bound(
        GaussianLaw(group / sigma).delta(level),
        GaussianDP(group**power / sigma).hockey_stick(level),
        f"δ({level:g}) of {count_of(group, 'record')}",
    )


@claim(
    "song2017-quilts",
    "Markov quilts",
    "A record of a chain is protected as well as a quilt says: ε for each record nearer than the "
    "quilt, and what the quilt's records say about it; ours: ε-DP answers about bits.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def quilts(
    *,
    epsilon: Epsilon = 0.5,
    n: Annotated[int, "records of the chain (all combinations are listed)", Within(1, 10)] = 8,
    cases: Cases = 40,
    share: Factor = 1.0,
) -> Finding:
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


@claim(
    "kifer2011-correlated-records",
    "on correlated records",
    "Where records are correlated, and the adversary knows how, answers that are ε-DP each lose "
    "more than ε about one record; ours: a chain of six bits.",
    Verdict.HOLDS,
    wrong={"flip": 0.5},
)
def one_record_of_chain(
    *,
    epsilon: Epsilon = 0.5,
    n: Annotated[int, "records of the chain (all combinations are listed)", Within(1, 8)] = 6,
    flip: Flip = 0.2,
) -> Finding:
    """Whether all answers together lose more about one record than the promise for one record."""
    chain = Chain(epsilon, n, flip, (n + 1) // 2)
    lost = chain.worst_answers()
    return statement(
        lost > epsilon * (1.0 + ROUNDING),
        f"largest loss about record {chain.place} of {n}: {number(lost)}, of one answer "
        f"{number(epsilon)}",
    )
