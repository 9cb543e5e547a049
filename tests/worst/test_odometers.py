"""Odometers: the worst moment to stop."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from simulator.foundations.errors import DpcomposeError, NotApplicable
from simulator.theory.filters.odometers import MixtureOdometer
from simulator.theory.guarantees.interface import Guarantee
from simulator.worst import least_odometer, worst_odometer
from tests.worst.brute_force import response


class Hasty:
    """Advanced composition with a constant that is too small, read off at every moment."""

    def __init__(self, delta: float, factor: float = 0.8) -> None:
        self.delta, self.factor, self.squares = delta, factor, 0.0

    def fresh(self) -> Hasty:
        """Start at zero."""
        return Hasty(self.delta, self.factor)

    def spend(self, guarantee: Guarantee) -> None:
        """Add a square."""
        self.squares += guarantee.pure_epsilon**2

    @property
    def epsilon(self) -> float:
        """The reading."""
        outward_layout = 2 * self.squares * math.log(1 / self.delta)
        return self.factor * math.sqrt(outward_layout) + self.squares / 2


def brute(epsilons: tuple[float, ...], rounds: int, odometer: Hasty | MixtureOdometer) -> float:
    """The largest E0[(1 - e^(reading - loss))_+] by plain recursion over plays and stops."""

    def value(left: int, under0: float, under1: float, spent: tuple[float, ...]) -> float:
        running = odometer.fresh()
        for epsilon in sorted(spent):
            running.spend(_pure(epsilon))
        best = max(0.0, under0 - math.exp(running.epsilon) * under1)
        if left:
            for epsilon in epsilons:
                first, second = response(epsilon)
                total = sum(
                    value(left - 1, under0 * p, under1 * q, (*spent, epsilon))
                    for p, q in zip(first, second)
                )
                best = max(best, total)
        return best

    return value(rounds, 1.0, 1.0, ())


def _pure(epsilon: float) -> Guarantee:
    from simulator.theory.guarantees.pure import PureDP

    return PureDP(epsilon)


@pytest.mark.parametrize("odometer", [Hasty(0.2), MixtureOdometer(0.4)])
def test_stopping_at_the_worst_moment(odometer: Hasty | MixtureOdometer) -> None:
    truth = brute((0.4, 0.7), 4, odometer)
    menu = "randomized-response:0.4,randomized-response:0.7"
    found = worst_odometer(menu, odometer, 4, tolerance=1e-9)
    assert found.delta.lower * (1 - 1e-9) <= truth <= found.delta.upper * (1 + 1e-9)
    assert found.policy.value == pytest.approx(found.delta.lower, rel=1e-8, abs=1e-15)


def test_a_hasty_odometer_is_found_broken_and_the_mixture_is_sound() -> None:
    menu = "randomized-response:0.1,randomized-response:0.3"
    hasty = worst_odometer(menu, Hasty(1e-3, 0.6), 40)
    assert hasty.verdict == "broken"
    assert hasty.ratio.lower > 1.0
    mixture = worst_odometer(menu, MixtureOdometer(1e-3), 40)
    assert mixture.verdict == "sound"
    assert mixture.ratio.upper < 1.0
    noisy = worst_odometer("laplace:0.3", MixtureOdometer(1e-3), 40, tolerance=1e-2)
    assert noisy.verdict == "sound"
    assert noisy.delta.lower > 0.0
    few = worst_odometer("laplace:0.3", MixtureOdometer(1e-3), 5)  # it reads the plain sum
    assert few.verdict == "sound"
    assert few.delta.upper < 1e-12  # rounding: no play of five rounds wins


def test_what_an_odometer_cannot_be_asked() -> None:
    with pytest.raises(NotApplicable, match="fixed parameters only"):
        worst_odometer("randomized-response:0.1..0.3", MixtureOdometer(1e-3), 5)
    with pytest.raises(NotApplicable, match="delta grows"):
        worst_odometer("approx:0.1,1e-4", MixtureOdometer(1e-3), 5)
    with pytest.raises(NotApplicable, match="cannot account"):
        worst_odometer("gdp:0.1", MixtureOdometer(1e-3), 5)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"epsilon": "0.5", "delta": 1e-3}, "the odometer: its epsilon must be a number"),
        ({"epsilon": 0.5, "delta": "x"}, "the odometer: its delta must be a number, not 'x'"),
        ({"epsilon": 0.5}, "the odometer raised AttributeError"),
    ],
)
def test_an_odometer_that_does_not_read_numbers(answers: dict[str, object], words: str) -> None:
    odometer = SimpleNamespace(spend=lambda promise: None, **answers)
    odometer.fresh = lambda: odometer
    with pytest.raises(DpcomposeError, match=words):
        worst_odometer("randomized-response:0.5", odometer, 3)


def test_a_least_odometer_of_too_many_readings_is_refused_at_once() -> None:
    with pytest.raises(NotApplicable, match="have 1000001 readings, where 3000 are computed"):
        least_odometer((0.1,), 10**6, 1e-6)
