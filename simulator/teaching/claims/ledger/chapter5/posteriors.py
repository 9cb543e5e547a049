"""Properties of DP, chapter 5: what an attacker concludes, with and without Alice's data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from scipy.stats import binom, dlaplace

from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.exact_values import chance_of_truth
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, Seed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim

Patients = Annotated[int, "patients of the study", Within(1, 2000)]
Agree = Annotated[float, "share of patients in whom smoking and disease agree", Within(0.0, 1.0)]
Least = Annotated[float, "the least change of belief that counts", Within(0.0, 1.0)]
Tolerance = Annotated[float, "what counts as about the same", Within(0.0, 1.0)]

_PEOPLE = 3
_DATA_SETS = np.array(list(product((0, 1), repeat=_PEOPLE)))


def largest_posterior_change(answers: np.ndarray, prior: np.ndarray) -> float:
    """Largest |ln p_{-i}(x|a)/p(x|a)| over all i, a and x with prior mass.

    ``answers`` has Pr[A(x) = a], shape (data sets, answers); ``prior`` shape (data sets,).
    Source: Properties of DP, chapter 5, equations (4) and (5); the default value is 0.
    """
    real = posteriors_of(answers, prior)
    worst = 0.0
    for i in range(_PEOPLE):
        without = answers[with_default(i)]
        hypothetical = posteriors_of(without, prior)
        likely = prior > 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.abs(np.log(hypothetical[likely]) - np.log(real[likely]))
        worst = max(worst, float(np.nanmax(change)))
    return worst


def posteriors_of(answers: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """p(x | a) for every data set and answer, shape (data sets, answers)."""
    joint = answers * prior[:, None]
    with np.errstate(invalid="ignore"):
        return np.asarray(joint / joint.sum(axis=0))


def with_default(i: int) -> np.ndarray:
    """Index of x_{-i} for every data set x: entry i replaced by 0."""
    replaced = _DATA_SETS.copy()
    replaced[:, i] = 0
    return np.asarray(replaced @ (1 << np.arange(_PEOPLE)[::-1]))


def _parity_response(epsilon: float) -> np.ndarray:
    truth, lie = chance_of_truth(epsilon), chance_of_truth(-epsilon)
    odd = _DATA_SETS.sum(axis=1) % 2 == 1
    return np.column_stack([np.where(odd, lie, truth), np.where(odd, truth, lie)])


def chosen_at_random(epsilon: float, seed: int) -> np.ndarray:
    """The exponential mechanism on random scores in [0, 1], which any record may move by 1."""
    scores = np.random.default_rng(seed).random((len(_DATA_SETS), 4))
    weights = np.exp(0.5 * epsilon * scores.round())
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _noisy_count(epsilon: float) -> np.ndarray:
    """The count with geometric noise; answers further off carry no further information.

    Nor has any of them a probability, where ε is large, that a float could hold.
    """
    reach = int(min(30.0, 500.0 / max(epsilon, 1.0)))
    ends = np.arange(-reach, _PEOPLE + reach + 1)
    count = _DATA_SETS.sum(axis=1)
    return np.asarray(dlaplace.pmf(ends[None, :], epsilon, count[:, None]))


def random_priors(count: int, seed: int) -> list[np.ndarray]:
    """Priors on the data sets, with dependent entries."""
    return list(np.random.default_rng(seed).dirichlet(np.full(len(_DATA_SETS), 0.4), size=count))


def _priors(seed: int) -> list[np.ndarray]:
    """Random ones, one under which all three people are alike, and two that make it tight."""
    priors = random_priors(40, seed)
    alike = np.zeros(len(_DATA_SETS))
    alike[[0, -1]] = 0.5
    lopsided = np.zeros(len(_DATA_SETS))
    lopsided[[0b100, 0b110]] = 1e-7, 1.0 - 1e-7
    return [*priors, alike, lopsided, lopsided[::-1]]


@claim(
    "chapter5-theorem-2-1",
    "Theorem 2.1",
    "For every prior, dependent entries included, the posterior with and without person i's data "
    "are within 2ε.",
    Verdict.HOLDS,
    wrong={"factor": 1.0},
)
def posteriors(*, epsilon: Epsilon = 0.4, factor: Factor = 2.0, seed: Seed = 0) -> Finding:
    """Three people, 43 priors, and randomized response on the parity, which attains it.

    Further a noisy count, and forty random mechanisms.
    """
    mechanisms = [_parity_response(epsilon), _noisy_count(epsilon)]
    mechanisms += [chosen_at_random(epsilon, seed + place) for place in range(40)]
    worst = max(
        largest_posterior_change(answers, prior)
        for answers in mechanisms
        for prior in _priors(seed + 31)
    )
    return upper_bound(worst, factor * epsilon, "largest |ln| of the posteriors' ratio")


@dataclass(frozen=True)
class PosteriorStudy:
    """A noisy count of the patients in whom smoking and disease agree.

    Under one hypothesis they agree in half of the patients, under the other in ``agree``; both
    are equally likely beforehand. Alice is one of the patients.
    """

    patients: int
    agree: float
    epsilon: float

    def belief(self, answer: int, with_alice: bool) -> float:
        """Pr[Alice's smoking and disease agree | the answer], her data used or set to a default.

        The default does not agree, so without her data only the others are counted.
        """
        agrees = [(q, self._chance(answer, q, 1 if with_alice else 0)) for q in (0.5, self.agree)]
        differs = [(1.0 - q, self._chance(answer, q, 0)) for q in (0.5, self.agree)]
        for_it, against = (math.fsum(a * b for a, b in side) for side in (agrees, differs))
        return for_it / (for_it + against)

    def _chance(self, answer: int, q: float, alice: int) -> float:
        others = np.arange(self.patients)
        law = binom.pmf(others, self.patients - 1, q)
        return float(law @ dlaplace.pmf(answer - others - alice, self.epsilon))

    @property
    def prior(self) -> float:
        """The belief beforehand."""
        return 0.5 * (0.5 + self.agree)

    @property
    def typical(self) -> int:
        """The answer to be expected where smoking and disease go together."""
        return round(self.patients * self.agree)


@claim(
    "chapter5-first-attempt",
    "A first attempt",
    "Beliefs about Alice cannot stay as they were: a study that tells whether smoking and disease "
    "go together changes them although her data is not even used.",
    Verdict.HOLDS,
    wrong={"agree": 0.5},
)
def first_attempt(
    *, patients: Patients = 100, agree: Agree = 0.8, epsilon: Epsilon = 0.5, least: Least = 0.1
) -> Finding:
    """The belief about her after the typical answer, computed without her data."""
    study = PosteriorStudy(patients, agree, epsilon)
    after = study.belief(study.typical, with_alice=False)
    return statement(
        abs(after - study.prior) >= least,
        f"belief in Alice's disease: {number(study.prior)} before, {number(after)} after a study "
        "without her",
        printed=f"the belief moves by {least:g} or more",
    )


@claim(
    "chapter5-smoking",
    "Smoking and lung disease",
    "The insurer's posterior collapses to “smoking and disease go together” whether or not "
    "Alice's data was used.",
    Verdict.HOLDS,
    wrong={"patients": 3},
)
def smoking(
    *,
    patients: Patients = 100,
    agree: Agree = 0.8,
    epsilon: Epsilon = 0.5,
    tolerance: Tolerance = 0.02,
) -> Finding:
    """Beliefs in both worlds at the typical answer, and their largest ratio over all answers."""
    study = PosteriorStudy(patients, agree, epsilon)
    used, unused = (study.belief(study.typical, with_alice) for with_alice in (True, False))
    worst = max(
        abs(math.log(side(study.belief(a, True)) / side(study.belief(a, False))))
        for a in range(-20, patients + 21, 5)
        for side in (lambda p: p, lambda p: 1.0 - p)
    )
    collapsed = abs(used - unused) <= tolerance and abs(unused - agree) <= tolerance
    return statement(
        collapsed and worst <= 2.0 * epsilon,
        f"{number(study.prior)} before; {number(used)} after with her data, {number(unused)} "
        f"without; |ln ratio| at most {number(worst)} over all answers, 2ε = {2 * epsilon:g}",
        printed=f"both posteriors near {agree:g}",
    )
