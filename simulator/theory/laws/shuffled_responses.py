"""Binary randomized response, shuffled: the exact curve, for every pair of databases.

The histogram of the reports is one number, the count of ones. Let B be the law of the count over
the other people. The count is i with probability w B(i) + (1 - w) B(i - 1) where Alice has 0, and
with (1 - w) B(i) + w B(i - 1) where she has 1, w = 1/(1 + e^-epsilon) being the probability of the
truth. B depends only on how many of the others have 1. Exchanging 0 and 1 exchanges the
experiments, so the worst of all pairs in both directions is the worst in one direction over the
number of others that have 1.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.inverse import walk_outward
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count, positive
from simulator.theory.pld.response_atoms import Floats, LossAtoms, log_responses

MOST_REPORTS = 10**8
_EVERY_PAIR = 128
_FEW_PAIRS = 5
_ALL = 10**4  # up to so many people, every number of untruthful answers is counted
_REACH = 37.0  # in deviations; _LOST is at 36.6 of a Gaussian
_LOST = 1e-290  # products of smaller numbers lose digits


def pairs_tried(reports: int) -> range:
    """The numbers of others that have 1 in the pairs of :func:`response_delta`.

    All pairs up to 128 reports; beyond, the first five, which come close to the worst, and above
    10^4 reports the first, from which these differ by less than a few parts in 10^4.
    """
    others = count("reports", reports) - 1
    if reports <= _EVERY_PAIR:
        return range(others + 1)
    return range(_FEW_PAIRS if reports <= _ALL else 1)


def counts(epsilon: float, reports: int, ones: int) -> tuple[tuple[Floats, Floats], float]:
    """Probabilities of the counts without her 1 and with it, and their relative error.

    Counts whose probability underflows are left out.
    """
    if count("reports", reports) > MOST_REPORTS:
        raise NotApplicable(f"more than {MOST_REPORTS:g} reports are too many to count exactly")
    epsilon, others = positive("epsilon", epsilon), reports - 1
    untrue, error_0 = _untruthful(epsilon, others - ones)
    true, error_1 = _untruthful(epsilon, ones)
    rest = np.convolve(untrue, true[::-1])
    error = error_0 + error_1 + UNIT * (min(ones, others - ones) + 16)
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    lie = 1.0 / (1.0 + math.exp(epsilon))
    here, before = np.r_[rest, 0.0], np.r_[0.0, rest]
    without, with_record = truth * here + lie * before, lie * here + truth * before
    kept = (without > _LOST) & (with_record > _LOST)
    return (without[kept], with_record[kept]), error


@lru_cache(maxsize=256)
def response_atoms(epsilon: float, reports: int, ones: int) -> LossAtoms:
    """The atoms of the loss for the pair in which ``ones`` of the other people have 1.

    Raises NotApplicable for more than a million reports.
    """
    (without, with_record), error = counts(epsilon, reports, ones)
    losses = np.log(without) - np.log(with_record)
    over = losses > 0.0
    order = np.argsort(-losses[over], kind="stable")
    logs = np.log(without[over][order])
    return LossAtoms(
        losses[over][order], logs, error + UNIT * np.abs(logs), 2.0 * error + 4.0 * UNIT * epsilon
    )


def response_delta(local: float, reports: int, epsilon: float) -> Bracket:
    """Bracket of the largest delta(``epsilon``) of the pairs tried; ``local`` is of one report."""
    if epsilon >= local:
        return Bracket(0.0, 0.0)
    found = Bracket.largest(
        response_atoms(local, reports, ones).delta_bracket(epsilon) for ones in pairs_tried(reports)
    )
    return Bracket(found.lower, found.upper + _LOST)


def response_epsilon(local: float, reports: int, delta: float) -> Bracket:
    """Bracket of the largest epsilon(``delta``) of the pairs tried; delta is at least 1e-280."""
    if delta <= 10.0 * _LOST:
        raise NotApplicable(f"delta {delta!r} is too small for the binomial sums")
    low = high = 0.0
    for ones in pairs_tried(reports):
        atoms = response_atoms(local, reports, ones)
        if atoms.delta_bracket(0.0).upper + _LOST <= delta:
            continue
        found = _inverse(atoms, delta, local)
        low, high = max(low, found.lower), max(high, found.upper)
    return Bracket(low, high)


def _inverse(atoms: LossAtoms, delta: float, local: float) -> Bracket:
    """Bracket of epsilon(``delta``). The sums are long: the walks begin beyond the known errors."""
    near, wrong = atoms.epsilon(delta), 2.0 * atoms.loss_error

    def enough(epsilon: float) -> bool:
        return atoms.delta_bracket(epsilon).upper + _LOST <= delta

    def too_little(epsilon: float) -> bool:
        return atoms.delta_bracket(epsilon).lower > delta

    low = walk_outward(near - wrong, -1, 0.0, local, certified=too_little)
    return Bracket(max(0.0, low), walk_outward(near + wrong, +1, 0.0, local, certified=enough))


def _untruthful(epsilon: float, people: int) -> tuple[Floats, float]:
    """Probabilities of the number of untruthful answers of ``people``, and a relative error."""
    if people == 0:
        return np.ones(1), 0.0
    logs, errors = log_responses(epsilon, people, _likely(epsilon, people))
    masses = np.exp(logs)
    seen = masses > _LOST
    error = float(np.max((errors + 2.0 * UNIT * np.abs(logs))[seen]))
    return np.where(seen, masses, 0.0), error


def _likely(epsilon: float, people: int) -> Floats:
    """The numbers of untruthful answers outside of which each has probability below _LOST.

    By Bernstein's inequality; which numbers they are does not matter, as only likelihood ratios of
    neighbouring counts are used.
    """
    if people <= _ALL:
        return np.arange(people + 1, dtype=np.float64)
    mean, cut = people / (1.0 + math.exp(epsilon)), _REACH**2 / 2.0
    reach = cut / 3.0 + math.sqrt(cut**2 / 9.0 + 2.0 * cut * mean)
    first, last = max(0, math.floor(mean - reach)), min(people, math.ceil(mean + reach))
    return np.arange(first, last + 1, dtype=np.float64)
