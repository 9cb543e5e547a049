"""An epsilon among small losses, where a rare round has a large one: sums over such rounds."""

import math

import numpy as np
import pytest

from simulator.theory import FiniteLaw, LaplaceLaw, PoissonSubsampledLaw, randomized_response
from simulator.theory.pld import jump_terms, lines_query
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.enclosing_lines import enclosing_tails
from simulator.theory.pld.jump_terms import Plan
from simulator.theory.pld.lines_query import LinesQuery
from tests.helpers.by_answers import ByAnswers
from tests.helpers.laws import subsampled_gaussian


@pytest.mark.parametrize(
    ("sigma", "rate", "rounds", "epsilon"),
    [
        (0.1491, 2.318e-5, 2, 1e-4),
        pytest.param(0.1491, 2.318e-5, 3, 3e-5, marks=pytest.mark.nightly),
        pytest.param(0.1052, 1.578e-5, 3, 3.09e-4, marks=pytest.mark.nightly),
        pytest.param(0.1491, 1e-3, 3, 1e-3, marks=pytest.mark.nightly),
    ],
)
def test_a_rare_large_loss_over_many_small_ones(sigma, rate, rounds, epsilon):
    law = subsampled_gaussian(sigma, rate, True)
    exact = ByAnswers(law, {2: 4001, 3: 1001}[rounds], reach=10.0).delta(rounds, epsilon)
    found = LinesQuery(CountedLaws.of([(law, rounds)]), 1e-4).delta(epsilon)
    assert found.lower <= exact * (1 + 1e-9)
    assert found.upper >= exact * (1 - 1e-9)
    assert found.width <= 1e-4 * found.upper


LARGE, SMALL, ROUNDS = 25.0, 1e-2, 30
EPSILON = 4.5 * SMALL


def announced(rare):
    """Randomized response of SMALL, with probability ``rare`` of LARGE."""
    parts = [(LARGE, rare), (SMALL, 1.0 - rare)]
    pairs = sorted(
        (sign * epsilon, math.log(share) - math.log1p(math.exp(-sign * epsilon)))
        for epsilon, share in parts
        for sign in (-1, 1)
    )
    return FiniteLaw(*(np.array(column) for column in zip(*pairs)))


def by_counting(rare):
    """delta(EPSILON) of ROUNDS of it, over the numbers of large losses and of positive ones."""
    total = []
    for large in range(12):
        some = math.comb(ROUNDS, large) * rare**large * (1 - rare) ** (ROUNDS - large)
        for up in range(large + 1):
            one = math.comb(large, up) * math.exp((up - large) * LARGE)
            one /= (1 + math.exp(-LARGE)) ** large
            for positive in range(ROUNDS - large + 1):
                rest = ROUNDS - large
                two = math.comb(rest, positive) * math.exp((positive - rest) * SMALL)
                two /= (1 + math.exp(-SMALL)) ** rest
                loss = (2 * up - large) * LARGE + (2 * positive - rest) * SMALL
                total.append(some * one * two * max(-math.expm1(EPSILON - loss), 0.0))
    return math.fsum(total)


def ends(rare, tolerance=1e-4):
    """Terms, and the ends of delta(EPSILON)."""
    log_delta = math.log(by_counting(rare))
    parts = CountedLaws.of([(announced(rare), ROUNDS)])
    plan = Plan.of(parts, log_delta, tolerance, among_small=EPSILON)
    below, above = enclosing_tails(plan, EPSILON, log_delta, tolerance)
    return len(plan.terms), below.at(EPSILON).lower, above.at(EPSILON).upper


@pytest.mark.parametrize(("rare", "terms"), [(1e-5, 3), (1e-3, 4), (1e-2, 6)])
def test_terms_add_up_to_what_is_counted(rare, terms):
    found, lower, upper = ends(rare)
    assert found == terms
    assert lower <= by_counting(rare) * (1 + 1e-12)
    assert upper >= by_counting(rare) * (1 - 1e-12)
    assert upper - lower <= 3e-4 * upper


def test_more_jumps_than_there_are_terms_for_are_not_forgotten(monkeypatch):
    # with one jump at most, and nothing for two
    plain = jump_terms._with_jumps
    monkeypatch.setattr(
        jump_terms, "_with_jumps", lambda wholes, cuts, most: (plain(wholes, cuts, 1)[0], 0.0)
    )
    _, _, upper = ends(1e-4)
    assert upper < by_counting(1e-4) * (1 - 1e-4)


def test_common_large_losses_are_no_jumps():
    parts = CountedLaws.of([(announced(0.3), ROUNDS)])
    assert len(Plan.of(parts, -1.0, 1e-6, among_small=EPSILON).terms) == 1


def test_no_delta_is_above_the_total_variation():
    law = PoissonSubsampledLaw(randomized_response(20.0), 1e-6)
    parts = CountedLaws.of([(law, 7), (subsampled_gaussian(0.05, 1e-7, True), 3)])
    exact = 7e-6 * math.tanh(10.0) + 3e-7 * math.erf(20.0 / 8**0.5)
    assert exact <= parts.total_variation <= exact * (1 + 1e-9)
    assert LinesQuery(parts, 1e-4).delta(1e-12).upper <= parts.total_variation


@pytest.mark.parametrize("scale", [0.95, 1.0, 1.05])
def test_a_line_at_a_place_far_from_the_epsilon_is_no_sign_that_a_finer_one_is_of_no_use(scale):
    """Where rare large losses are added to small ones, the first estimate of epsilon is poor."""
    gaussian = subsampled_gaussian(1 / (4.7 * scale), 0.01, True)
    laplace = PoissonSubsampledLaw(LaplaceLaw(2.1), 0.2, True)
    found = LinesQuery(CountedLaws.of([(gaussian, 3), (laplace, 2)]), 1e-3).epsilon(0.06)
    assert 0.0 < found.width <= 1e-3 * found.upper


def test_a_line_is_not_made_again_where_none_is_finer(monkeypatch):
    """The first is made wider than it should be, and a second one would be too much work."""
    widths, plain = [], lines_query.enclosing_tails

    def limited(plan, epsilon, log_value, tolerance):
        widths.append(tolerance)
        return plain(plan, epsilon, log_value, 17.0 * tolerance) if len(widths) == 1 else None

    monkeypatch.setattr(lines_query, "enclosing_tails", limited)
    laplace = PoissonSubsampledLaw(LaplaceLaw(1.0), 0.1)
    query = LinesQuery(CountedLaws.of([(laplace, 10)]), 1e-6)
    for delta in (1e-5, 1.1e-5):
        found = query.epsilon(delta)
        assert 1e-6 * found.upper < found.width < 1.4e-6 * found.upper
    assert len(widths) == 2
