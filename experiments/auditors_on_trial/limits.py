"""How good an auditor can be: for a fixed event, in one run, and sequentially.

Nothing here is learned or drawn: the laws are known.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from scipy.stats import binom

from simulator.foundations.errors import InvalidInput

Floats = np.ndarray

REACH = 9.0
"""Standard deviations of a count on each side; the rest has a probability below 1e-15."""


def median_bound(p0: float, p1: float, draws: int, *, delta: float, level: float) -> float:
    """The median of the Clopper-Pearson bound on epsilon from counts of an event known beforehand.

    The bound is ln((lower limit of p0 - delta) / upper limit of p1), each limit at half the level;
    the counts are of ``draws`` independent draws on each input. Exact: a sum over both binomials.
    """
    if not 0.0 <= p1 <= p0 <= 1.0:
        raise InvalidInput(f"the event must have 0 <= p1 <= p0 <= 1, not {p1!r} and {p0!r}")
    x, px = _counts(p0, draws)
    y, py = _counts(p1, draws)
    with np.errstate(divide="ignore"):
        low = np.where(x > 0, scipy.special.betaincinv(x, draws - x + 1, level / 2.0), 0.0)
        high = np.where(
            y < draws,
            scipy.special.betainccinv(y + 1, draws - np.minimum(y, draws - 1), level / 2),
            1,
        )
        logs = np.log(np.maximum(low - delta, 0.0))
    bounds = np.maximum(logs[:, None] - np.log(high)[None, :], 0.0)
    return _median(bounds.ravel(), np.outer(px, py).ravel())


def _counts(p: float, draws: int) -> tuple[Floats, Floats]:
    spread = REACH * math.sqrt(draws * p * (1.0 - p)) + REACH**2
    counts = np.arange(max(0, int(draws * p - spread)), min(draws, int(draws * p + spread)) + 1)
    return counts, binom.pmf(counts, draws, p)


def _median(values: Floats, masses: Floats) -> float:
    order = np.argsort(values)
    total = np.cumsum(masses[order])
    return float(values[order][np.searchsorted(total, 0.5 * total[-1])])


def best_event(
    p0: Floats, p1: Floats, draws: int, *, delta: float, level: float
) -> tuple[int, float]:
    """The index of the event with the largest median bound, and that bound.

    Parameters
    ----------
    p0, p1 : probabilities of events on both inputs, shape (n,), such as the tails of the loss,
        among which is a best one (Neyman and Pearson).
    """
    # the bound at the median counts orders the events; the three first are computed exactly
    x, y = np.round(draws * p0), np.round(draws * p1)
    low = scipy.special.betaincinv(np.maximum(x, 1.0), draws - np.maximum(x, 1.0) + 1, level / 2.0)
    high = scipy.special.betainccinv(y + 1, np.maximum(draws - y, 0.5), level / 2.0)
    with np.errstate(divide="ignore"):
        rough = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
    found = [
        (median_bound(float(p0[i]), float(p1[i]), draws, delta=delta, level=level), int(i))
        for i in np.argsort(-rough)[:3]
    ]
    bound, which = max(found)
    return which, bound


def one_run_bound(
    groups: int, group: int, guessed: float, correct: Floats, *, level: float
) -> float:
    """The median bound on a pure epsilon from one run, by guesses known beforehand.

    The canaries are in independent groups. All of a group are guessed with probability
    ``guessed``, otherwise none; ``correct`` is then the law of the number of right guesses, shape
    (group + 1,). Of r guesses c right give ln(q/(1 - q)), q the lower Clopper-Pearson limit
    (Steinke, Nasr and Jagielski 2023, at delta = 0). Exact, by convolution.
    """
    values, masses = [], []
    count, weight = _counts(guessed, groups)
    for k, mass in zip(count.tolist(), weight.tolist()):
        if mass < 1e-12:
            continue
        right = _power(correct, k)
        c, r = np.arange(len(right)), k * group
        q = np.where(c > 0, scipy.special.betaincinv(np.maximum(c, 1), r - c + 1.0, level), 0.5)
        values.append(np.maximum(scipy.special.logit(q), 0.0))
        masses.append(mass * right)
    return _median(np.concatenate(values), np.concatenate(masses))


def _power(law: Floats, times: int) -> Floats:
    """The law of a sum of so many independent counts, by Fourier transform."""
    size = times * (len(law) - 1) + 1
    found = scipy.fft.irfft(scipy.fft.rfft(law, size) ** times, size) if size > 1 else np.ones(1)
    return np.maximum(np.asarray(found), 0.0)


def interfering_counts(epsilon: float, group: int, margin: float) -> tuple[float, Floats]:
    """How canaries that share one noisy count are guessed; for :func:`one_run_bound`.

    The count of a group has Laplace noise of scale 1/epsilon. All are guessed to be included if it
    is above group/2 + margin, and all excluded if it is below group/2 - margin: the best rule, as
    the posterior log-odds of each rise with the count. Returns the probability of a guess, and the
    law of the number of right ones given a guess.
    """
    sums = np.arange(group + 1)
    masses = binom.pmf(sums, group, 0.5)
    noise = scipy.stats.laplace(scale=1.0 / epsilon)
    above = masses * noise.sf(group / 2.0 + margin - sums)
    right = 2.0 * above  # both guesses are right as often
    return min(float(right.sum()), 1.0), right / right.sum()


def growth(losses: Floats, masses_0: Floats, masses_1: Floats, claimed: float) -> float:
    """The least divergence of the true laws from any pair that keeps a pure claim, in nats.

    It is min KL(P0, Q0) + KL(P1, Q1) over pairs (Q0, Q1) whose ratios are within e^claimed: what
    one draw on each input can add to the expected log evidence against the claim (the reverse
    information projection). So every test that rejects with probability 1, and falsely with
    probability at most a, needs ln(1/a)/growth pairs of draws on average at least (Wald). Exact
    for laws with the finite or infinite ``losses`` ln p0/p1 of these masses, by convex duality in
    one number: q depends on the loss alone.
    """
    with np.errstate(over="ignore"):
        share_0 = scipy.special.expit(losses)  # p0/(p0 + p1)
    share_1 = scipy.special.expit(-losses)
    c = math.exp(claimed)

    def value(first: float) -> float:
        second = 2.0 - first
        # q0 and q1 over p0 + p1: free where the ratio is allowed, else on its edge
        q0, q1 = share_0 / first, share_1 / second
        high, low = q0 > c * q1, q1 > c * q0
        edge_1 = 1.0 / (first * c + second)
        edge_0 = 1.0 / (first + second * c)
        q0 = np.where(high, c * edge_1, np.where(low, edge_0, q0))
        q1 = np.where(high, edge_1, np.where(low, c * edge_0, q1))
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.where(masses_0 > 0.0, masses_0 * np.log(share_0 / q0), 0.0)
            b = np.where(masses_1 > 0.0, masses_1 * np.log(share_1 / q1), 0.0)
        return float(a.sum() + b.sum())

    found = scipy.optimize.minimize_scalar(
        lambda first: -value(first), bounds=(1e-6, 2.0 - 1e-6), method="bounded"
    )
    return max(0.0, -float(found.fun))
