"""The filter of Gaussian rounds: its budget is exact, and no adaptive choice changes it."""

import pytest

from simulator.errors import NotApplicable
from simulator.theory import BoundedRange, GaussianDP, parse_filter
from simulator.worst import worst_case

DELTA = 1e-6


class SquaresOfMu:
    """Admit while mu^2 adds up to at most a budget; states are hundredths."""

    initial = 0

    def __init__(self, mu):
        self.most = round(100 * mu * mu)

    def admit(self, state, guarantee):
        spent = state + round(100 * guarantee.gdp_mu**2)
        return spent <= self.most, spent


def test_gaussians_lose_what_one_of_their_sum_of_squares_does():
    """The largest sound budget of mu^2 is exact: no adaptive choice of sigma changes it."""
    mu = 0.5
    found = worst_case("gdp:0.2,gdp:0.3", filter=SquaresOfMu(mu), epsilon=1.0, seconds=4)
    exact = GaussianDP(mu).hockey_stick(1.0)
    assert found.delta.lower <= exact * (1 + 1e-9)
    assert found.delta.upper == pytest.approx(exact, rel=0.05)
    wider = worst_case("gdp:0.2,gdp:0.3", filter=SquaresOfMu(0.6), epsilon=1.0, seconds=4)
    assert wider.delta.lower > exact


def test_the_gaussian_filter_is_exact():
    filter_ = parse_filter("gaussian:1,1e-6")
    assert parse_filter(str(filter_)) == filter_
    assert filter_.mu**2 == pytest.approx(0.05603, rel=1e-3)
    curve = GaussianDP(filter_.mu).hockey_stick
    assert curve(1.0) <= 1e-6 < GaussianDP(filter_.mu * (1 + 1e-9)).hockey_stick(1.0)
    running = filter_.fresh()
    for _ in range(4):
        running.spend(GaussianDP(filter_.mu / 2 * (1 - 1e-12)))
    assert not running.admits(GaussianDP(1e-4))
    assert filter_.price(BoundedRange(0.1))[0] == BoundedRange(0.1).gdp_mu
    menu = "gdp:0.1,gdp:0.2"
    found = worst_case(menu, filter=filter_, epsilon=1.0, seconds=2, tolerance=0.2)
    assert 0.1 * DELTA < found.delta.lower <= DELTA


@pytest.mark.parametrize("name", ["gaussian", "residue", "clt"])
def test_a_delta_below_what_doubles_hold_is_refused_in_one_line(name):
    with pytest.raises(NotApplicable, match="for a delta from 1e-300"):
        parse_filter(f"{name}:1,1e-310").fresh()
    assert parse_filter("gaussian:1,1e-290").mu < parse_filter("gaussian:1,1e-6").mu
