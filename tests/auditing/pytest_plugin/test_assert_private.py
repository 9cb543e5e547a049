"""The assertion on a black box: broken mechanisms are caught, and the message shows how."""

import functools
import json
import re
import shlex
import unittest

import numpy as np
import pytest

from simulator import Database, PureDP, counting_query
from simulator.auditing.testing import PrivacyViolation, assert_private
from simulator.auditing.testing.failure import name_of
from simulator.auditing.testing.replay import address, literal, plainly_quoted
from simulator.doors.cli import main
from simulator.doors.cli.output import strict
from simulator.errors import InvalidInput
from simulator.mechanisms import Geometric

FALSE_ALARM = 1e-9
"""Of each test below that expects a mechanism to pass, were its seed drawn anew."""


def geometric(value, n, rng):
    p = 1.0 - np.exp(-0.5)
    return value + rng.geometric(p, n) - rng.geometric(p, n)


def half_the_noise(value, n, rng):
    return value + rng.laplace(0.0, 1.0, n)


def constant(value, n, rng):
    return np.full(n, 7 * value)


def low_digits(value, n, rng):
    return np.round(rng.laplace(0.0, 2.0, n), 6) + 1e-9 * value


def one_raises(value, rng):
    if value and rng.random() < 0.02:
        raise ValueError("no such row")
    return int(rng.integers(3))


def test_an_honest_mechanism_passes_and_says_what_would_have_been_seen():
    result = assert_private(
        geometric, 0, 1, claimed=PureDP(0.5), samples=20_000, false_alarm=FALSE_ALARM
    )
    assert not result.violated
    assert 0.5 < result.detectable < 1.0


@pytest.mark.parametrize(
    ("mechanism", "options", "example"),
    [
        (half_the_noise, {"bits": False}, r"-?\d.* \(of input_[01]\)"),
        (constant, {}, r"(0 \(of input_0\)|7 \(of input_1\))"),
        (low_digits, {}, r"-?\d.* \(of input_[01]\)"),
        (one_raises, {}, r"\(raised ValueError, 'no such row'\) \(of input_1\)"),
    ],
)
def test_broken_mechanisms_are_caught(mechanism, options, example):
    with pytest.raises(PrivacyViolation) as failed:
        assert_private(
            mechanism, 0, 1, claimed="pure:0.5", samples=50_000, false_alarm=FALSE_ALARM, **options
        )
    result, message = failed.value.result, str(failed.value)
    assert result.violated
    assert result.epsilon > 0.5
    lines = dict(re.findall(r"^  (\w[\w ]*?) {2,}(.*)$", message, flags=re.MULTILINE))
    assert lines["event"] == result.event.words
    assert lines["input_0"].startswith(f"{result.event.hits_0:,} of {result.event.draws:,}")
    assert lines["input_1"].startswith(f"{result.event.hits_1:,} of {result.event.draws:,}")
    assert lines["claimed"] == "epsilon <= 0.5 at delta = 0"
    assert lines["false alarm"] == "with probability 1e-09 at most"
    assert re.fullmatch(example, lines["one answer"])
    assert lines["one answer"].endswith(f" (of input_{result.event.favours})")
    assert lines["replay"].startswith("dpcompose audit ")


def test_the_answer_shown_is_in_the_event():
    with pytest.raises(PrivacyViolation, match=r"one answer   True \(of input_1\)") as failed:
        assert_private(constant_rate, False, True, claimed="pure:0.5", samples=2000)
    event = failed.value.result.event
    assert event.favours == 1
    assert event.contains(True)


@pytest.mark.parametrize(
    ("tested", "name"),
    [
        (constant, "constant"),
        (np.random.default_rng(0).normal, "Generator.normal"),
        (functools.partial(constant, 1), "partial"),
        (len, "len"),
    ],
)
def test_what_is_tested_is_called_by_its_name(tested, name):
    assert name_of(tested) == name


def test_a_mechanism_of_this_library_is_tested_by_its_sampler():
    everyone = Database({"alice": 1, "others": 9})
    sampler = Geometric(counting_query("alice"), 1.0).sample
    with pytest.raises(PrivacyViolation, match=r"^\w+\.sample does not keep pure:0\.1\n"):
        assert_private(
            sampler, everyone.remove("alice"), everyone, claimed="pure:0.1", samples=2000
        )


def test_among_several_pairs_the_message_has_the_one_that_showed_it():
    with pytest.raises(PrivacyViolation, match="inputs       3 and 4") as failed:
        assert_private(
            lambda value, n, rng: geometric(5 if value == 4 else 0, n, rng),
            pairs=[(0, 1), (3, 4)], claimed="pure:0.5", samples=20_000,
        )  # fmt: skip
    assert failed.value.result.pair_number == 1


def test_the_draws_are_a_function_of_the_seed():
    def hits(seed):
        with pytest.raises(PrivacyViolation) as failed:
            assert_private(constant_rate, 0, 1, claimed="pure:0.5", samples=5000, seed=seed)
        return failed.value.result.event.hits_1

    assert hits(1) == hits(1)
    assert len({hits(seed) for seed in range(5)}) > 1


def constant_rate(value, n, rng):
    return rng.random(n) < (0.9 if value else 0.1)


