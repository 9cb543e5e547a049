"""DP-SGD, the training of a model on real patients, with a canary among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.adversaries.registry import library
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.training.adversaries.canaries import (
    mislabelled,
    train_allocated,
    train_in_bins,
    train_with,
)
from simulator.training.families import BallsInBinsDP, RandomAllocationDP


@library("dp-sgd", SubsampledGaussianDP, RandomAllocationDP, BallsInBinsDP)
def dp_sgd(family: Guarantee, rounds: int) -> Callable[..., Any]:
    """Train a logistic regression on tumours by DP-SGD, with a mislabelled canary.

    Each round queries the noisy sum of the clipped gradients of a Poisson sample of the patients in
    the Wisconsin breast-cancer table, at the weights that the answers so far have led to. Noise
    multiplier and sampling rate are those of the family, subsampled-gaussian. In the family
    random-allocation a round is an epoch, and each patient is in some of its steps; in
    balls-in-bins it is a whole training, with correlated noise. Alice is an extremely malignant
    record labelled benign: training never fits her, so her clipped gradient has the largest length
    in every step, and her loss is exactly what accountants certify.
    """
    if isinstance(family, RandomAllocationDP):
        return train_allocated(mislabelled(), family.sigma, family.steps, family.selected)
    if isinstance(family, BallsInBinsDP):
        return train_in_bins(
            mislabelled(), family.sigma, family.bins, family.epochs,
            coefficients=family.coefficients,
        )  # fmt: skip
    assert isinstance(family, SubsampledGaussianDP)
    return train_with(mislabelled(), family.sigma, family.rate)
