"""Estimates from samples of the privacy loss, with confidence intervals.

Losses are arrays of shape (trials,), always ln Pr[V0=v]/Pr[V1=v]; ``experiment`` says in which of
the two experiments they were drawn, and in experiment 1 every function exchanges the roles.
Intervals are valid at every sample size; a ``guess`` is an asymptotic interval.
"""

from simulator.analysis.estimation.betting import betting_interval, betting_lower, betting_upper
from simulator.analysis.estimation.checks import (
    BoundOutcome,
    BoundVerdict,
    tail_violation,
    violation,
    weighted_violation,
)
from simulator.analysis.estimation.difference import difference
from simulator.analysis.estimation.divergence_band import DeltaBand, delta_band
from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.estimation.estimates import Estimates
from simulator.analysis.estimation.hockey_stick import delta, epsilon
from simulator.analysis.estimation.intervals import (
    clopper_pearson,
    empirical_bernstein,
    proportion_lower,
    proportion_upper,
)
from simulator.analysis.estimation.moment_band import MomentBand, moment_band
from simulator.analysis.estimation.moments import loss_variance, mean_loss
from simulator.analysis.estimation.splitting_estimates import splitting_product, splitting_runs
from simulator.analysis.estimation.tail_estimates import TailBand, tail, tail_band
from simulator.analysis.estimation.trade_off_estimates import EmpiricalTradeOff, empirical_trade_off
from simulator.analysis.estimation.weight_bounds import delta_log_bound, tail_log_bound
from simulator.analysis.estimation.weighted import (
    exchanged_log_weights,
    weighted_delta,
    weighted_lower_limit,
    weighted_tail,
)
from simulator.analysis.estimation.weighted_epsilon import weighted_epsilon

__all__ = [
    "BoundOutcome",
    "BoundVerdict",
    "DeltaBand",
    "EmpiricalTradeOff",
    "Estimate",
    "Estimates",
    "MomentBand",
    "TailBand",
    "betting_interval",
    "betting_lower",
    "betting_upper",
    "clopper_pearson",
    "delta",
    "delta_band",
    "delta_log_bound",
    "difference",
    "empirical_bernstein",
    "empirical_trade_off",
    "epsilon",
    "exchanged_log_weights",
    "loss_variance",
    "mean_loss",
    "moment_band",
    "proportion_lower",
    "proportion_upper",
    "splitting_product",
    "splitting_runs",
    "tail",
    "tail_band",
    "tail_log_bound",
    "tail_violation",
    "violation",
    "weighted_delta",
    "weighted_epsilon",
    "weighted_lower_limit",
    "weighted_tail",
    "weighted_violation",
]
