"""What is known comes out of the search, each value from elsewhere."""

from __future__ import annotations

import pytest

from simulator.theory import Composition, GaussianDP, LaplaceLaw, PureDP, bound, compose_laws
from simulator.theory.filters.natural import NaturalFilter
from simulator.theory.filters.sums import SumFilter
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.worst import worst_case


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.5, 10), (2.0, 100), (6.0, 300)])
def test_randomized_response_gives_kairouz_oh_viswanath(epsilon: float, rounds: int) -> None:
    found = worst_case(
        "randomized-response:0.05,randomized-response:0.1",
        epsilon=epsilon,
        rounds=rounds,
        tolerance=1e-12,
    )
    composition = Composition.repeat(PureDP(0.1), rounds)
    exact = bound("kairouz-oh-viswanath-3.3").on(composition).delta(epsilon).value
    assert found.delta.width <= 1e-12 * exact
    assert found.delta.lower * (1 - 1e-11) <= exact <= found.delta.upper * (1 + 1e-11)
    assert found.non_adaptive is not None
    assert found.non_adaptive.lower == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("experiment", [0, 1])
def test_laplace_gives_its_composed_law(experiment: int) -> None:
    found = worst_case(
        "laplace:0.1,laplace:0.2", epsilon=1.0, rounds=30, experiment=experiment, tolerance=1e-3
    )
    exact = compose_laws([(LaplaceLaw(0.2), 30)]).delta(1.0)
    assert found.delta.lower <= exact.upper
    assert exact.lower <= found.delta.upper
    assert found.reached


def test_gaussian_gives_its_closed_form() -> None:
    found = worst_case("gdp:0.1,gdp:0.3", epsilon=1.5, rounds=12, tolerance=1e-3)
    exact = gaussian_delta(0.3 * 12**0.5, 1.5)
    assert found.delta.lower <= exact <= found.delta.upper
    assert found.reached


def test_the_exponential_mechanism_lies_strictly_between() -> None:
    """Dong, Durfee and Rogers 2020: k = 2, width 1, epsilon 0."""
    found = worst_case("exponential:1", epsilon=0.0, rounds=2, tolerance=1e-4)
    assert found.delta.lower == pytest.approx(0.303365, abs=1e-6)
    assert found.delta.lower <= 0.3033655 <= found.delta.upper
    assert found.non_adaptive is not None
    assert found.dominating is not None
    assert found.non_adaptive.lower == pytest.approx(0.288317, abs=1e-6)
    assert found.dominating == pytest.approx(0.322606, abs=5e-6)
    # the policy plays t = 1/2, then 1/4 after +1/2 and 3/4 after -1/2
    policy = found.policy
    node, place = policy.start
    first = int(policy.table[node, place])
    assert policy.labels[first].endswith("@0.5")
    half = round(0.5 / policy.grid.step)
    after = policy.follow[node, first]
    assert policy.labels[policy.table[after, place + half]].endswith("@0.25")
    assert policy.labels[policy.table[after, place - half]].endswith("@0.75")


def test_a_sum_filter_gives_the_composed_law_of_its_budget() -> None:
    found = worst_case("randomized-response:0.1", filter=SumFilter(1.0), epsilon=0.5)
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.1), 10))
    assert found.delta.lower == pytest.approx(exact.delta(0.5).value, rel=1e-11)


class SquaresFilter:
    """A budget for the sum of squared epsilons: no theorem, only a number."""

    initial = 0.0
    monotone = True
    epsilon, delta = 1.0, 1e-6

    def __init__(self, budget: float) -> None:
        self.budget = budget

    def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
        """Admit while the sum stays within the budget."""
        after = state + guarantee.pure_epsilon**2
        admitted = after <= self.budget * (1 + 1e-12)
        return admitted, after if admitted else state


@pytest.mark.nightly
def test_the_gaussian_curves_budget_is_unsound_for_pure_mechanisms() -> None:
    """(1, 1e-6): .05603 fits the Gaussian curve, and is broken; .0546 is a hair below."""
    assert gaussian_delta(0.05603**0.5, 1.0) == pytest.approx(1e-6, rel=2e-3)
    menu = [f"randomized-response:{0.01 * j:.2f}" for j in range(1, 21)]
    broken = worst_case(menu, filter=SquaresFilter(0.05603), epsilon=1.0, seconds=1.0)
    assert broken.verdict == "broken"
    assert broken.delta.lower > 1.2e-6
    nearly = worst_case(menu, filter=SquaresFilter(0.0546), epsilon=1.0, seconds=1.0)
    assert 0.94e-6 < nearly.delta.lower < 1e-6
    assert nearly.delta.upper == pytest.approx(nearly.delta.lower, rel=1e-11)
    assert nearly.verdict == "sound"


def test_gaussians_are_totally_ordered_so_a_budget_of_mu_squared_is_exact() -> None:
    class MuFilter(SquaresFilter):
        def admit(self, state: float, guarantee: Guarantee) -> tuple[bool, float]:
            assert isinstance(guarantee, GaussianDP)
            after = state + guarantee.mu**2
            admitted = after <= self.budget * (1 + 1e-12)
            return admitted, after if admitted else state

    found = worst_case("gdp:0.1,gdp:0.2", filter=MuFilter(0.16), epsilon=1.0, tolerance=3e-3)
    assert found.delta.lower <= gaussian_delta(0.4, 1.0) <= found.delta.upper
    assert found.reached


def test_the_natural_filter_is_overshot_by_two_responses_and_not_by_gaussians() -> None:
    """arXiv 2602.15815's menu at (1, 1e-5): 2.81-fold; Gaussians are totally ordered."""
    filter_ = NaturalFilter(1.0, 1e-5)
    menu = "randomized-response:0.025,randomized-response:0.2"
    found = worst_case(menu, filter=filter_, epsilon=1.0)
    assert found.verdict == "broken"
    assert found.ratio == pytest.approx(2.81, abs=0.005)
    assert found.delta.width <= 1e-11 * found.delta.upper
    assert found.non_adaptive is not None
    assert found.non_adaptive.upper <= 1e-5
    ordered = worst_case(
        "gdp:0.1,gdp:0.2", filter=filter_, epsilon=1.0, tolerance=1e-2, seconds=20.0
    )
    assert ordered.verdict == "sound"
    assert ordered.non_adaptive is not None
    assert ordered.delta.lower <= ordered.non_adaptive.upper * (1 + 1e-9)
