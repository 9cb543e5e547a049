"""Sums over spread losses against direct ones, and derivatives by real numbers."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.theory import GaussianLaw
from simulator.theory.laws import base, line_nodes
from simulator.theory.laws.base import log_mean_exp
from simulator.theory.laws.line_nodes import Nodes
from simulator.theory.pld.node_line import ClosedTransform, NodeLine, make_tail
from simulator.theory.pld.smoothed_tail import Folding


def spread_losses():
    rng = np.random.default_rng(43)
    losses = np.sort(rng.normal(size=500)) * 2
    weights = np.exp(-(losses**2) / 3)
    return Nodes(losses, weights / weights.sum(), np.zeros(500), 0.0, 0.0)


def off_from_a_direct_sum(count=700, spacing=0.05):
    """Of a line of many points, the largest error and its bound."""
    nodes = spread_losses()
    found, bound = nodes.on_line(spacing, count)
    angles = np.outer(spacing * np.arange(count), nodes.losses)
    return np.abs(found - np.exp(1j * angles) @ nodes.weights).max(), bound


def test_one_transform_of_spread_losses_is_their_sum():
    error, bound = off_from_a_direct_sum()
    assert error < bound < 1e-12


@pytest.mark.parametrize(("name", "value"), [("_FINER", 3), ("_VARIANCE", 1.0), ("_FINER", 2)])
def test_too_coarse_a_grid_is_seen(monkeypatch, name, value):
    monkeypatch.setattr(line_nodes, name, value)
    error, bound = off_from_a_direct_sum()
    assert error > bound


def test_a_derivative_by_real_numbers_is_that_by_complex_ones(monkeypatch):
    losses, logs = np.linspace(-1.0, 3.0, 40), -(np.linspace(-1.0, 3.0, 40) ** 2)
    theta = np.array([0.0, 0.5, 7.0]) + 1e-25j
    found = log_mean_exp(theta, losses, logs)
    monkeypatch.setattr(base, "_COMPLEX_STEP", 0.0)
    usual = log_mean_exp(theta, losses, logs)
    np.testing.assert_allclose(found.real, usual.real, rtol=1e-14)
    np.testing.assert_allclose(found.imag, usual.imag, rtol=1e-13)


SMOOTHING, EPSILON, THETA, WRONG = 2.0, 0.5, 1.0, 1e-3


class TooSmall(ClosedTransform):
    """The transform of a law, off by WRONG at each point so that every term of delta is less."""

    def nodes(self, theta, omega=0.0):
        return self

    def on_line(self, spacing, count):
        ratios, error = super().nodes(THETA).on_line(spacing, count)
        z = THETA + 1j * spacing * np.arange(count)
        turn = z * (1 + z) * np.exp(1j * z.imag * (EPSILON - SMOOTHING**2 * (THETA + 0.5)))
        return ratios - WRONG * turn / abs(turn), error + WRONG


def test_a_smoothed_line_pays_for_the_errors_of_its_transforms():
    def upper(transform):
        line = NodeLine(((transform, 1),), THETA)
        logs = tuple((other, line.log_value(other)[0] + 1.0) for other in (3.0, -3.0))
        folding = Folding(THETA, 200.0, logs)
        return make_tail(line, EPSILON, folding, points=300, smoothing=SMOOTHING).at(EPSILON).upper

    exact = upper(ClosedTransform(GaussianLaw(1.0)))
    assert exact <= upper(TooSmall(GaussianLaw(1.0))) < 1.01 * exact
