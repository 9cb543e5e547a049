"""An answer that was computed is not described as a sample."""

from __future__ import annotations

from simulator import PureDP, estimate_rare
from simulator.analysis.plots.names import label


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
