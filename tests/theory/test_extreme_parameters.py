"""Where parameters reach the ends of the floats: the right answer, or one clear line."""

import warnings

import pytest

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory import (
    ApproxDP,
    Composition,
    PureDP,
    bound,
    bounds_for,
)
from simulator.theory.laws import LaplaceLaw
from simulator.theory.pld import compose_laws


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- leaks and deltas ---------------------------------------------------------------------------


def test_leaks_far_beyond_the_total_are_refused():
    for asked in bounds_for(Composition.repeat(ApproxDP(50.0, 0.5), 10**6)):
        with pytest.raises(NotApplicable, match="the rounds' own deltas"):
            asked.epsilon(1e-6)


def test_denormal_deltas_are_refused_by_every_bound():
    for asked in bounds_for(Composition.repeat(PureDP(0.1), 10)):
        for delta in (5e-324, 1e-320, 9e-301):
            with pytest.raises(InvalidInput, match="1e-300"):
                asked.epsilon(delta)
        assert asked.epsilon(1e-300).value >= 0.0
    with pytest.raises(InvalidInput, match="1e-300"):
        compose_laws([(LaplaceLaw(0.1), 10)]).epsilon(1e-320)


def test_a_delta_that_leaks_leave_denormal_is_refused():
    asked = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(ApproxDP(0.1, 9.999e-301), 1))
    with pytest.raises(NotApplicable, match="leave only"):
        asked.epsilon(1e-300)
