from .betting import betting_interval, betting_lower, betting_upper
from .checks import (
    BoundOutcome,
    BoundVerdict,
    tail_violation,
    violation,
    weighted_violation,
)
from .differences import difference
from .divergence_band import DeltaBand, delta_band
from .estimate import Estimate
from .estimates import Estimates
from .hockey_stick import delta, epsilon
from .intervals import (
    clopper_pearson,
    empirical_bernstein,
    proportion_lower,
    proportion_upper,
)
from .moment_bands import MomentBand, moment_band
from .moments import loss_variance, mean_loss
from .splitting_estimates import splitting_runs
from .tail_estimates import TailBand, tail, tail_band
from .trade_off_estimates import EmpiricalTradeOff, empirical_trade_off
from .weight_bounds import delta_log_bound, tail_log_bound
from .weighted import (
    exchanged_log_weights,
    weighted_delta,
    weighted_lower_limit,
    weighted_tail,
)
from .weighted_epsilon import weighted_epsilon

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
