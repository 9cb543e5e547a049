"""Parallel composition while data arrive: the failure, its size, and streams of our own."""

import math

import numpy as np
import pytest

from simulator import simulate
from simulator.foundations.errors import Breach
from simulator.mechanisms import Update
from simulator.teaching.games import find
from simulator.teaching.games.library.parallel_updates import (
    NOTHING,
    response,
    search,
    tight_delta,
    together,
    waiting,
)
from simulator.teaching.mechanisms.parts_of_data import READY, RECORD, PartOfData
from simulator.theory import ApproxDP, PureDP

REVEAL = ((1.0, 0.0), (0.0, 1.0))


def leaky(epsilon, delta):
    return PartOfData(delta, response(epsilon), REVEAL, ApproxDP(epsilon, delta))


def hockey(epsilon, at):
    kept = 1 / (1 + math.exp(-epsilon))
    return max(0.0, kept - math.exp(at) * (1 - kept))


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("delta", [0.02, 0.2])
def test_the_worst_stream_by_hand(parts, delta):
    """Listen to all; a weak part gives all away, else a strong one loses epsilon."""
    for at in (0.1, 0.4, 0.6):
        fails = 1 - (1 - delta) ** parts
        by_hand = fails + (1 - fails) * hockey(0.4, at)
        found = search(leaky(0.4, delta), parts, at).delta
        assert found.lower <= by_hand * (1 + 1e-9)
        assert by_hand <= found.upper


def test_the_tight_bound_holds_for_random_parts_at_every_epsilon():
    coins = np.random.default_rng(6)
    for _ in range(25):
        epsilons = np.sort(coins.uniform(0.05, 1.0, 2))
        weak = REVEAL if coins.random() < 0.5 else response(epsilons[1])
        part = PartOfData(
            float(coins.uniform(0.01, 0.4)), response(epsilons[0]), weak, ApproxDP(1.0, 0.4)
        )
        parts, at = int(coins.integers(1, 5)), float(coins.uniform(0.0, 1.0))
        alone = search(part, 1, at).delta.upper
        assert search(part, parts, at).delta.lower <= tight_delta([alone] * parts)
        assert search(part, parts, at, only=0).delta.lower <= alone


def test_the_transcript_sends_the_record_to_the_part_that_failed():
    found = search(leaky(0.5, 0.02), 3, 0.5)
    lines = [*found.transcript()]
    sent = next(line for line in lines if "on_0=1, on_1=0" in line)
    assert "loss +inf" in sent
    assert any("ready?') -> 1 (probability 0.02" in line for line in lines[: lines.index(sent)])
    outcome = find("parallel-updates").play(trials=500)
    wrong = outcome.row(
        "parallel composition: one part", "delta(epsilon), (epsilon, delta)-DP parts"
    )
    worst = outcome.row("every stream", "delta(epsilon), (epsilon, delta)-DP parts")
    assert worst.lower > 4 * wrong.upper


def test_an_adversary_that_does_not_listen_gets_the_delta_of_one_part():
    part = leaky(0.5, 0.1)

    def deaf(coins):
        opened = yield NOTHING, NOTHING, together(part, 3)
        target = int(coins.integers(3))
        yield opened.ask((target, READY))
        yield opened.ask((target, RECORD))

    result = simulate(deaf, family=ApproxDP(0.5, 0.3), rounds=3, trials=4000, seed=2)
    estimate = result.delta(0.5, confidence=0.999)
    assert estimate.lower <= 0.1 <= estimate.upper
    heard = simulate(waiting(part, 3), family=ApproxDP(0.5, 0.3), rounds=5, trials=4000, seed=2)
    assert heard.delta(0.5, confidence=0.999).lower > 0.2


@pytest.mark.parametrize(
    ("messages", "match"),
    [
        ([(0, READY), (0, RECORD), (1, READY), (1, RECORD)], "no other record may differ"),
        ([(0, RECORD)], "takes no message"),
        ([(3, READY)], "is .number, message. with a number from 0"),
        ([READY], "is .number, message. with a number from 0"),
        ([(0, READY), (0, READY)], "takes no message"),
        ([(0, np.zeros(3))], "takes no message"),
    ],
)
def test_streams_that_are_no_neighbours_are_one_line(messages, match):
    part = PartOfData(0.1, response(0.2), response(0.4), PureDP(0.4))

    def adversary(coins):
        opened = yield NOTHING, NOTHING, together(part, 2)
        for message in messages:
            yield opened.ask(message)

    with pytest.raises(Breach, match=match):
        simulate(adversary, family=PureDP(0.4), rounds=5, trials=3, seed=1)


def test_equal_records_may_go_anywhere():
    part = PartOfData(0.1, response(0.2), response(0.4), PureDP(0.4))

    def adversary(coins):
        opened = yield NOTHING, NOTHING, together(part, 2, only=1)
        for i in range(2):
            yield opened.ask((i, READY))
        yield opened.ask((0, Update(1, 1)))
        yield opened.ask((1, RECORD))

    result = simulate(adversary, family=PureDP(0.4), rounds=5, trials=500, seed=1)
    assert result.delta(0.4).value == 0.0
