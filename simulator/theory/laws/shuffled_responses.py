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
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count, positive
from simulator.theory.pld.response_atoms import Floats, LossAtoms, log_responses

MOST_REPORTS = 10**6
_EVERY_PAIR = 128
_FEW_PAIRS = 5
_LOST = 1e-290  # products of smaller numbers lose digits


def pairs_tried(reports: int) -> range:
    """The numbers of others that have 1 in the pairs of :func:`response_delta`.

    All pairs up to 128 reports; beyond, the first five, which come close to the worst.
    """
    others = count("reports", reports) - 1
    return range(others + 1 if reports <= _EVERY_PAIR else _FEW_PAIRS)


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
        low = max(low, atoms.epsilon_bracket(delta, local).lower)
        high = max(high, atoms.epsilon_bracket(delta - _LOST, local).upper)
    return Bracket(low, high)


def _untruthful(epsilon: float, people: int) -> tuple[Floats, float]:
    """Probabilities of the number of untruthful answers of ``people``, and a relative error."""
    if people == 0:
        return np.ones(1), 0.0
    logs, errors = log_responses(epsilon, people, np.arange(people + 1, dtype=np.float64))
    masses = np.exp(logs)
    seen = masses > _LOST
    error = float(np.max((errors + 2.0 * UNIT * np.abs(logs))[seen]))
    return np.where(seen, masses, 0.0), error
