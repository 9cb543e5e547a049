"""Zhang 2020, lecture 7, part 2: what is not promised, linkage, and how bad a large ε may be."""

from __future__ import annotations

import math
from collections import Counter
from typing import Annotated

import numpy as np
from scipy.stats import dlaplace

from simulator.data import datasets
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.chapter5.posteriors import first_attempt
from simulator.teaching.claims.ledger.shared.exact_values import random_pairs
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, People, Seed
from simulator.teaching.claims.ledger.theorems.divergences import advantage
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw

Prior = Annotated[float, "belief beforehand, a probability", Within(0.0, 1.0)]
Pairs = Annotated[int, "random pairs of laws that are tried", Within(1, 1500)]
Decimals = Annotated[int, "decimals to which measures are known", Within(0, 6)]
Noisy = Annotated[bool, "whether noise is added to the counts"]
Scale = Annotated[float, "scale of the noise", Within(1e-6, 1e9)]
Bits = Annotated[int, "bits of Alice's record (all combinations are listed)", Within(1, 5)]
KnowsKey = Annotated[bool, "whether the adversary knows the one-time pad"]

claim(
    "zhang2020-secrets-may-be-inferred",
    "part 2, What differential privacy does not promise",
    "That one's secrets remain secret is not promised: a study can reveal them although one took "
    "no part.",
    Verdict.HOLDS,
    wrong={"agree": 0.5},
    given={"epsilon": 0.1},
)(first_attempt)


@claim(
    "zhang2020-no-privacy-where-none",
    "part 2, What differential privacy does not promise",
    "No privacy is created where there was none: who knows a fact beforehand still knows it.",
    Verdict.HOLDS,
    wrong={"epsilon": 12.0},
)
def known_before(
    *, epsilon: Epsilon = 1.0, prior: Prior = 0.999, pairs: Pairs = 300, seed: Seed = 41
) -> Finding:
    """The least belief in a true fact after any answer of random mechanisms within epsilon.

    An answer may also mislead, by a factor of e^epsilon in the odds at most.
    """
    truth = randomized_response(epsilon).sf(0.0)
    found = [(np.array([truth, 1 - truth]), np.array([1 - truth, truth]))]
    found += random_pairs(pairs, 5, seed=seed, epsilon=epsilon)
    least = min(float((prior * p / (prior * p + (1 - prior) * q)).min()) for p, q in found)
    return statement(
        least > 0.99,
        f"a belief of {prior:g} stays above {number(least)} whatever is answered",
        note=f"ε = {epsilon:g}",
    )


claim(
    "zhang2020-participation",
    "part 2, What differential privacy does not promise",
    "What is ensured is that participation itself is not disclosed: who guesses it from even odds "
    "is right with probability at most e^ε/(1+e^ε), an advantage of tanh(ε/2).",
    Verdict.HOLDS,
    wrong={"factor": 0.9},
)(advantage)


@claim(
    "zhang2020-linkage",
    "part 2, Qualitative Properties of DP",
    "Linkage attacks are neutralised, whatever other tables the attacker holds.",
    Verdict.NOT_TIGHT,
    wrong={"noisy": False},
)
def linkage(*, epsilon: Epsilon = 1.0, decimals: Decimals = 1, noisy: Noisy = True) -> Finding:
    """569 patients: the attacker has a target's name and two of her cell's measures.

    In a table without names the measures reveal the diagnosis of everyone whose measures
    are unique. From the diagnoses counted for each value of the measures, with geometric noise of
    ε/2 in either count, the best guess about a person is right with probability (1 + distance)/2 at
    most, although the attacker knows all the other patients' rows too.
    """
    columns = ["mean_radius", "mean_texture", "diagnosis"]
    keys = Counter(
        tuple(round(float(measure), decimals) for measure in record[:2])  # type: ignore[index]
        for record in datasets.load("breast_cancer", columns)
    )
    people = keys.total()
    linked = sum(times == 1 for times in keys.values()) / people
    answers = np.arange(-200, 202)
    one, other = (dlaplace.pmf(answers - c, epsilon / 2) for c in (0, 1))
    distance = float(np.maximum(np.outer(other, one) - np.outer(one, other), 0.0).sum())
    limit = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    right = (1.0 + distance) / 2.0 if noisy else linked + (1.0 - linked) / 2.0
    return upper_bound(
        right,
        limit,
        "probability of a right guess",
        note=f"without noise {100 * linked:.1f}% of {people} patients are linked to their "
        "diagnosis by two measures",
    )


@claim(
    "zhang2020-large-epsilon-contrived",
    "part 2, All Small Epsilons Are Alike",
    "A large ε may be due to neighbouring databases that are terribly contrived.",
    Verdict.HOLDS,
    wrong={"scale": 1e4},
)
def contrived(*, scale: Scale = 0.5) -> Finding:
    """The median of 569 patients' cell radii, in [0, 50], with Laplace noise of that scale.

    The largest loss when a patient's radius becomes 0 or 50, and that of two clusters 50 apart.
    """
    radii = sorted(float(r[0]) for r in datasets.load("breast_cancer", ["mean_radius"]))  # type: ignore[index]
    middle = len(radii) // 2
    moved = max(radii[middle + 1] - radii[middle], radii[middle] - radii[middle - 1])
    real, worst = moved / scale, 50.0 / scale
    return statement(
        real < 0.1 < 10.0 < worst,
        f"the loss is at most {number(real)} next to the patients' table, {number(worst)} on a "
        "contrived pair",
    )


@claim(
    "zhang2020-large-epsilon-auxiliary",
    "part 2, All Small Epsilons Are Alike",
    "With a large ε the adversary may lack the auxiliary information to recognise that a revealing "
    "output has occurred.",
    Verdict.HOLDS,
    wrong={"knows_key": True},
)
def lacks_key(*, bits: Bits = 3, knows_key: KnowsKey = False) -> Finding:
    """Alice's record of some bits is published under a one-time pad.

    With the pad the answer reveals it; without, the answers on both databases have one law.
    """
    size = 1 << bits
    records = (0, size - 1)  # what database 0 and database 1 hold of her
    views = np.zeros((2, size, size))  # [b, answer, key if it is known]
    for b, record in enumerate(records):
        for key in range(size):
            views[b, record ^ key, key if knows_key else 0] += 1.0 / size
    law = FiniteLaw.from_probabilities(views[0].ravel(), views[1].ravel())
    return statement(
        law.delta(0.0) <= 1e-12,
        f"advantage {number(law.delta(0.0))} "
        f"{'with' if knows_key else 'without'} the pad of {bits} bits",
    )


@claim(
    "zhang2020-large-epsilon-revelation",
    "part 2, All Small Epsilons Are Alike",
    "A failure to be private at a small ε may be as bad as the revelation of the entire database.",
    Verdict.HOLDS,
    wrong={"epsilon": 1.0},
)
def revelation(*, epsilon: Epsilon = 12.0, people: People = 100) -> Finding:
    """Randomized response of every person's bit: the chance that all answers are true."""
    whole = randomized_response(epsilon).sf(0.0) ** people
    return statement(
        whole > 0.99,
        f"the bits of all {people} people are read off with probability {number(whole)} at "
        f"ε = {epsilon:g}",
    )
