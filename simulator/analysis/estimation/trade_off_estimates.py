"""The empirical trade-off function: type I against type II error of the optimal test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation import band
from simulator.analysis.estimation.tail_estimates import band_limits
from simulator.engine.outcomes.loss_sample import LossSample, signed_sample
from simulator.engine.outcomes.samples import Floats, error_level, numbers
from simulator.foundations.curves import DrawnTable
from simulator.foundations.errors import InvalidInput
from simulator.foundations.ties import ROUNDS, beyond
from simulator.foundations.validation import whole


@dataclass(frozen=True, kw_only=True, eq=False)
class EmpiricalTradeOff(DrawnTable):
    """Errors of the tests "reject experiment 0 when L <= t", with a simultaneous band.

    All arrays have one entry per threshold, in ascending order, so that type I errors ascend and
    type II errors descend. ``confidence`` is that of both bands together, ``widened`` the largest
    of :class:`~simulator.analysis.estimation.Estimate` at any threshold.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import empirical_trade_off
    >>> losses = np.linspace(-1.0, 1.0, 101)
    >>> curve = empirical_trade_off(losses + 0.5, losses - 0.5, thresholds=[0.0])
    >>> curve.type_one.round(4).tolist(), curve.type_two.round(4).tolist()
    ([0.2574], [0.2475])
    """

    thresholds: Floats
    type_one: Floats
    type_two: Floats
    type_one_lower: Floats
    type_one_upper: Floats
    type_two_lower: Floats
    type_two_upper: Floats
    confidence: float
    method: str = band.METHOD
    widened: float = 0.0

    def drawn(self) -> tuple[str, str, tuple[Floats, Floats, Floats, Floats]]:
        """Type II errors and their ends, by type I error."""
        ends = self.type_two_lower, self.type_two_upper
        return "type I error", "type II error", (self.type_one, self.type_two, *ends)

    def lower(self, type_one: ArrayLike) -> Floats:
        """Lower band of the trade-off function at the given type I errors in [0, 1].

        By Neyman and Pearson the test at t is optimal, so the function at its type I error is its
        type II error; the function descends, so that value bounds all smaller type I errors.
        """
        errors = _errors(type_one)
        place = np.searchsorted(self.type_one_lower, errors, side="left")
        bounds = np.append(self.type_two_lower, 0.0)
        return bounds[place]

    def upper(self, type_one: ArrayLike) -> Floats:
        """Upper band of the trade-off function at the given type I errors in [0, 1].

        Any test bounds the function from above wherever the allowed type I error is at least its
        own; guessing without looking gives 1 - (type I error).
        """
        errors = _errors(type_one)
        place = np.searchsorted(self.type_one_upper, errors, side="right")
        bounds = np.concatenate(([1.0], self.type_two_upper))
        return np.minimum(bounds[place], 1.0 - errors)


def empirical_trade_off(
    losses_0: ArrayLike | LossSample,
    losses_1: ArrayLike | LossSample,
    thresholds: ArrayLike | None = None,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> EmpiricalTradeOff:
    """Trade-off function between the views of experiments 0 and 1.

    ``losses_0`` and ``losses_1``, shapes (trials,), are L = ln Pr[V0=v]/Pr[V1=v] of views drawn in
    experiment 0 and in experiment 1. The test that rejects experiment 0 when L <= t errs with
    Pr0[L <= t] (type I) and Pr1[L > t] (type II). Without ``thresholds`` at most 400 quantiles of
    both samples are used; the band may be read at thresholds chosen from the data. A loss that
    equals a threshold but for rounding is not above it, ``rounds`` as in ``tail``. Half the error
    goes to each sample. Source: Dong, Roth and Su (JRSS B, 2022), Definition 2.1. Raises
    InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import empirical_trade_off
    >>> losses = np.linspace(-1.0, 1.0, 101)
    >>> curve = empirical_trade_off(losses + 0.5, losses - 0.5, thresholds=[-0.5, 0.0, 0.5])
    >>> curve.type_one.round(4).tolist(), curve.type_two.round(4).tolist()
    ([0.0099, 0.2574, 0.505], [0.495, 0.2475, 0.0])
    """
    first, second = signed_sample(losses_0, 0), signed_sample(losses_1, 0)
    points = _quantiles(first, second) if thresholds is None else _sorted(thresholds)
    alpha = error_level(confidence) / 2.0
    least = beyond(points, whole("rounds", rounds))
    few, many = first.count_above(least)
    at_least = first.trials - many
    at_most = at_least if few is many else first.trials - few
    type_one_lower, type_one_upper, wider_one = band_limits(at_least, at_most, first.trials, alpha)
    missed, most_missed = second.count_above(least)
    type_two_lower, type_two_upper, wider_two = band_limits(
        missed, most_missed, second.trials, alpha
    )
    return EmpiricalTradeOff(
        thresholds=points,
        type_one=(at_least + at_most) / (2 * first.trials),
        type_two=(missed + most_missed) / (2 * second.trials),
        type_one_lower=type_one_lower,
        type_one_upper=type_one_upper,
        type_two_lower=type_two_lower,
        type_two_upper=type_two_upper,
        confidence=confidence,
        widened=float(max(wider_one.max(), wider_two.max())),
    )


def _quantiles(first: LossSample, second: LossSample, points: int = 100) -> Floats:
    """Thresholds spread evenly in rank and, toward the ends, in the logarithm of the rank."""
    picked = []
    for sample in (first, second):
        last = sample.trials - 1
        geometric = np.geomspace(1, sample.trials, points).astype(np.int64) - 1
        linear = np.linspace(0, last, points).astype(np.int64)
        picked.append(sample.at_ranks(np.concatenate((geometric, last - geometric, linear))))
    distinct = np.unique(np.concatenate(picked))
    return distinct[np.linspace(0, distinct.size - 1, min(distinct.size, 400)).astype(np.intp)]


def _sorted(thresholds: ArrayLike) -> Floats:
    points = np.sort(np.atleast_1d(numbers(thresholds, "thresholds")))
    if points.ndim != 1 or points.size == 0 or np.isnan(points).any():
        raise InvalidInput("thresholds must be a non-empty list of numbers without NaN")
    return points


def _errors(type_one: ArrayLike) -> Floats:
    errors = numbers(type_one, "type I errors")
    if not np.all((errors >= 0.0) & (errors <= 1.0)):
        raise InvalidInput("type I errors must lie in [0, 1]")
    return errors
