"""The families of epochs with random allocation, and of balls in bins."""

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import GaussianDP, PureDP, parse_guarantee
from simulator.theory.events import Account, gaussian
from simulator.training import BallsInBinsDP, RandomAllocationDP, random_allocation
from tests.helpers.two_steps import delta_of_two


def test_its_text_and_what_it_admits():
    family = RandomAllocationDP(1.5, 100)
    assert family == parse_guarantee("random-allocation:1.5,100") == parse_guarantee(str(family))
    assert parse_guarantee("random-allocation:1.5,100,4") == RandomAllocationDP(1.5, 100, 4)
    assert all(family.admits(kept) for kept in (RandomAllocationDP(1.6, 100), PureDP(0.0)))
    others = (RandomAllocationDP(1.4, 100), RandomAllocationDP(1.5, 99), GaussianDP(0.01))
    assert not any(family.admits(other) for other in others)
    assert GaussianDP(2.0 / 1.5).admits(RandomAllocationDP(1.5, 100, 4))
    assert not GaussianDP(1.9 / 1.5).admits(RandomAllocationDP(1.5, 100, 4))


def test_its_curve_is_that_of_the_quadrature():
    """One of two steps by quadrature is below it, in both directions."""
    family = RandomAllocationDP(1.0, 2)
    for epsilon in (0.0, 0.5, 1.0):
        exact = max(delta_of_two(epsilon, b) for b in (0, 1))
        assert exact <= family.hockey_stick(epsilon) < 1.002 * exact
    assert (family.zcdp_rho, family.gdp_mu, family.renyi(3.0)) == (0.5, 1.0, 1.5)


@pytest.mark.nightly
def test_curves_of_epochs_are_upper_ends():
    """Several steps cost more than one, and no more than at public places; so do whole bins."""
    one, several = RandomAllocationDP(1.0, 10), RandomAllocationDP(1.0, 10, 3)
    for epsilon in (0.0, 0.5, 2.0):
        public = GaussianDP(several.gdp_mu).hockey_stick(epsilon)
        assert one.hockey_stick(epsilon) < several.hockey_stick(epsilon) < public
        bins = BallsInBinsDP(3.0, 10, 9).hockey_stick(epsilon)
        assert bins == pytest.approx(one.hockey_stick(epsilon), rel=1e-9)
    assert RandomAllocationDP(1.0, 3, 3).hockey_stick(1.0) == GaussianDP(3**0.5).hockey_stick(1.0)
    assert RandomAllocationDP(1e-3, 10).hockey_stick(1.0) == 1.0
    assert RandomAllocationDP(1.0, 10**9).blocks[0][0].steps == 10**7  # of fewer it is larger


@pytest.mark.nightly
def test_epochs_of_the_family_compose_with_certified_ends():
    account = Account().then("random-allocation:1.0,20", 3)
    event = random_allocation(gaussian(1.0), 20, epochs=3)
    for end in ("lower", "upper"):
        found, wanted = (getattr(each.epsilon(1e-5), end) for each in (account, Account(event)))
        assert found == pytest.approx(wanted, rel=1e-9)


def test_balls_in_bins_its_text_and_what_it_admits():
    family = BallsInBinsDP(1.5, 4, 3, (1.0, 0.5))
    assert family == parse_guarantee("balls-in-bins:1.5,4,3,1,0.5") == parse_guarantee(str(family))
    assert parse_guarantee("balls-in-bins:1.5,4,3") == BallsInBinsDP(1.5, 4, 3)
    assert all(family.admits(kept) for kept in (BallsInBinsDP(2.0, 4, 3, (1.0, 0.5)), PureDP(0.0)))
    others = (BallsInBinsDP(1.4, 4, 3, (1.0, 0.5)), BallsInBinsDP(1.5, 4, 3), GaussianDP(0.01))
    assert not any(family.admits(other) for other in others)


def test_balls_in_bins_are_at_most_their_longest_bin():
    """By the matrix itself, with the signs of the terms against those of C."""
    for bins, epochs, c in ((3, 2, (1.0, 0.5, -0.25)), (2, 4, (2.0, 1.0)), (1, 5, (1.0, -1.0))):
        steps = bins * epochs
        matrix = sum(abs(value) * np.eye(steps, k=-lag) for lag, value in enumerate(c))
        longest = max(np.linalg.norm(matrix[:, j::bins].sum(axis=1)) for j in range(bins))
        assert BallsInBinsDP(0.8, bins, epochs, c).gdp_mu == pytest.approx(longest / 0.8)
    found = BallsInBinsDP(1.0, 2, 1, (1.0, 0.9))
    for epsilon in (0.0, 0.5, 1.0):
        curve = max(delta_of_two(epsilon, b, ((1.0, 0.9), (0.0, 1.0))) for b in (0, 1))
        assert curve <= found.hockey_stick(epsilon)


@pytest.mark.parametrize(
    "text",
    ["0,10,1", "1,0,1", "1,10,0", "1,10", "1,10,1,0", "1,1,1,1,0.5", "1,2,2,nan", "1,1e6,1e6"],
)
def test_input_of_balls_in_bins(text):
    with pytest.raises(InvalidInput, match="balls-in-bins"):
        parse_guarantee(f"balls-in-bins:{text}")


@pytest.mark.parametrize("text", ["0,10", "1,0", "1,10,0", "1,10,11", "1,2.5", "nan,10", "1"])
def test_input(text):
    with pytest.raises(InvalidInput, match="random-allocation"):
        parse_guarantee(f"random-allocation:{text}")
