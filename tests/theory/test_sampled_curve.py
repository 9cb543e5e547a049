"""A curve of sampled Gaussians: which line answers is chosen by an estimate alone."""

import pytest

from simulator.theory import GaussianLaw, PoissonSubsampledLaw
from simulator.theory.pld import lines_query
from simulator.theory.pld.distribution import PLD
from simulator.theory.pld.lines_query import LinesQuery

EPSILONS = (0.05, 0.2, 0.7, 1.5, 2.7, 6.0)


def curve(mu, rate, rounds, tolerance):
    law = PoissonSubsampledLaw(GaussianLaw(mu), rate)
    plds = [PLD.of([(each, rounds)], tolerance) for each in (law, law.reversed())]
    return [pld.delta(epsilon) for pld in plds for epsilon in EPSILONS]


@pytest.mark.parametrize(
    ("mu", "rate", "rounds"),
    [(1.0, 0.01, 1000), (3.0, 0.01, 300), (0.3, 0.1, 100), (1.0, 0.5, 10), (5.0, 0.001, 300)],
)
def test_the_estimate_is_as_good_as_the_plan(mu, rate, rounds, monkeypatch):
    short = curve(mu, rate, rounds, 1e-5)
    monkeypatch.setattr(LinesQuery, "_delta_on_a_line", lambda self, epsilon: None)
    for one, other in zip(short, curve(mu, rate, rounds, 1e-5)):
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
        assert one.width <= max(2.0 * other.width, 1e-5 * one.upper)


def test_a_curve_makes_no_plan(monkeypatch):
    def plan(*_arguments, **_named):
        raise AssertionError("planned")

    monkeypatch.setattr(lines_query.Plan, "of", plan)
    assert all(found.upper > 0.0 for found in curve(1.0, 0.01, 1000, 1e-5))
