"""The registry, and every bound's two directions against each other and against the exact curve."""

import math

import pytest
from scipy.stats import norm

from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.theory import (
    ZCDP,
    ApproxDP,
    Bound,
    Composition,
    GaussianDP,
    PureDP,
    all_bounds,
    bound,
    bounds_for,
)
from simulator.theory.bounds.base import needs_reach
from simulator.theory.outward import above


def test_names_are_unique_and_sources_are_stated():
    names = [entry.name for entry in all_bounds()]
    assert len(set(names)) == len(names)
    assert all(entry.source and entry.__doc__ for entry in all_bounds())
    assert all(bound(name).name == name for name in names)


def test_an_unknown_name_is_met_with_the_nearest():
    with pytest.raises(InvalidInput, match="advanced"):
        bound("advancd")


def test_a_failing_condition_is_named():
    gaussian = Composition.repeat(GaussianDP(1.0), 3)
    assert "gdp:1.0" in (bound("basic").why_not(gaussian) or "")
    with pytest.raises(NotApplicable, match=r"gdp:1\.0"):
        bound("basic").on(gaussian)


class Written(Bound):
    """A bound of a user, with one formula of two."""

    name, source = "written", "none"

    def _why_not(self, core):
        return None

    def _epsilon(self, core, delta):
        return "0.1"


class WrittenWhole(Written):
    """With both."""

    _delta = Written._epsilon


def test_a_formula_that_is_missing_or_returns_no_number_is_named():
    rounds = Composition.repeat(PureDP(0.1), 10)
    with pytest.raises(InvalidInput, match=r"written needs a formula _delta\(self, core, epsilon"):
        Written().on(rounds)
    with pytest.raises(Breach, match=r"of the bound written returned '0\.1', no number"):
        WrittenWhole().on(rounds).delta(0.5)
    with pytest.raises(Breach, match="no number"):
        WrittenWhole().on(rounds).epsilon(0.5)


def test_composition_is_a_multiset():
    one = Composition.of((PureDP(0.1), 2), (PureDP(0.2), 3), (PureDP(0.1), 1))
    two = Composition.repeat(PureDP(0.2), 3) + Composition.repeat(PureDP(0.1), 3)
    assert one == two
    assert one.rounds == 6
    assert str(one) == "3 x pure:0.1 + 3 x pure:0.2"


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True])
def test_rounds_must_be_whole_and_positive(rounds):
    with pytest.raises(InvalidInput, match="rounds"):
        Composition.repeat(PureDP(0.1), rounds)


def test_no_rounds_at_all_is_refused():
    with pytest.raises(InvalidInput, match="at least one"):
        Composition.of()


@pytest.mark.parametrize("epsilon", [-0.1, math.nan])
def test_nonsense_epsilon_is_refused(epsilon):
    for asked in bounds_for(Composition.repeat(PureDP(0.1), 3)):
        with pytest.raises(InvalidInput):
            asked.delta(epsilon)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_nonsense_delta_is_refused(delta):
    for asked in bounds_for(Composition.repeat(PureDP(0.1), 3)):
        with pytest.raises(InvalidInput):
            asked.epsilon(delta)


def test_a_delta_below_what_the_rounds_leak_is_refused_with_both_numbers():
    for asked in bounds_for(Composition.repeat(ApproxDP(0.1, 1e-6), 100)):
        with pytest.raises(NotApplicable, match=r"1e-05.*9\.999|1e-05.*0\.0001"):
            asked.epsilon(1e-5)


ADVANCED = {1: 0.5361692688, 10: 1.767429054, 100: 6.308230951, 1000: 27.13967317}
ADVANCED[10_000] = 157.7361358
TIGHT = {1: 0.5306480145, 10: 1.712216511, 100: 5.756105519, 1000: 21.61841886}
TIGHT[10_000] = 102.5235927


@pytest.mark.parametrize("rounds", list(ADVANCED))
def test_published_advanced_values(rounds):
    core = Composition.repeat(PureDP(0.1), rounds)
    for name, published in (("advanced", ADVANCED), ("advanced-tight-mean", TIGHT)):
        assert bound(name).uncapped_epsilon(core, 1e-6) == pytest.approx(
            published[rounds], rel=5e-10
        )
        capped = min(published[rounds], 0.1 * rounds)
        assert bound(name).on(core).epsilon(1e-6).value == pytest.approx(capped, rel=5e-10)


def test_three_bounds_are_their_printed_formulas():
    rounds, delta = 100, 1e-6
    squares, mean = rounds * 0.1**2, rounds * 0.1 * math.tanh(0.05)
    log = min(math.log(math.e + math.sqrt(squares) / delta), -math.log(delta))
    found = bound("kairouz-oh-viswanath-3.5").on(Composition.repeat(PureDP(0.1), rounds))
    expected = mean + math.sqrt(2 * squares * log)
    assert found.epsilon(delta).value == pytest.approx(expected, rel=1e-12)
    composition = Composition.repeat(ZCDP(0.005), rounds)
    expected = 0.5 + 2 * math.sqrt(0.5 * -math.log(delta))
    found = bound("zcdp-bun-steinke").on(composition)
    assert found.epsilon(delta).value == pytest.approx(expected, rel=1e-12)
    mu = 1.0  # of every zCDP of 1/2 in all, a Gaussian is the least private that is Gaussian
    expected = norm.cdf(mu / 2 - 1.5) - math.exp(1.5) * norm.cdf(-mu / 2 - 1.5)
    found = bound("gaussian-in-zcdp").on(composition).delta(1.5)
    assert found.value == pytest.approx(expected, rel=1e-9)


def test_bob_and_his_ten_thousand_databases():
    bob = Composition.repeat(PureDP(1 / 801), 10_000)
    delta = math.exp(-32)
    assert bound("basic").on(bob).epsilon(delta).value == pytest.approx(12.484395, rel=1e-7)
    # The claim printed with Theorem 3.20, that 1/801 gives epsilon 1, does not follow from it.
    assert bound("advanced").on(bob).epsilon(delta).value == pytest.approx(1.0143473, rel=1e-7)


def test_rounds_that_lose_nothing_change_no_optimal_bound():
    optimal, nothing = bound("kairouz-oh-viswanath-3.3"), (PureDP(0.0), 3)
    some = Composition.of((PureDP(0.1), 5), nothing)
    only = Composition.of((PureDP(0.1), 5))
    assert optimal.on(some).delta(0.2) == optimal.on(only).delta(0.2)
    found = optimal.on(Composition.of(nothing)).delta(0.0)
    assert found.value == found.upper == 0.0


def test_the_largest_spread_that_is_composed_is_composed():
    assert needs_reach(Composition.of((PureDP(6e4), 1))) is None
    why = needs_reach(Composition.of((PureDP(above(6e4)), 1)))
    assert why == "the root of the sum of the squared epsilons must be at most 60000"
