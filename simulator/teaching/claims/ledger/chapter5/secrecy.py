"""Properties of DP, chapter 5: delta-additive secrecy, and the name-and-shame mechanism."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Annotated, Any

import numpy as np

from simulator.analysis.estimation import tail_violation
from simulator.data.databases import REPLACE_ONE, Database
from simulator.foundations.knobs import Within
from simulator.foundations.wording import count_of
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import Playing, play
from simulator.teaching.claims.ledger.shared.exact_values import random_pairs
from simulator.teaching.claims.ledger.shared.parameters import Delta, Factor, People, Seed
from simulator.teaching.claims.ledger.theorems.robustness import post_processing
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import worse_experiment
from simulator.teaching.mechanisms.published import NameAndShame
from simulator.theory.guarantees.pure import ApproxDP

Size = Annotated[int, "rows of the database (all combinations are listed)", Within(1, 5)]
Product = Annotated[float, "the privacy parameter is this over n", Within(0.0, 1000.0)]
High = Annotated[float, "the upper of two levels, or what counts as high", Within(0.0, 100.0)]
Published = Annotated[bool, "whether the output names the person"]
Pairs = Annotated[int, "random pairs of laws that are tried", Within(1, 300)]
Group = Annotated[int, "people in the group", Within(1, 1000)]
Useful = Annotated[float, "the advantage from which on an answer is useful", Within(0.0, 1.0)]
Rounds = Annotated[int, "rounds k (all combinations are listed)", Within(1, 5)]
Trials = Annotated[int, "plays of each experiment", Within(1, 6000)]

Law = np.ndarray
_VALUES = (0, 1)
_NOTHING = -1


def name_and_shame(data: tuple[int, ...], delta: float) -> Law:
    """Probabilities of all outputs, shape (3,)*n: nothing, 0 or 1 for every person in turn.

    Source: Properties of DP, chapter 5, equation (9).
    """
    law = np.ones(1)
    for value in data:
        said = [delta if value == said else 0.0 for said in _VALUES]
        law = np.multiply.outer(law, np.array([1.0 - delta, *said]))
    return np.asarray(law[0])


def distance(p: Law, q: Law) -> float:
    """Total variation distance: the least delta of delta-additive secrecy for this pair."""
    return float(np.maximum(p - q, 0.0).sum())


@claim(
    "chapter5-exercise-2-3-i",
    "Exercise 2.3 (i)",
    "Name-and-shame keeps δ-additive secrecy.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def shame_is_additive(*, delta: Delta = 0.05, n: Size = 3, share: Factor = 1.0) -> Finding:
    """All pairs of neighbouring data sets, all outputs."""
    data_sets = list(product(_VALUES, repeat=n))
    worst = max(
        distance(name_and_shame(x, delta), name_and_shame(y, delta))
        for x in data_sets
        for y in data_sets
        if sum(a != b for a, b in zip(x, y)) == 1
    )
    return upper_bound(worst, share * delta, "largest difference of an event's probability")


@claim(
    "chapter5-exercise-2-3-ii-publishes",
    "Exercise 2.3 (ii)",
    "For δ ≫ 1/n name-and-shame publishes a record in the clear with high probability.",
    Verdict.HOLDS,
    wrong={"product": 0.05},
)
def shame_publishes(
    *,
    people: Annotated[int, "people in the database", Within(1, 10_000)] = 10_000,
    product: Product = 10.0,
    high: High = 0.99,
) -> Finding:
    """1 - (1 - delta)^n at delta = product/n."""
    published = -math.expm1(people * math.log1p(-product / people))
    return statement(
        published >= high,
        f"probability {number(published)} at δ = {product:g}/n, n = {people}",
        printed=f"probability at least {high:g}",
    )


@claim(
    "chapter5-exercise-2-3-ii-posteriors",
    "Exercise 2.3 (ii)",
    "On outputs that publish person i, the posteriors with and without i's data are not within "
    "any ε: Theorem 2.1 has no analogue.",
    Verdict.HOLDS,
    wrong={"published": False},
)
def shame_posteriors(*, delta: Delta = 0.3, n: Size = 3, published: Published = True) -> Finding:
    """Posteriors of person 0 under the uniform prior, where x_{-0} has 0 for her value.

    ``published`` = False looks at the outputs that say nothing about her instead.
    """
    data_sets = list(product(_VALUES, repeat=n))
    real = np.array([name_and_shame(x, delta) for x in data_sets])
    default = np.array([name_and_shame((0, *x[1:]), delta) for x in data_sets])
    said_of_her = 2 if published else 0
    worst = 0.0
    for likelihood, hypothetical in zip(
        real[:, said_of_her].reshape(len(data_sets), -1).T,
        default[:, said_of_her].reshape(len(data_sets), -1).T,
    ):
        worst = max(worst, _largest_change(likelihood, hypothetical))
    return statement(
        math.isinf(worst),
        f"largest |ln| of the posteriors' ratio: {number(worst)}",
        printed="no finite ε",
        note="the text refers to Theorem 3.1 here; the chapter's theorem is 2.1",
    )


def _largest_change(likelihood: Law, hypothetical: Law) -> float:
    """Of one output's posteriors, uniform prior; infinite where only one world can give it."""
    if likelihood.sum() == 0.0:
        return 0.0  # an output that the real world cannot give either
    if hypothetical.sum() == 0.0:
        return math.inf
    first, second = likelihood / likelihood.sum(), hypothetical / hypothetical.sum()
    if ((first > 0.0) != (second > 0.0)).any():
        return math.inf
    seen = first > 0.0
    return float(np.abs(np.log(first[seen] / second[seen])).max())


