from .betting import (
    betting_interval as betting_interval,
    betting_lower as betting_lower,
    betting_upper as betting_upper,
)
from .checks import (
    BoundOutcome as BoundOutcome,
    BoundVerdict as BoundVerdict,
    tail_violation as tail_violation,
    violation as violation,
    weighted_violation as weighted_violation,
)
from .differences import difference as difference
from .divergence_band import (
    DeltaBand as DeltaBand,
    delta_band as delta_band,
)
from .estimate import Estimate as Estimate
from .estimates import Estimates as Estimates
from .hockey_stick import (
    delta as delta,
    epsilon as epsilon,
)
from .intervals import (
    clopper_pearson as clopper_pearson,
    empirical_bernstein as empirical_bernstein,
    proportion_lower as proportion_lower,
    proportion_upper as proportion_upper,
)
from .moment_bands import (
    MomentBand as MomentBand,
    moment_band as moment_band,
)
from .moments import (
    loss_variance as loss_variance,
    mean_loss as mean_loss,
)
from .splitting_estimates import splitting_runs as splitting_runs
from .tail_estimates import (
    TailBand as TailBand,
    tail as tail,
    tail_band as tail_band,
)
from .trade_off_estimates import (
    EmpiricalTradeOff as EmpiricalTradeOff,
    empirical_trade_off as empirical_trade_off,
)
from .weight_bounds import (
    delta_log_bound as delta_log_bound,
    tail_log_bound as tail_log_bound,
)
from .weighted import (
    exchanged_log_weights as exchanged_log_weights,
    weighted_delta as weighted_delta,
    weighted_lower_limit as weighted_lower_limit,
    weighted_tail as weighted_tail,
)
from .weighted_epsilon import weighted_epsilon as weighted_epsilon

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
