"""Checks on samples and their parameters: shapes, NaN, ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.foundations import validation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of

Floats = NDArray[np.float64]


def signed_losses(losses: ArrayLike, experiment: int) -> Floats:
    """Losses of the experiment whose views were drawn: L in experiment 0, -L in experiment 1.

    Shape (trials,); infinite losses are allowed, NaN is not. Raises InvalidInput.
    """
    experiment = validation.experiment_number(experiment)
    array = _vector(losses, "losses")
    return array if experiment == 0 else -array


def checked_log_weights(log_weights: ArrayLike, trials: int) -> Floats:
    """Natural logarithms of importance weights, shape (trials,); -inf is a weight of zero."""
    array = _vector(log_weights, "log_weights")
    if array.size != trials:
        raise InvalidInput(
            f"log_weights has {count_of(array.size, 'entry', 'entries')} for "
            f"{count_of(trials, 'loss', 'losses')}: give one each"
        )
    if np.any(array == np.inf):
        raise InvalidInput("log_weights holds +inf: an importance weight must be finite")
    return array


def unit_interval_sample(sample: ArrayLike) -> Floats:
    """A sample of a variable in [0, 1]; InvalidInput when a value lies outside."""
    array = _vector(sample, "sample")
    if array.min() < 0.0 or array.max() > 1.0:
        raise InvalidInput(
            f"sample ranges over [{array.min():g}, {array.max():g}]: scale it into [0, 1]"
        )
    return array


def error_level(confidence: float) -> float:
    """1 - confidence, for a confidence strictly between 0 and 1."""
    return 1.0 - validation.open_probability("confidence", confidence)


def numbers(values: ArrayLike, name: str) -> Floats:
    """The values as an array of floats; raises InvalidInput unless they are numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} must be numbers") from None


def _vector(values: ArrayLike, name: str) -> Floats:
    array = numbers(values, name)
    if array.ndim != 1 or array.size == 0:
        raise InvalidInput(
            f"{name} has shape {array.shape}: give one number per trial, at least one"
        )
    if np.isnan(array).any():
        raise InvalidInput(f"{name} holds NaN: find the trial that produced it")
    return array
