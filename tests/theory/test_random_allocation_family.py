"""The family of epochs with random allocation."""

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import GaussianDP, PureDP, RandomAllocationDP, parse_guarantee
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


def test_its_curve_is_no_more_than_of_public_places():
    """One of two steps by quadrature is below it, in both directions."""
    family = RandomAllocationDP(1.0, 2)
    for epsilon in (0.0, 0.5, 1.0):
        assert max(delta_of_two(epsilon, b) for b in (0, 1)) <= family.hockey_stick(epsilon)
    assert (family.zcdp_rho, family.gdp_mu, family.renyi(3.0)) == (0.5, 1.0, 1.5)


@pytest.mark.parametrize("text", ["0,10", "1,0", "1,10,0", "1,10,11", "1,2.5", "nan,10", "1"])
def test_input(text):
    with pytest.raises(InvalidInput, match="random-allocation"):
        parse_guarantee(f"random-allocation:{text}")
