"""How a bracket is printed, shown and compared."""

import math
import operator
import random
from fractions import Fraction

import pytest

from simulator import Account
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import Bracket, Composition, bound


@pytest.mark.parametrize(
    ("bracket", "text"),
    [
        (Bracket(1.82823666, 1.82823679), "between 1.8282366 and 1.8282368"),
        (Bracket(0.0, 4.37717), "at most 4.37717"),
        (Bracket(2.0, math.inf), "at least 2"),
        (Bracket(0.0, 0.0), "between 0 and 0"),
        (Bracket(0.0, 0.5, 0.4999999999), "at most 0.5"),
        (Bracket(0.0, 1.0, 0.25), "about 0.25, between 0 and 1"),
    ],
)
def test_a_printed_bracket_is_no_estimate(bracket, text):
    assert str(bracket) == text
    assert bracket._repr_html_() == f"<code>{text}</code>"


def test_printed_ends_are_rounded_outward():
    draw = random.Random(1)
    for _ in range(200):
        low = draw.uniform(1e-12, 50.0)
        exact = Bracket(low, low * (1.0 + draw.uniform(0.0, 1e-7)))
        _, lower, _, upper = str(exact).split()
        assert Fraction(lower) <= Fraction(exact.lower)
        assert Fraction(exact.upper) <= Fraction(upper)


COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge)


@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_comparison_holds_for_all_numbers_inside_or_is_refused(compare):
    bracket, inside = Bracket(1.0, 2.0), (1.0, 1.5, 2.0)
    for other in (0.5, 1.0, 1.5, 2.0, 2.5, 2, Bracket(2.0, 3.0), Bracket(0.0, 0.5)):
        others = tuple(other) if isinstance(other, Bracket) else (other,)
        each = {compare(one, two) for one in inside for two in others}
        if len(each) == 1:
            assert compare(bracket, other) is each.pop()
        else:
            with pytest.raises(NotApplicable, match="do not decide"):
                compare(bracket, other)


def test_what_is_no_number_is_not_compared():
    for other in (math.nan, "2", None):
        with pytest.raises(InvalidInput, match="compared with"):
            assert Bracket(1.0, 2.0) < other


def test_an_account_is_compared_with_a_budget():
    epsilon = Account().then("gdp:1").epsilon(1e-5)
    assert epsilon < 4.5
    assert not epsilon <= 4.0
    assert epsilon > 4.0
    assert str(epsilon).startswith("between 4.377")
    approximation = bound("gdp-clt").on(Composition.repeat("pure:0.1", 100)).epsilon(1e-6)
    assert str(approximation).startswith("about 4.88")
    with pytest.raises(NotApplicable):
        assert approximation < 5.0
