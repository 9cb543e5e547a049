"""Views told in words."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

from simulator import Database, Gaussian, Laplace, PureDP, counting_query, simulate
from simulator.adversaries import make
from simulator.analysis.result import Result
from simulator.engine.views.transcript import FIRST, LAST, shown_answer, signed
from simulator.mechanisms import BlackBox, Interactive, LeakyRandomizedResponse
from simulator.theory import ApproxDP, SumFilter

FAMILY = PureDP(0.2)
everyone = Database({"alice": 1, "others": 9})
without_alice = everyone.remove("alice")


def told(adversary, family=FAMILY, rounds=5, **options):
    result = simulate(adversary, family, rounds, 3, keep_views=2, jobs=1, progress=False, **options)
    assert isinstance(result, Result)
    return result, [result.transcript(view) for view in result.views]


@pytest.mark.nightly
def test_a_transcript_says_what_was_played():
    result, (first, *others) = told(make("press-when-ahead", FAMILY, 5))
    assert [(one.experiment, one.trial) for one in (first, *others)] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    replayed = result.replay(result.views[0])
    assert [turn.loss for turn in first.turns] == list(replayed.round_losses)
    assert [turn.answer for turn in first.turns] == list(result.views[0].answers)
    assert first.turns[-1].total == replayed.loss == result.losses(0)[0]
    for turn in first.turns:
        assert turn.odds == pytest.approx(math.exp(-turn.total), rel=1e-15)
    lines = str(first).splitlines()
    assert lines[0] == "Trial 0 of experiment 0; database 1 has 1 × 'alice' more"
    assert " ".join(lines[1].split()) == "round asks answer loss so far odds of b = 1"
    assert "Laplace(count('alice'), epsilon=0.1): 0 or 1" in lines[2]
    assert len(lines) == 2 + 5


@pytest.mark.nightly
def test_a_long_play_is_told_from_both_ends():
    _, (first, *_) = told(make("mechanism-switcher", FAMILY, 60), rounds=60)
    lines = str(first).splitlines()
    assert len(first.turns) == 60
    assert len(lines) == 2 + FIRST + 1 + LAST
    assert f"rounds {FIRST + 1} to {60 - LAST}: 3 different questions, so far between" in lines[14]
    assert max(map(len, lines)) < 140


@pytest.mark.nightly
def test_a_refused_query_and_an_infinite_loss_are_told():
    _, transcripts = told(
        make("budget-splitter", PureDP(1.0), 4), PureDP(1.0), 4, filter=SumFilter(1.2)
    )
    assert [turn.answer for turn in transcripts[0].turns][1:] == ["refused"] * 3
    leaky = ApproxDP(0.2, 0.9)
    _, transcripts = told(make("fixed-worst-case", leaky, 3), leaky, 3)
    assert transcripts[0].turns[-1].odds == 0.0
    assert transcripts[-1].turns[-1].odds == math.inf
    assert "+inf" in str(transcripts[0])


@pytest.mark.nightly
def test_rounds_that_are_left_out_say_how_many_were_refused():
    _, (first, *_) = told(
        make("budget-splitter", PureDP(1.0), 40), PureDP(1.0), 40, filter=SumFilter(1.2)
    )
    assert [turn.round for turn in first.turns[12:32] if turn.answer != "refused"] == [25]
    assert "rounds 13 to 32: 20 different questions, 19 of them refused, so far" in str(first)


def test_a_loss_of_nothing_has_one_sign():
    assert [signed(loss) for loss in (-0.0, 0.0, -1e-9, 1e-9)] == ["+0.0000"] * 4
    assert [signed(loss) for loss in (-0.00006, math.inf)] == ["-0.0001", "+inf"]


def test_numbers_of_numpy_are_numbers():
    assert [shown_answer(number) for number in (np.int64(3), np.float32(0.5), True)] == [3, 0.5, 1]
    assert shown_answer(np.float64("nan")) == "refused"


def asks_three(coins):
    alice = counting_query("alice")
    for mechanism in (Laplace(alice, 0.1), Gaussian(alice, 5.0)):
        yield without_alice, everyone, mechanism
    while True:
        yield without_alice, everyone, LeakyRandomizedResponse(alice, 0.2, 0.3)


def test_odds_are_those_of_bayes():
    """By scipy's densities and a table of probabilities, from the answers alone."""
    p = math.exp(0.2) / (1.0 + math.exp(0.2))
    tables = [0.3, 0.7 * p, 0.7 * (1.0 - p), 0.0], [0.0, 0.7 * (1.0 - p), 0.7 * p, 0.3]
    laws = [
        [stats.laplace(b, 10.0).pdf for b in (0, 1)],
        [stats.norm(b, 5.0).pdf for b in (0, 1)],
        *3 * [[lambda y, table=table: table[int(y)] for table in tables]],
    ]
    result = simulate(asks_three, ApproxDP(1.0, 0.3), 5, 6, keep_views=6, jobs=1, progress=False)
    ends = set()
    for view in result.views:
        likely = [1.0, 1.0]
        for turn, pair in zip(result.transcript(view).turns, laws):
            likely = [chance * law(turn.answer) for chance, law in zip(likely, pair)]
            odds = likely[1] / likely[0] if likely[0] else math.inf
            assert turn.odds == pytest.approx(odds, rel=1e-12)
        ends.add(odds if odds in (0.0, math.inf) else "between")
    assert ends == {0.0, math.inf, "between"}


def shown(database, rng):
    return {"count": int(database.count_of("alice"))}


def conversation(database, rng):
    return lambda message: message


def asks_black_boxes(coins):
    yield without_alice, everyone, BlackBox(shown, FAMILY)
    handle = yield without_alice, everyone, Interactive(conversation, FAMILY)
    yield handle.ask("again")


def test_what_has_no_likelihood_is_told_without_losses():
    _, (first, *_) = told(asks_black_boxes, rounds=3)
    assert first.turns[0].answer == "{'count': 0}"
    assert first.turns[2].question == "asks again: 'again'"
    assert "unknown" in str(first)


def two_pairs(coins):
    yield without_alice, everyone, Laplace(counting_query("alice"), 0.1)
    more = everyone.add("others")
    yield everyone, more, Laplace(counting_query("others"), 0.1)


def test_several_pairs_of_databases_are_counted():
    _, (first, *_) = told(two_pairs, rounds=2)
    assert "2 pairs of databases; at first, database 1 has 1 × 'alice' more" in str(first)
    assert first.turns[1].question.endswith(": 9 or 10")


def test_a_transcript_is_plain_values():
    _, (first, *_) = told(make("press-when-ahead", FAMILY, 5))
    assert asdict(first)["turns"][0]["round"] == 1
