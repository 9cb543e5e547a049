"""Adaptive interactions on trial by the real audit: what overspends is caught, all else passes."""

import re
import shlex

import pytest

from simulator import Database, counting_query
from simulator.auditing.testing import PrivacyViolation, assert_composition
from simulator.mechanisms import Geometric

pytest_plugins = ["pytester"]
everyone = Database({"alice": 1, "others": 9})
without_alice = everyone.remove("alice")
alice = counting_query("alice")
ROUNDS = 3


def press_when_ahead(coins):
    """Three rounds of 0.3, or of 0.6 after an answer that favours Alice's presence."""
    epsilon = 0.3
    while True:
        answer = yield without_alice, everyone, Geometric(alice, epsilon)
        epsilon = 0.6 if answer > 0 else 0.3


def test_a_claim_that_adds_up_the_first_rounds_alone_is_caught():
    with pytest.raises(PrivacyViolation) as failed:
        assert_composition(press_when_ahead, "pure:0.6", ROUNDS, claimed="pure:0.6", samples=20_000)
    result, message = failed.value.result, str(failed.value)
    assert 0.6 < result.epsilon < 1.5
    assert re.search(rf"^  one view +of experiment {result.event.favours}$", message, re.MULTILINE)
    rounds = re.findall(r"^ +round (\d): .*Geometric.* answered (-?\d+\.0)$", message, re.MULTILINE)
    assert [number for number, _ in rounds] == ["1", "2", "3"]


def test_what_the_rounds_can_spend_at_most_is_kept():
    result = assert_composition(
        press_when_ahead, "pure:0.6", ROUNDS, claimed="pure:1.5", samples=5_000, false_alarm=1e-9
    )
    assert not result.violated


@pytest.mark.nightly
def test_the_fixture_replays_a_composition(session, pytester):
    pytester.makepyfile(f"""
        from simulator import Database, counting_query
        from simulator.mechanisms import Geometric

        everyone = Database({{"alice": 1, "others": 9}})

        def same_again(coins):
            while True:
                yield everyone.remove("alice"), everyone, Geometric(counting_query("alice"), 0.6)

        def test_parallel(dp):  # the same people every time: the rounds add up
            dp.assert_composition(
                same_again, "pure:0.6", {ROUNDS}, claimed="pure:0.6", samples=10_000, jobs=1
            )
    """)
    first = session()
    first.assert_outcomes(failed=1)
    (command,) = re.findall(r"E +replay +pytest (.*)", first.stdout.str())
    counts = re.findall(r"E +experiment \d +(.*)", first.stdout.str())
    assert len(counts) == 2
    again = session(*shlex.split(command))
    again.assert_outcomes(failed=1)
    assert re.findall(r"E +experiment \d +(.*)", again.stdout.str()) == counts


def test_a_long_view_is_shown_without_its_middle():
    with pytest.raises(PrivacyViolation) as failed:
        assert_composition(press_when_ahead, "pure:0.6", 30, claimed="pure:0.6", samples=2000)
    shown = failed.value.result.transcript
    assert [line.partition(":")[0] for line in shown[:6]] == [f"round {i}" for i in range(1, 7)]
    assert shown[6] == "(18 more rounds)"
    assert [line.partition(":")[0] for line in shown[7:]] == [f"round {i}" for i in range(25, 31)]