def test_it_is_a_failure_for_unittest_not_an_error():
    def check():
        assert_private(constant, 0, 1, claimed="pure:0.5", samples=2000)

    found = unittest.TestResult()
    unittest.FunctionTestCase(check).run(found)
    assert (len(found.failures), len(found.errors)) == (1, 0)


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"claimed": 0.5}, "claimed must be a guarantee, as PureDP"),
        ({"claimed": "half"}, "unknown family 'half'"),
        ({"false_alarm": 0.0}, "false_alarm must lie strictly between 0 and 1"),
        ({"false_alarm": 1.0}, "false_alarm must lie strictly between 0 and 1"),
        ({"false_alarm": 1e-17}, "false_alarm must be at least"),
        ({"samples": 0}, "samples must be at least"),
        ({"input_1": 0}, "nothing to tell apart"),
        ({"mechanism": 3}, "must be callable"),
    ],
)
def test_bad_input_gets_one_line(changed, line):
    call = {"mechanism": constant, "input_0": 0, "input_1": 1, "claimed": "pure:0.5"} | changed
    with pytest.raises(InvalidInput, match=line) as refused:
        assert_private(**call)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("mechanism", "inputs", "options"),
    [
        ("constant_rate", {"input_0": 0, "input_1": 1}, {}),
        ("half_the_noise", {"input_0": -0.5, "input_1": 0.5}, {"bits": False, "epsilon": 0.25}),
        ("by_name", {"pairs": [("bob", "bob "), ("it's", "alice")]}, {"stop_early": False}),
        ("first_entry", {"length": 2}, {"time_limit": 9.0, "delta": 1e-3}),
    ],
)
def test_the_command_line_repeats_the_audit(capsys, mechanism, inputs, options):
    with pytest.raises(PrivacyViolation) as failed:
        assert_private(
            globals()[mechanism], **inputs, claimed="approx:0.2,0.0", samples=4000,
            false_alarm=1.23e-5, seed=12345, **options,
        )  # fmt: skip
    (line,) = re.findall(r"^ +(?:replay +)?(dpcompose audit .*)", str(failed.value), re.MULTILINE)
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(line)[1:], "--json"])
    assert ended.value.code == 1
    expected = strict(failed.value.result.as_dict())
    again = json.loads(capsys.readouterr().out)
    assert {**again, "seconds": 0.0} == {**expected, "seconds": 0.0}


def by_name(name, rng):
    return rng.random() < (0.9 if name == "alice" else 0.1)


def first_entry(vector, n, rng):
    return rng.random(n) < 0.1 + 0.4 * vector[0]


def test_a_command_line_names_functions_of_the_top_level_alone(monkeypatch, tmp_path):
    here = __file__
    monkeypatch.chdir(tmp_path)
    assert address(constant) == f"{here}:constant"
    assert address(lambda value: value) is None
    assert address(functools.partial(constant, 1)) is None
    assert address(np.random.default_rng(0).normal) is None
    assert address(unittest.TestCase.run) is None
    assert address(len) is None


@pytest.mark.parametrize("value", [0, "a b", (1.0, 2.0), [1, [2]], {"alice": 1}, None, b"x"])
def test_literals_are_written_as_they_are(value):
    assert literal(value) == repr(value)


@pytest.mark.parametrize(
    "value", [np.zeros(2), float("nan"), float("inf"), PureDP(1.0), np.float64(2.0), object()]
)
def test_what_is_no_literal_has_no_command(value):
    assert literal(value) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [({"alice": [1, "b"]}, '{"alice": [1, "b"]}'), ("it's", None), ('a "b"', None), (b"x", 'b"x"')],
)
def test_a_literal_needs_no_quotes_of_the_shell_within_its_own(value, text):
    assert plainly_quoted(repr(value)) == (text or repr(value))
    assert literal(value) == repr(value)


def test_a_test_in_which_nothing_was_audited_fails():
    def answers_nothing(rows, rng):
        return len(rows) > 100

    with pytest.raises(PrivacyViolation, match="nothing was audited") as failed:
        assert_private(answers_nothing, [1], [1, 2], claimed="pure:1", samples=300)
    assert not failed.value.result.violated
    assert "choose inputs on which it answers" in str(failed.value)


@pytest.mark.sampled
@pytest.mark.parametrize("claimed", ["pure:4", "approx:4,1e-5", "gdp:4", "renyi:2,5"])
def test_a_test_with_too_few_draws_for_its_claim_fails(claimed):
    """Until they are as many as it says, when a mechanism that tells its input is found out."""

    def tells(value, n, rng):
        return rng.random(n) + 2 * value

    with pytest.raises(PrivacyViolation, match="too few for a claim of this size") as failed:
        assert_private(tells, 0, 1, claimed=claimed, samples=100)
    assert not failed.value.result.violated
    enough = re.search(r"draw at least ([\d,]+), or allow", str(failed.value))[1].replace(",", "")
    with pytest.raises(PrivacyViolation) as caught:
        assert_private(tells, 0, 1, claimed=claimed, samples=int(enough))
    assert caught.value.result.violated
    honest = assert_private(
        lambda value, n, rng: rng.random(n), 0, 1, claimed=claimed, samples=int(enough)
    )
    assert not honest.unaudited


def test_an_answer_that_comes_first_is_not_called_the_only_one():
    """The first 16 draws are all the same; later ones are not."""
    calls = {"n": 0}

    def rarely(value):
        calls["n"] += 1
        return calls["n"] % 50 == 0

    assert_private(rarely, 0, 1, claimed="pure:1", samples=300)


def test_what_is_found_by_bets_is_said_with_its_number():
    """38 of 38 against 0 of 38 bound no epsilon at once, and refute every one."""

    def constant_rows(rows, rng):
        return len(rows)

    with pytest.raises(PrivacyViolation) as failed:
        assert_private(constant_rows, {"a": 1}, {"a": 1, "b": 2}, claimed="pure:0.3", samples=2000)
    message = str(failed.value)
    assert "epsilon >= 0.3 at" not in message
    assert re.search(
        r"bets on (events|likelihood ratios) against the claim: stake times \d", message
    )
    found = failed.value.result
    assert found.evidence >= found.needed
