"""A challenge is checked and prepared under the relation that it is played in."""

import pytest

from simulator import Database, Laplace, PureDP
from simulator.adversaries.contract import admit
from simulator.data import ADD_REMOVE, REPLACE_ONE, histogram_query
from simulator.errors import Breach

BOB, CAROL = (Database({name: 1, "others": 3}) for name in ("bob", "carol"))


def test_noise_is_that_of_the_relation():
    """One replaced record moves two numbers of a histogram, one that is added moves one."""
    challenge = BOB, CAROL, Laplace(histogram_query(["bob", "carol"]), 0.2)
    pair = admit(challenge, PureDP(0.2), REPLACE_ONE)
    assert pair.loss((1.0, 0.0)) == pytest.approx(0.2)
    with pytest.raises(Breach, match="the databases are not neighbours under add/remove-one"):
        admit(challenge, PureDP(0.2), ADD_REMOVE)
