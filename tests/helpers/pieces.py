"""Mechanisms whose continuous answers are cut into pieces, and how the tests ask them."""

from simulator import Challenge, Gaussian, GaussianDP, Geometric, Laplace, PureDP
from simulator.adversaries.people import ALICE, EVERYONE, WITHOUT_ALICE

PAIR = (WITHOUT_ALICE, EVERYONE)


def ask(mechanism):
    return Challenge(*PAIR, mechanism)


LINES = {
    "Laplace": (Laplace(ALICE, 0.7), PureDP(1.0)),
    "Gaussian": (Gaussian(ALICE, 1.3), GaussianDP(1.0)),
    "geometric": (Geometric(ALICE, 0.7), PureDP(1.0)),
}
