"""What an audit says beside its verdict: on bits of floats, on samplers, on parts of dicts."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.auditing import audit, audit_answers
from simulator.auditing.audits.fixed_size_tests import Power
from simulator.auditing.audits.sources import Sampler
from simulator.auditing.evidence import irregular
from simulator.auditing.evidence.answers import shown
from simulator.auditing.evidence.irregular import _Batch as Batch
from simulator.auditing.evidence.scores import Binned
from simulator.auditing.evidence.training_draws import Pool
from simulator.auditing.testing import PrivacyViolation, assert_private
from simulator.theory import PureDP

CLAIM = PureDP(0.1)


def laplace(value, n, rng):
    return value + rng.laplace(0.0, 10.0, n)


def in_a_dict(value, rng):
    return {"who": value + rng.laplace(0.0, 10.0)}


# --- bits of floats ---


def test_bits_of_floats_are_named_with_what_to_do_and_what_lies_beyond():
    found = audit(laplace, 0.0, 1.0, claimed=CLAIM, samples=20_000)
    assert found.by_bits
    text = str(found)
    for words in (
        "Mironov 2012", "the lowest bit of the answer that is set is worth less than 2^-5",
        "bits=False", "discrete noise", "snap", "beyond the bits nothing was found in",
    ):  # fmt: skip
        assert words in text
    assert found.beyond_bits is not None
    assert not found.beyond_bits.violated
    assert found.as_dict()["beyond_bits"] == "not violated"
    with pytest.raises(PrivacyViolation, match="Mironov 2012"):
        assert_private(laplace, 0.0, 1.0, claimed=CLAIM, samples=20_000)


def test_bits_that_are_found_in_bins_are_named_too():
    found = audit(laplace, 0.0, 1.0, claimed=CLAIM, samples=20_000)
    column = found.event.score.columns[0]
    bins = Binned(
        column, "log2 of the lowest bit of the answer", np.array([-56.0, -53.0]), np.arange(4) % 2
    )
    event = replace(found.event, score=bins, side=">=", threshold=1.0)
    assert "[-56, -53)" in event.words
    said = str(replace(found, event=event))
    assert "lowest bit of the answer that is set is worth 2^n with n in [-56, -53)" in said


def test_a_divergence_that_is_not_proved_is_printed_as_such():
    found = audit_answers([0, 1] * 50, [1, 0] * 50, claimed=CLAIM)
    said = str(replace(found, divergence="above what is claimed"))
    assert "divergence: above what is claimed, which these draws do not prove" in said


def test_what_is_violated_beyond_the_bits_is_said_at_once():
    def twice_the_claim(value, n, rng):
        return value + rng.laplace(0.0, 2.0, n)

    found = audit(twice_the_claim, 0.0, 1.0, claimed=CLAIM, samples=50_000)
    assert found.violated
    if found.by_bits:
        assert "beyond the bits too" in str(found)
    rng = np.random.default_rng(0)
    answers = [laplace(value, 20_000, rng) for value in (0.0, 1.0)]
    assert audit_answers(*answers, claimed=CLAIM).beyond_bits.verdict == "not violated"


def test_other_violations_say_nothing_of_bits():
    found = audit(lambda bit, n, rng: rng.random(n) < 0.5 + 0.2 * bit, 0, 1, claimed=CLAIM)
    assert found.violated
    assert "Mironov" not in str(found)


def test_an_exception_that_follows_the_data_is_said_to_be_one():
    def fails(bit, rng):
        if bit and rng.random() < 0.5:
            raise ValueError("no such row")
        return "abc"[rng.integers(3)], rng.integers(4)

    found = audit(fails, 0, 1, claimed=CLAIM, samples=400, confidence=0.9)
    assert "what to do: an exception follows the data" in str(found)
    told = replace(found, transcript=("'raised by hand'",))
    assert "an exception" not in str(told)
    assert shown(("a", np.int64(2))) == "('a', 2)"


# --- dicts ---


@pytest.mark.nightly
def test_bits_are_not_looked_at_inside_dicts_where_that_is_said():
    assert not audit(in_a_dict, 0, 1, claimed=CLAIM, samples=20_000, bits=False).violated
    assert audit(in_a_dict, 0, 1, claimed=CLAIM, samples=20_000).by_bits


def test_irregular_answers_are_taken_apart_once_for_all_columns(monkeypatch):
    made, drawn, draw = [], [], Sampler.draw
    learned, candidates = [], Pool.candidates
    monkeypatch.setattr(Pool, "candidates", lambda self: learned.append(0) or candidates(self))
    monkeypatch.setattr(irregular, "_Batch", lambda answers: made.append(0) or Batch(answers))
    monkeypatch.setattr(Sampler, "draw", lambda *given: drawn.append(0) or draw(*given))

    def sample(value, rng):
        return {"who": [value + rng.laplace(0.0, 10.0), "ab"[rng.integers(2)]]}

    audit(sample, 0, 1, claimed=CLAIM, samples=3000, bits=False)
    assert 0 < len(made) <= len(drawn) + 6 * len(learned)


@pytest.mark.nightly
def test_bits_are_not_looked_at_inside_irregular_answers_either():
    def sample(value, rng):
        noisy = value + rng.laplace(0.0, 10.0)
        return {"who": noisy, "sort": "some"} if rng.random() < 0.5 else {"who": noisy}

    assert not audit(sample, 0, 1, claimed=CLAIM, samples=4000, bits=False).violated


def test_events_name_keys():
    def sample(bit, rng):
        return {"n": int(rng.integers(3)), "sort": "ab"[int(rng.random() < 0.3 + 0.4 * bit)]}

    def numbers(bit, rng):
        return {"n": int(rng.integers(3)), "m": int(rng.integers(3)) + bit}

    assert "answer['sort']" in audit(sample, 0, 1, claimed=CLAIM, samples=4000).event.words
    assert "answer['m']" in audit(numbers, 0, 1, claimed=CLAIM, samples=4000).event.words


def test_a_dict_that_changes_its_keys_is_one_answer_among_others():
    """A batch is read answer by answer: what one of them is changes nothing for the rest."""

    def sample(bit, rng):
        if bit and rng.random() < 0.0005:
            return {"other": 1.0}
        return {"who": float(rng.integers(4))}

    found = audit(sample, 0, 1, claimed=PureDP(0.1), samples=6000, confidence=0.99)
    assert found.epsilon < 0.1 or "other" in found.event.words or found.event.hits_by(0) == 0


@pytest.mark.nightly
def test_a_dict_of_numbers_is_about_as_fast_as_an_array():
    import time

    def arrays(value, n, rng):
        return rng.laplace(value, 10.0, (n, 2))

    def dicts(value, n, rng):
        return [{"a": a, "b": b} for a, b in rng.laplace(value, 10.0, (n, 2)).tolist()]

    def seconds(sample):
        start = time.process_time()
        audit(sample, 0.0, 1.0, claimed=PureDP(0.3), samples=30_000, bits=False)
        return time.process_time() - start

    seconds(arrays)
    assert seconds(dicts) < 3.0 * seconds(arrays)


# --- samplers ---


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (lambda value, rng: 7, "nothing was audited"),
        (lambda value, rng: value, "every answer is the same on each input"),
        (
            lambda value, n, rng: np.random.default_rng().integers(0, 3, n),
            "never draws from the generator",
        ),
    ],
)
def test_answers_that_do_not_depend_on_the_generator_or_the_call_are_warned_of(sample, words):
    found = audit(sample, 0, 1, claimed=CLAIM, samples=2000)
    assert any(words in warning for warning in found.warnings)
    assert f"warning: {found.warnings[0]}" in str(found)


def test_an_honest_sampler_is_not_warned_of():
    assert not audit(laplace, 0.0, 1.0, claimed=CLAIM, samples=2000, bits=False).warnings


# --- what would have been seen ---


def test_what_the_budget_would_have_shown_is_computed_when_it_is_read(monkeypatch):
    from simulator.auditing.audits import fixed_size_tests

    calls = []
    inner = fixed_size_tests.detectable
    monkeypatch.setattr(
        fixed_size_tests, "detectable", lambda *a, **b: calls.append(1) or inner(*a, **b)
    )
    found = audit(laplace, 0.0, 1.0, claimed=CLAIM, samples=5000, bits=False)
    assert not calls
    assert isinstance(found.power, Power)
    assert found.detectable == found.detectable > 0.1
    assert calls == [1]


# --- what an engineer does next ---


def _one_part(value, rng):
    """OpenDP #2922: whether a component exists follows the data."""
    answer = {"noise": int(rng.integers(0, 500))}
    return answer | {"count": int(rng.integers(0, 500))} if value or rng.random() < 0.1 else answer


def _text(value, rng):
    return "mnr"[rng.integers(0, 2) + value] + f"{rng.integers(10**9):09d}x"


@pytest.mark.parametrize(
    ("sample", "event", "step"),
    [
        (_one_part, "key 1 of answer", "a fixed set of parts"),
        (_text, "first character of the answer", "compare some answers"),
    ],
)
def test_a_message_says_what_to_do_next(sample, event, step):
    found = audit(sample, 0, 1, claimed=PureDP(0.5), samples=2000)
    assert found.violated
    assert "lowest bit" not in str(found)
    assert event in found.event.words
    assert step in " ".join(found.advice())


def test_whole_numbers_have_no_rounding():
    def sample(value, rng):
        return {"n": 2 * int(rng.integers(0, 10**6)) + value, "t": "ab"[rng.integers(2)]}

    found = audit(sample, 0, 1, claimed=PureDP(0.5), samples=500)
    assert found.violated
    assert not found.by_bits
