"""An answer that was computed is not described as a sample."""

from __future__ import annotations

import math

from simulator import PureDP, estimate_rare, simulate
from simulator.analysis.plots.names import label
from simulator.theory import ApproxDP


def test_an_exact_answer_has_no_confidence():
    found = estimate_rare("double-when-behind", PureDP(0.1), 20, 1000, epsilon=0.5).delta
    assert found.computed
    assert "95%" not in str(found)
    assert "exact" in str(found)


def test_a_sampled_answer_has_one():
    found = estimate_rare(
        "double-when-behind", PureDP(0.1), 20, 4000, epsilon=0.01, method="plain"
    ).delta
    assert not found.computed
    assert "%" in str(found)


def test_a_bound_that_nothing_attains_is_named_an_upper_bound():
    assert label("analytic-gaussian") == "exact, Gaussian"
    assert label("analytic-gaussian", "upper") == "upper bound, Gaussian"
    assert label("basic", "upper") == "basic"


def test_no_epsilon_has_an_upper_end_above_basic_composition():
    cases = ((PureDP(0.2), 4.0), (ApproxDP(0.2, 1e-8), 4.0), (ApproxDP(0.2, 1e-7), None))
    for family, most in cases:
        game = simulate("fixed-worst-case", family, 20, 50, seed=1, progress=False)
        found = game.epsilon(1e-6)
        assert math.isclose(found.upper, most) if most else found.upper == math.inf
        assert found.lower <= found.value <= found.upper
