"""Ceilings lie above exact values, of any adversary, in both experiments."""

import math

import pytest
from scipy.stats import norm

from simulator import PureDP
from simulator.adversaries.registry import make
from simulator.analysis.ceilings import delta_ceiling, epsilon_ceiling, tail_ceiling
from simulator.analysis.rare import enumerate_states
from simulator.engine.specification import Specification
from simulator.theory import ApproxDP, GaussianDP
from simulator.theory.filters.sums import SumFilter
from simulator.theory.guarantees.bounded_range import BoundedRange

ROUNDS = 12
FAMILIES = [PureDP(0.3), PureDP(1.5), ApproxDP(0.3, 1e-3), BoundedRange(0.5)]
"""The worst case of each is enumerated; of a bounded range randomized response of half of it."""


@pytest.mark.sampled(n=12)
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("name", ["fixed-worst-case", "feign-retreat", "double-when-behind"])
def test_no_exact_value_passes_its_ceiling(name, family, b):
    played = PureDP(0.25) if isinstance(family, BoundedRange) else family
    rule = make(name, played, ROUNDS)
    s = Specification(rule, family, ROUNDS, 10)
    graph = enumerate_states(s, b)
    most = ROUNDS * family.pure_epsilon if isinstance(family, PureDP) else ROUNDS * 0.5
    for share in (0.0, 0.05, 0.3, 0.7, 0.95):
        epsilon = share * most
        delta = graph.delta(epsilon)
        assert delta <= delta_ceiling(s, epsilon) * (1 + 1e-9)
        assert graph.tail(epsilon) <= tail_ceiling(s, epsilon) * (1 + 1e-9)
        if 0.0 < delta < 1.0:
            assert graph.epsilon(delta) <= epsilon_ceiling(s, delta) + 1e-9


@pytest.mark.parametrize("threshold", [5e-324, 1e-322, 1e-310])
def test_a_threshold_beside_zero_has_a_ceiling(threshold):
    s = Specification(make("fixed-worst-case", PureDP(0.3), ROUNDS), PureDP(0.3), ROUNDS, 10)
    assert enumerate_states(s, 0).tail(threshold) <= tail_ceiling(s, threshold) <= 1.0


@pytest.mark.parametrize("family", FAMILIES[:3], ids=str)
def test_the_worst_case_attains_its_ceiling(family):
    """A ceiling that is far above the worst case would be of no use."""
    s = Specification(make("fixed-worst-case", family, ROUNDS), family, ROUNDS, 10)
    graph = enumerate_states(s, 0)
    for epsilon in (0.5, 1.5):
        assert delta_ceiling(s, epsilon) == pytest.approx(graph.delta(epsilon), rel=1e-6)
        assert tail_ceiling(s, epsilon) < 10.0 * graph.tail(epsilon)


def test_gaussian_mechanisms_against_the_textbook():
    """k mechanisms of mu are one of mu sqrt(k), whose loss is normal."""
    s = Specification(make("fixed-worst-case", GaussianDP(0.4), 9), GaussianDP(0.4), 9, 10)
    mu = 0.4 * math.sqrt(9)
    for epsilon in (0.5, 3.0, 8.0):
        tail = norm.sf((epsilon - mu**2 / 2) / mu)
        delta = tail - math.exp(epsilon) * norm.sf((epsilon + mu**2 / 2) / mu)
        assert delta * (1 - 1e-9) <= delta_ceiling(s, epsilon) <= 1.0001 * delta
        assert tail <= tail_ceiling(s, epsilon) <= 30.0 * tail


def test_what_a_filter_promises_is_a_ceiling():
    rule, family = make("fixed-worst-case", PureDP(0.3), 40), PureDP(0.3)
    for b in (0, 1):
        s = Specification(rule, family, 40, 10, filter=SumFilter(1.0))
        graph = enumerate_states(s, b)
        assert delta_ceiling(s, 1.0) == 0.0
        assert epsilon_ceiling(s, 1e-9) == 1.0
        for epsilon in (0.2, 0.5, 0.89):
            assert graph.delta(epsilon) <= delta_ceiling(s, epsilon)
            assert graph.tail(epsilon) <= tail_ceiling(s, epsilon)


def test_at_and_below_zero_a_tail_may_be_anything():
    s = Specification(make("fixed-worst-case", PureDP(0.3), 4), PureDP(0.3), 4, 10)
    assert tail_ceiling(s, 0.0) == tail_ceiling(s, -1.0) == 1.0
    assert delta_ceiling(s, -0.1) == 1.0
