"""Whole interactions on trial: views of black boxes that adapt, keep state and hide leaks.

Each audit states a false-alarm probability of 1e-6; seeds are fixed.
"""

import math

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, counting_query, simulate
from simulator.auditing import audit_composition, audit_views
from simulator.auditing.audits.view_scores import RoundScore
from simulator.auditing.audits.view_sources import MOST_ALIKE, ChallengeNumbers
from simulator.auditing.evidence.float_features import digit_features
from simulator.errors import InvalidInput
from simulator.mechanisms import BlackBox, Interactive
from simulator.theory import ApproxDP, SumFilter

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def respond(epsilon, yes="yes", no="no"):
    """Randomized response in words."""

    def sampler(database, rng):
        truth = rng.random() < 1.0 / (1.0 + math.exp(-epsilon))
        return yes if truth == ("alice" in database) else no

    return sampler


def always(mechanism):
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, mechanism

    return adversary


def trial(adversary, rounds, claimed, **others):
    settings = {"family": PureDP(5.0), "samples": 8000, "seed": 1, "jobs": 1} | others
    family = settings.pop("family")
    return audit_composition(adversary, family, rounds, claimed=claimed, **settings)


# --- what each round leaks adds up ------------------------------------------------------------


@pytest.mark.nightly
def test_rounds_that_leak_as_claimed_pass_and_the_bound_comes_near():
    """Six rounds of randomized response lose up to 6 x 0.4 = 2.4: 1.2 is refuted, 2.4 is not."""
    adversary = always(BlackBox(respond(0.4), PureDP(0.4)))
    kept = trial(adversary, 6, PureDP(2.4), stop_early=False, samples=20_000)
    assert not kept.violated
    assert 1.4 < kept.epsilon <= 2.4
    broken = trial(adversary, 6, PureDP(1.2), samples=20_000)
    assert broken.violated
    assert broken.samples < 20_000


@pytest.mark.nightly
def test_two_rounds_that_leak_as_claimed_pass_and_half_the_claim_is_refuted():
    adversary = always(BlackBox(respond(0.8), PureDP(0.8)))
    assert not trial(adversary, 2, PureDP(1.6), stop_early=False).violated
    assert trial(adversary, 2, PureDP(0.8)).violated


@pytest.mark.nightly
def test_a_view_s_event_has_the_frequencies_that_are_counted_in_other_views():
    adversary = always(BlackBox(respond(0.5), PureDP(0.5)))
    found = trial(adversary, 4, PureDP(0.5)).event
    result = simulate(adversary, PureDP(0.5), 4, 4000, seed=99, jobs=1)
    numbers = ChallengeNumbers()
    from simulator.auditing.audits.view_sources import played_views

    for b, hits in ((0, found.probability_0), (1, found.probability_1)):
        views = [view for view in result.views if view.experiment == b]
        share = found.holds(played_views(views, result.specification, numbers)).mean()
        assert share == pytest.approx(hits, abs=0.04)  # five standard errors


@pytest.mark.nightly
def test_an_adaptive_adversary_gets_more_than_one_that_is_not():
    """The second round is worth asking only after an answer that favours Alice."""
    weak, strong = BlackBox(respond(0.2), PureDP(0.2)), BlackBox(respond(1.5), PureDP(1.5))

    def adaptive(coins):
        answer = yield WITHOUT, EVERYONE, weak
        while True:
            answer = yield WITHOUT, EVERYONE, (strong if answer == "yes" else weak)

    assert trial(adaptive, 3, PureDP(1.0)).violated
    assert not trial(adaptive, 3, PureDP(3.2)).violated


@pytest.mark.nightly
def test_a_new_function_in_every_round_is_the_same_mechanism_to_the_audit():
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, BlackBox(respond(0.8), PureDP(0.8))

    assert trial(adversary, 5, PureDP(1.0)).violated
    numbers = ChallengeNumbers()
    known = {
        numbers.number((WITHOUT, EVERYONE, BlackBox(respond(0.8), PureDP(0.8))), [])
        for _ in range(3 * MOST_ALIKE)
    }
    assert len(known) == MOST_ALIKE + 1


@pytest.mark.nightly
def test_coins_that_choose_the_challenge_are_no_evidence():
    def adversary(coins):
        mechanisms = [BlackBox(respond(0.3), PureDP(0.3), name) for name in "abc"]
        while True:
            yield WITHOUT, EVERYONE, mechanisms[coins.integers(3)]

    assert not trial(adversary, 3, PureDP(0.9)).violated
    assert trial(adversary, 3, PureDP(0.2), samples=20_000).violated


@pytest.mark.nightly
def test_a_leak_in_one_round_of_many_is_found():
    """The third of four rounds answers in clear with probability 5%."""

    def sometimes(database, rng):
        return ("alice" in database) if rng.random() < 0.05 else None

    def adversary(coins):
        for i in range(4):
            good = BlackBox(respond(0.1), PureDP(0.1))
            yield WITHOUT, EVERYONE, (BlackBox(sometimes, PureDP(0.1)) if i == 2 else good)

    assert trial(adversary, 4, PureDP(0.8)).violated
    assert not trial(adversary, 4, ApproxDP(0.8, 0.06), samples=4000).violated


@pytest.mark.nightly
def test_an_exception_on_one_database_only_is_a_violation():
    def fails(database):
        if "alice" in database:
            raise ValueError(database)
        return 0.0

    found = trial(always(BlackBox(fails, PureDP(1.0))), 2, PureDP(1.0))
    assert found.violated
    with pytest.raises(InvalidInput, match="raised an exception in every round"):
        trial(always(BlackBox(lambda database: 1 / 0, PureDP(1.0))), 2, PureDP(1.0))


