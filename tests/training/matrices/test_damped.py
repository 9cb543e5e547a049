"""Damped normal variables, against quadrature."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from simulator.training.matrices import damped

ROOT = math.sqrt(2 * math.pi)


def by_quadrature(y, s, power):
    def density(x):
        return x**power * math.exp(-0.5 * x * x - math.exp(min(y + s * x, 700))) / ROOT

    # the density falls off steeply above -y/s
    places = sorted({max(-11.0, min(11.0, -y / s + shift)) for shift in (-2 / s, 0.0, 2 / s)})
    return quad(density, -12, 12, points=places, epsabs=1e-300, epsrel=1e-10, limit=500)[0]


@pytest.mark.parametrize("s", [0.1, 0.7, 1.0, 3.3, 10.0])
@pytest.mark.parametrize("y", [-6.0, -0.5, 1.5])
def test_the_normalisation_and_the_mean_of_draws_are_those_of_quadrature(y, s):
    total, first, second = (by_quadrature(y, s, power) for power in range(3))
    log, slope = damped.normalisation(y, s)
    assert math.exp(log) == pytest.approx(total, rel=1e-9)
    assert s * slope == pytest.approx(first / total, rel=1e-7, abs=1e-12)  # Stein's identity
    drawn = damped.draw(np.full(20_000, y), s, np.random.default_rng(2))
    error = math.sqrt((second / total - (first / total) ** 2) / len(drawn))
    assert abs(drawn.mean() - first / total) < 5.5 * error  # false alarm below 1e-6 for all 15


def test_interpolation_keeps_eight_digits():
    curve, places = damped.interpolated(-5.0, 3.0, 2.0), np.linspace(-5.0, 3.0, 997)
    assert np.abs(curve(places) - damped.normalisation(places, 2.0)[0]).max() < 3e-8
