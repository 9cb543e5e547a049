"""The ends that `make truths` stores: outside what was computed, and the same on every machine."""

import math

import pytest

from experiments.truths import outward
from simulator.auditing.truths.questions import TrueAnswer


@pytest.mark.parametrize(
    ("ends", "stored"),
    [
        ((10.463659019881337, 10.463659019882847), (10.4636590198, 10.4636590199)),
        ((10.463659019881339, 10.463659019882849), (10.4636590198, 10.4636590199)),
        ((1.144643000753264e-07, 1.1446430007564542e-07), (1.14464300075e-07, 1.14464300076e-07)),
        ((0.0, 5e-324), (0.0, 5e-324)),
        ((0.1, math.inf), (0.1, math.inf)),
        ((1 / 3, 1 / 3), (1 / 3, 1 / 3)),  # exact ends stay one number
    ],
)
def test_ends_have_twelve_digits_outside_their_own(ends, stored):
    found = outward(TrueAnswer("epsilon", 1e-6, *ends))
    assert (found.lower, found.upper) == stored
    assert found.lower <= ends[0] <= ends[1] <= found.upper