# --- mechanisms that keep state ---------------------------------------------------------------


def above_threshold(noisy_queries):
    """Above-threshold for epsilon = 1, asked query by query; broken without noise on the queries.

    The broken one goes on after the first answer above: sparse vector number 6 of Lyu, Su and Li,
    "Understanding the sparse vector technique" (2017).
    """

    def opener(database, rng):
        bar = 0.5 + rng.laplace(scale=2.0)
        over = False

        def ask(record):
            nonlocal over
            if over:
                return None
            noise = rng.laplace(scale=4.0) if noisy_queries else 0.0
            above = bool(database.count_of(record) + noise >= bar)
            over = above and noisy_queries
            return above

        return ask

    return opener


def asks_in_turn(mechanism):
    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, mechanism
        while True:
            yield handle.ask("alice")
            yield handle.ask("nobody")

    return adversary


@pytest.mark.nightly
def test_above_threshold_asked_query_by_query():
    good, bad = (Interactive(above_threshold(noisy), PureDP(1.0)) for noisy in (True, False))
    assert not trial(asks_in_turn(good), 7, PureDP(1.0)).violated
    found = trial(asks_in_turn(bad), 7, PureDP(1.0))
    assert found.violated
    # above for alice and not for nobody is impossible without her
    assert min(found.event.hits_0, found.event.hits_1) == 0


def test_a_counter_that_leaks_only_in_the_third_answer_needs_the_round():
    """Every answer has the same law but the third, so scores pooled over the rounds dilute it."""

    def opener(database, rng):
        asked = 0

        def ask(message):
            nonlocal asked
            asked += 1
            epsilon = 1.5 if asked == 3 else 0.0
            return respond(epsilon)(database, rng)

        return ask

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(opener, PureDP(0.5))
        while True:
            yield handle.ask()

    assert trial(adversary, 9, PureDP(0.5)).violated


# --- the views that a simulation kept ---------------------------------------------------------


def test_views_that_were_kept_are_audited():
    adversary = always(BlackBox(respond(0.8), PureDP(0.8)))
    result = simulate(adversary, PureDP(0.8), 4, 2000, seed=3, jobs=1)
    assert audit_views(result, claimed=PureDP(0.8)).violated
    assert not audit_views(result, claimed=PureDP(3.2)).violated


def test_views_of_mechanisms_with_a_likelihood_too():
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.5)

    settings = {"seed": 3, "jobs": 1}
    result = simulate(adversary, PureDP(0.5), 4, 3000, keep_views=3000, **settings)
    assert not audit_views(result, claimed=PureDP(2.0), bits=False).violated
    assert audit_views(result, claimed=PureDP(0.3), bits=False).violated
    few = simulate(adversary, PureDP(0.5), 4, 3000, keep_views=2999, **settings)
    with pytest.raises(InvalidInput, match="keep_views=3000"):
        audit_views(few, claimed=PureDP(2.0))


@pytest.mark.nightly
def test_a_filter_refuses_and_the_audit_sees_it():
    adversary = always(BlackBox(respond(0.8), PureDP(0.8)))
    filtered = trial(adversary, 6, PureDP(0.8), filter=SumFilter(0.8))
    assert not filtered.violated
    assert trial(adversary, 6, PureDP(0.8)).violated


@pytest.mark.nightly
@pytest.mark.parametrize("jobs", [2, None])
def test_the_verdict_does_not_depend_on_the_number_of_jobs(jobs):
    adversary = always(BlackBox(respond(0.8), PureDP(0.8)))
    one, other = (trial(adversary, 4, PureDP(1.0), jobs=j) for j in (1, jobs))
    assert (one.evidence, one.epsilon, one.samples) == (
        other.evidence,
        other.epsilon,
        other.samples,
    )


def test_a_black_box_that_draws_elsewhere_is_audited_and_said_to_be_irreproducible():
    elsewhere = np.random.default_rng()

    def sampler(database):
        return respond(0.8)(database, elsewhere)

    found = trial(always(BlackBox(sampler, PureDP(0.8))), 4, PureDP(1.0))
    assert found.violated
    assert not found.reproducible


def test_bad_input_is_one_line():
    adversary = always(BlackBox(respond(0.8), PureDP(0.8)))
    with pytest.raises(InvalidInput, match="claimed"):
        trial(adversary, 4, 1.0)
    with pytest.raises(InvalidInput, match="samples"):
        trial(adversary, 4, PureDP(1.0), samples=3)


# --- the score of one round -------------------------------------------------------------------


def test_a_score_is_near_the_log_ratio_and_says_nothing_where_there_is_nothing():
    rng = np.random.default_rng(5)
    first, second = (rng.laplace(v, 2.0, 20_000).tolist() for v in (0.0, 1.0))
    score = RoundScore.learn(first, second, digit_features)
    points = np.array([-4.0, -1.0, 2.0, 5.0])
    true = (np.abs(points - 1.0) - np.abs(points)) / 2.0
    assert score.of(points.tolist()) == pytest.approx(true, abs=0.2)
    same = [rng.laplace(0.0, 2.0, 20_000).tolist() for _ in range(2)]
    none = RoundScore.learn(*same, digit_features)
    assert none is None or np.abs(none.of(points.tolist())).max() < 0.1
    assert RoundScore.learn(first[:5], second[:5], digit_features) is None
