"""The estimates of a result at one point: plain samples, weighted ones, and infinite losses.

``result`` is a :class:`~simulator.analysis.result.Result`, whose methods call these functions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.analysis import ceilings, estimation
from simulator.analysis.estimation.weight_bounds import delta_log_bound, tail_log_bound
from simulator.analysis.leaks import outweighed
from simulator.foundations.errors import NotApplicable, Refusal
from simulator.foundations.ties import require_distinguishable
from simulator.foundations.validation import experiment_number, finite, open_probability, point

if TYPE_CHECKING:
    from simulator.analysis.estimation import Estimate


def tail_at(result: Any, threshold: float, experiment: int, confidence: float) -> Estimate:
    """The tail at one threshold; see ``Result.tail``."""
    threshold, experiment = point("threshold", threshold), experiment_number(experiment)
    open_probability("confidence", confidence)
    rounds = result.specification.rounds
    require_distinguishable(result.specification.family.core.pure_epsilon, rounds)
    if (sample := result.weighted(experiment)) is None:
        return estimation.tail(
            result.known(experiment), threshold, experiment, confidence, rounds=rounds
        )
    bound = result.log_bound(tail_log_bound, experiment, threshold)
    found = estimation.weighted_tail(
        sample, None, threshold, experiment, confidence, rounds=rounds, log_bound=bound,
        ceiling=ceilings.tail_ceiling(result.specification, threshold),
    )  # fmt: skip
    return result.with_leaks(found, experiment)


def delta_at(result: Any, epsilon: float, experiment: int, confidence: float) -> Estimate:
    """The hockey-stick divergence at one epsilon; see ``Result.delta``."""
    epsilon, experiment = point("epsilon", epsilon), experiment_number(experiment)
    open_probability("confidence", confidence)
    rounds = result.specification.rounds
    if (sample := result.weighted(experiment)) is None:
        return estimation.delta(
            result.known(experiment), epsilon, experiment, confidence, rounds=rounds
        )
    bound = result.log_bound(delta_log_bound, experiment, epsilon)
    found = estimation.weighted_delta(
        sample, None, epsilon, experiment, confidence, rounds=rounds, log_bound=bound,
        ceiling=ceilings.delta_ceiling(result.specification, epsilon),
    )  # fmt: skip
    return result.with_leaks(found, experiment)


def epsilon_at(result: Any, delta: float, experiment: int, confidence: float) -> Estimate:
    """The least epsilon at one delta; see ``Result.epsilon``."""
    delta, experiment = finite("delta", delta), experiment_number(experiment)
    open_probability("confidence", confidence)
    if (sample := result.weighted(experiment)) is None:
        found = estimation.epsilon(result.known(experiment), delta, experiment, confidence)
        return ceilings.under_basic_composition(found, result.specification, delta)
    bounded = result.log_bound(delta_log_bound, experiment, 0.0) is not None
    invert = partial(
        estimation.weighted_epsilon, sample, None, experiment=experiment, confidence=confidence,
        log_bound=(lambda e: result.log_bound(delta_log_bound, experiment, e) or 0.0)
        if bounded
        else None,
        rounds=result.specification.rounds,
        ceiling=ceilings.epsilon_ceiling(result.specification, delta),
    )  # fmt: skip
    if (known := result.known_leak(experiment)) > 0.0:
        if known >= delta:
            raise NotApplicable(
                f"no finite epsilon has delta {delta:g}: infinite losses alone have {known:g}"
            )
        return invert(delta - known)
    leak, seen = result.unseen_leak(experiment)
    if why := outweighed(leak, delta, seen):
        raise Refusal(why)
    found = invert(delta)
    if leak == 0.0:
        return found
    with_all = invert(delta - leak)
    found = replace(found, upper=with_all.upper)
    return found.without_value(with_all.no_value) if with_all.no_value else found