@claim(
    "chapter5-reference-to-theorem",
    "Section 2.1",
    "Additive secrecy does not satisfy an analogue to “Theorem 3.1”.",
    Verdict.FAILS,
    cannot_be_wrong="a cross-reference, read off the text: there is nothing to compute",
    fault=Fault.SLIP,
)
def reference() -> Finding:
    """The chapter's only numbered theorem is 2.1; its lemmas and exercises share the counters."""
    return statement(
        False, "the chapter has no Theorem 3.1", printed="Theorem 3.1", right="Theorem 2.1"
    )


@claim(
    "chapter5-additive-composition",
    "Section 2.1",
    "δ-additive secrecy is closed under adaptive composition: the δs add up.",
    Verdict.HOLDS,
    wrong={"share": 0.6},
)
def additive_composition(
    *, delta: Delta = 0.01, pairs: Pairs = 60, share: Factor = 1.0, seed: Seed = 17
) -> Finding:
    """Random pairs with a random second pair for each first answer; leaks come closest."""
    leak = np.array([1.0 - delta, delta, 0.0])
    other = leak[[0, 2, 1]]
    closest = distance(np.outer(leak, leak), np.outer(other, other)) / (2.0 * delta)
    found = random_pairs(4 * pairs, 3, seed=seed)
    for i in range(pairs):
        (p, q), *second = found[4 * i : 4 * i + 4]
        allowed = distance(p, q) + max(distance(a, b) for a, b in second)
        joint = [p[:, None] * np.array([a for a, _ in second])]
        joint += [q[:, None] * np.array([b for _, b in second])]
        closest = max(closest, distance(*joint) / allowed)
    return upper_bound(closest, share, "δ of both over the sum")


claim(
    "chapter5-additive-postprocessing",
    "Section 2.1",
    "δ-additive secrecy, which is δ(0) ≤ δ, is closed under post-processing.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilon": 0.0, "pure": False},
)(post_processing)


@claim(
    "chapter5-additive-groups",
    "Section 2.1",
    "δ-additive secrecy has a group privacy: kδ for k people.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)
def additive_groups(
    *,
    people: People = 12,
    group: Group = 4,
    pairs: Pairs = 60,
    share: Factor = 1.0,
    seed: Seed = 20,
) -> Finding:
    """Publishing one random row: the chance that it is one of the group; and random chains.

    A chain has a random law at each of the databases between, near the one before.
    """
    rows = [one_row((1,) * i + (0,) * (people - i)) for i in range(group + 1)]
    chains = [[row.ravel() for row in rows]]
    for start, _ in random_pairs(pairs, 4, seed=seed):
        steps = random_pairs(group, 4, seed=seed + len(chains))
        chains.append([start])
        for towards, _ in steps:
            chains[-1].append(0.9 * chains[-1][-1] + 0.1 * towards)
    worst = max(
        distance(chain[0], chain[-1]) / max(distance(p, q) for p, q in pairwise(chain))
        for chain in chains
    )
    return upper_bound(
        worst,
        share * group,
        f"δ of {count_of(group, 'person', 'people')} over δ",
        note=f"{pairs} chains",
    )


def one_row(data: tuple[int, ...], chance: float = 1.0) -> Law:
    """Publish one random row with that chance: (i, x_i), shape (n, 3) with nothing first."""
    law = np.zeros((len(data), 3))
    law[0, 0] = 1.0 - chance
    for i, value in enumerate(data):
        law[i, 1 + value] = chance / len(data)
    return law


@claim(
    "chapter5-additive-useful",
    "Section 2.1",
    "With δ-additive secrecy δ must exceed 1/n for any useful information.",
    Verdict.FAILS,
    wrong={"product": 0.01},
    fault=Fault.SLIP,
)
def additive_useful(
    *, people: People = 40, product: Product = 1.0, useful: Useful = 0.05
) -> Finding:
    """Publishing one random row, with chance ``product``: delta is product/n.

    Its answer tells 0^n from 1^n with advantage n delta, the most that groups of n allow.
    """
    zeros, ones = one_row((0,) * people, product), one_row((1,) * people, product)
    neighbour = one_row((1,) + (0,) * (people - 1), product)
    delta, advantage = distance(zeros, neighbour), distance(zeros, ones)
    return upper_bound(
        advantage,
        useful,
        f"advantage in telling 0^n from 1^n at δ = {number(delta)}, n = {people}",
        printed=f"nothing useful at δ ≤ 1/n = {number(1.0 / people)}",
        right=f"δ = {number(delta)} tells 0^n from 1^n with advantage {number(advantage)}; "
        "useful needs δ of the order of 1/n, and the advantage is at most nδ",
        note="right as an order of magnitude",
    )


@claim(
    "chapter5-additive-composition-played",
    "Section 2.1",
    "k rounds of name-and-shame keep kδ-additive secrecy, and what they lose is the secret itself: "
    "the loss is infinite with probability at most kδ.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.5},
)
def shame_played(
    *,
    delta: Delta = 0.2,
    rounds: Rounds = 3,
    trials: Trials = 1200,
    share: Factor = 1.0,
    seed: Seed = 23,
) -> Finding:
    """Patients are numbered; patient 0 is ill in database 1. Exact value 1 - (1 - delta)^k."""
    others = Database([(1, "ill"), (2, "well")])
    pair = (others.add((0, "well")), others.add((0, "ill")))
    mechanism = NameAndShame(delta)

    def gossip(coins: Any) -> Playing:
        while True:
            yield (*pair, mechanism)

    result = play(gossip, ApproxDP(0.0, delta), rounds, trials, seed=seed, relation=REPLACE_ONE)
    claimed = share * rounds * delta
    return worse_experiment(result, "Pr[loss infinite]", tail_violation, 1e9, claimed)
