"""Mean and variance of the privacy loss of a whole play, with intervals valid at every n.

The losses are bounded in advance by ``reach``. The mean is that of losses scaled into [0, 1]; the
variance is the mean of (L - L')^2/2 over disjoint pairs of independent trials, Hoeffding 1948.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation.betting import betting_interval
from simulator.analysis.estimation.estimate import Estimate
from simulator.engine.outcomes.samples import signed_losses
from simulator.foundations.errors import InvalidInput


def mean_loss(
    losses: ArrayLike, reach: float, experiment: int = 0, confidence: float = 0.95
) -> Estimate:
    """E[L] in experiment 0, E[-L] in experiment 1: a Kullback-Leibler divergence.

    ``losses`` has shape (trials,). Raises InvalidInput where a loss exceeds ``reach``.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import mean_loss
    >>> print(mean_loss(np.random.default_rng(0).uniform(-0.8, 1.0, 200), reach=1.0))
    0.171 [0.0736, 0.271] (95%, betting)
    """
    signed = _within(losses, reach, experiment)
    found = betting_interval(0.5 + 0.5 * signed / reach, confidence)
    lower, upper = (reach * (2.0 * end - 1.0) for end in (found.lower, found.upper))
    value = float(signed.mean())
    error = float(signed.std()) / math.sqrt(max(len(signed) - 1, 1))
    return replace(
        found,
        value=value,
        lower=min(max(lower, 0.0), value),  # a divergence is not negative
        upper=max(upper, value),
        relative_standard_error=error / abs(value) if value else math.inf,
    )


def loss_variance(
    losses: ArrayLike, reach: float, experiment: int = 0, confidence: float = 0.95
) -> Estimate:
    """The variance of L; at least two trials, of shape (trials,).

    Raises InvalidInput where a loss exceeds ``reach``.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import loss_variance
    >>> print(loss_variance(np.random.default_rng(0).uniform(-1.0, 1.0, 200), reach=1.0))
    0.417 [0.324, 0.548] (95%, betting)
    """
    signed = _within(losses, reach, experiment)
    if len(signed) < 2:
        raise InvalidInput("a variance needs two trials")
    pairs = signed[: len(signed) // 2 * 2].reshape(-1, 2)
    scale = 2.0 * reach * reach
    found = betting_interval(0.5 * (pairs[:, 0] - pairs[:, 1]) ** 2 / scale, confidence)
    return replace(
        found, value=scale * found.value, lower=scale * found.lower, upper=scale * found.upper
    )


def _within(losses: ArrayLike, reach: float, experiment: int) -> np.ndarray:
    """The signed losses; rounding beyond the reach is cut off."""
    signed = signed_losses(losses, experiment)
    if not 0.0 < reach < math.inf:
        raise InvalidInput(f"reach must be a positive finite number, not {reach!r}")
    if (np.abs(signed) > reach * (1.0 + 1e-9)).any():
        raise InvalidInput("a loss exceeds its stated reach: the reach is wrong")
    return np.clip(signed, -reach, reach)
