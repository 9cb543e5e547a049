"""Mechanisms whose continuous answers are cut into pieces, as challenges about Alice."""

from simulator import Gaussian, Laplace, PureDP
from simulator.adversaries import Challenge
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Geometric
from simulator.theory import GaussianDP

PAIR = (WITHOUT_ALICE, EVERYONE)


def challenge(mechanism):
    return Challenge(*PAIR, mechanism)


LINES = {
    "Laplace": (Laplace(ALICE, 0.7), PureDP(1.0)),
    "Gaussian": (Gaussian(ALICE, 1.3), GaussianDP(1.0)),
    "geometric": (Geometric(ALICE, 0.7), PureDP(1.0)),
}
