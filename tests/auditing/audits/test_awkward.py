"""Awkward samplers and mistakes that ``audit`` meets."""

import enum
import math
import uuid
from collections import deque

import numpy as np
import pytest

from simulator import Database, PureDP
from simulator.auditing import audit, audit_answers, audit_composition
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import BlackBox


def _laplace(shift, n, rng):
    return rng.laplace(shift, 1.0, n)


def _small_audit(sample, epsilon=0.1, samples=4000, **options):
    return audit(sample, 0, 1, claimed=PureDP(epsilon), samples=samples, confidence=0.99, **options)


def test_a_batch_sampler_may_reuse_its_buffer():
    buffer = np.zeros(10_000)

    def sample(shift, n, rng):
        buffer[:n] = rng.laplace(shift, 1.0, n)
        return buffer[:n]

    # The same noise in fresh arrays is caught with 150 draws.
    assert _small_audit(sample).verdict == "violated"


@pytest.mark.parametrize("buffer", [np.zeros(3), [0.0]])
def test_a_single_sampler_may_reuse_its_buffer(buffer):
    def sample(shift, rng):
        buffer[:] = rng.laplace(shift, 1.0, len(buffer))
        return buffer

    result = _small_audit(sample)
    assert result.verdict == "violated"
    assert result.reproducible


def test_a_hidden_attribute_is_no_silent_pass():
    class Answer:
        def __init__(self, secret):
            self.secret = secret

    # Caught, or refused with one line; never "not violated".
    try:
        result = _small_audit(lambda secret, rng: Answer(secret))
    except InvalidInput:
        return
    assert result.verdict == "violated"


@pytest.mark.parametrize("offset", [0, 2**62])
def test_parity_of_whole_numbers_is_found(offset):
    def sample(secret, n, rng):
        even = offset + 2 * rng.integers(0, 10**6, n)
        return even + (rng.random(n) < (0.9 if secret else 0.1))

    assert _small_audit(sample, samples=50_000).verdict == "violated"


@pytest.mark.parametrize("dtypes", [(np.float32, np.float64)])
def test_dtype_of_an_array_is_part_of_the_answer(dtypes):
    def sample(secret, rng):
        return np.zeros(3, dtypes[secret])

    assert _small_audit(sample).verdict == "violated"


def test_shape_of_an_array_is_part_of_the_answer():
    assert (
        _small_audit(lambda secret, rng: np.zeros((2, 3) if secret else (3, 2))).verdict
        == "violated"
    )


def test_last_letter_of_a_string_is_found():
    def sample(secret, n, rng):
        return [f"{i:09d}{'ab'[secret]}" for i in rng.integers(0, 10**9, n)]

    assert _small_audit(sample).verdict == "violated"


def test_masked_answers_are_read():
    def sample(secret, n, rng):
        return np.ma.array(rng.integers(0, 5, n), mask=rng.random(n) < (0.9, 0.1)[secret])

    assert _small_audit(sample).verdict == "violated"


def test_a_long_double_replays():
    def sample(secret, n, rng):
        return rng.laplace(secret, 1.0, n).astype(np.longdouble)

    assert _small_audit(sample, epsilon=1.0, samples=400).reproducible


def test_a_missing_second_input_is_a_mistake():
    with pytest.raises(InvalidInput, match="there must be two inputs"):
        audit(_laplace, 0, claimed=PureDP(1.0), samples=400)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_detectable_lies_above_the_claim(epsilon):
    # With 64 draws at 0.999999 nothing near the claim can be seen.
    result = audit(
        lambda _, n, rng: rng.integers(0, 2, n), 0, 1, claimed=PureDP(epsilon), samples=64
    )
    assert result.detectable > 1.1 * epsilon


class _NoRepr:
    def __repr__(self):
        raise RuntimeError("no repr")


class _NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def _nested(_, rng):
    answer: list = []
    for _ in range(3000):
        answer = [answer]
    return answer


def _raise_no_text(_, rng):
    raise _NoText


@pytest.mark.parametrize(
    "sample",
    [
        lambda _, rng: _NoRepr(),
        lambda _, rng: 10**5000 + int(rng.integers(2)),
        lambda _, n, rng: np.zeros((n, 0)),
        _nested,
        _raise_no_text,
    ],
    ids=["repr raises", "huge whole number", "no columns", "deep list", "str raises"],
)
def test_odd_answers_give_a_verdict_or_one_line(sample):
    try:
        _small_audit(sample, samples=64)
    except InvalidInput as error:
        assert "\n" not in str(error)  # noqa: PT017


def test_a_message_of_several_lines_becomes_one():
    def sample(_, rng):
        raise ValueError("first\nsecond")

    with pytest.raises(InvalidInput) as error:
        _small_audit(sample, samples=64)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"seconds": "x"},
        {"seconds": None},
        {"seconds": math.nan},
        {"seconds": -1},
        {"bits": "no"},
        {"stop_early": "no"},
        {"epsilon": -0.1},
        {"epsilon": 1e5},
    ],
    ids=str,
)
def test_bad_options_are_refused(options):
    (name,) = options
    with pytest.raises(InvalidInput, match=f"^{name} must be"):
        audit(_laplace, 0, 1, claimed=PureDP(0.1), samples=64, **options)


def test_pairs_must_be_a_sequence():
    with pytest.raises(InvalidInput, match="pairs must be a list"):
        audit(_laplace, pairs=3, claimed=PureDP(1.0), samples=64)


@pytest.mark.parametrize("bits", [True, False])
@pytest.mark.parametrize("places", [0, 6])
@pytest.mark.filterwarnings("error")
def test_infinite_answers_print_no_warning(bits, places):
    def sample(shift, n, rng):
        return np.where(rng.random(n) < 0.1, np.inf, np.round(rng.laplace(0, 99.0, n), places))

    assert not _small_audit(sample, bits=bits).violated


@pytest.mark.parametrize("answers", [None, 3, np.array(1.0)], ids=str)
def test_recorded_answers_must_be_a_sequence(answers):
    with pytest.raises(InvalidInput, match="answers must be a list or an array"):
        audit_answers(answers, answers, claimed=PureDP(1.0))


class Dict(dict):
    pass


class Set(set):
    pass


class Array(np.ndarray):
    pass


class PrivateSlot:
    __slots__ = ("__secret",)

    def __init__(self, secret):
        self.__secret = secret


class Colour(enum.Enum):
    RED = 0
    BLUE = 1


def _with_secret(answer, secret):
    answer.secret = secret
    return answer


def _within_itself(secret):
    answer = [secret]
    answer += [answer, answer]
    return answer


ODD = {
    "an attribute of a dict": lambda secret: _with_secret(Dict(), secret),
    "an attribute of a set": lambda secret: _with_secret(Set(), secret),
    "an attribute of an array": lambda secret: _with_secret(np.zeros(2).view(Array), secret),
    "a private slot": PrivateSlot,
    "a member of an enumeration": Colour,
    "a type": lambda secret: (int, float)[secret],
    "a UUID": lambda secret: uuid.UUID(int=secret),
    "a list within itself": _within_itself,
    "the last bit of a long double": lambda secret: (
        np.longdouble(1) + np.finfo(np.longdouble).eps * secret
    ),
    "a digit within a long number": lambda secret: 10**5000 + (secret << 64),
    "the end of a long text of an object": lambda secret: deque("a" * 999 + "ab"[secret]),
}
if np.finfo(np.longdouble).eps == np.finfo(float).eps:
    del ODD["the last bit of a long double"]


@pytest.mark.sampled
@pytest.mark.parametrize("name", ODD)
def test_what_an_odd_answer_hides_is_found(name):
    def sample(secret, rng):  # randomized response, of epsilon ln 9
        return ODD[name](secret ^ int(rng.random() < 0.1))

    assert _small_audit(sample, epsilon=1.0, samples=1000).violated


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit])
@pytest.mark.parametrize("batched", [True, False])
def test_an_exit_is_an_answer(error, batched):
    def one(secret, rng):
        if rng.random() < (0.9 if secret else 0.1):
            raise error
        return 0

    def many(secret, n, rng):
        return [one(secret, rng) for _ in range(n)]

    assert _small_audit(many if batched else one, epsilon=1.0, samples=1000).violated


def test_equal_sets_are_one_answer():
    orders = [0, 8], [8, 0]  # of one set, whose members come out in the order they went in
    assert list(set(orders[0])) != list(set(orders[1]))
    result = _small_audit(lambda secret, rng: set(orders[secret]), samples=200)
    assert not result.violated
    assert result.epsilon == 0.0


def test_an_answer_with_too_many_parts_is_refused():
    answer = ()
    for _ in range(50):
        answer = (answer, answer)
    with pytest.raises(InvalidInput, match="more than 300,000 parts"):
        _small_audit(lambda secret, rng: answer, time_limit=60.0)


class LyingAlike:
    def __init__(self, secret):
        self.secret = secret

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        return "an answer"


@pytest.mark.sampled
@pytest.mark.parametrize(
    "answer",
    [
        LyingAlike,
        PrivateSlot,
        lambda secret: _with_secret(Dict(), secret),
        lambda secret: (_NoRepr(), secret),
        lambda secret: 10**5000 + secret,
        _within_itself,
    ],
    ids=["alike", "slot", "dict", "repr raises", "huge whole number", "within itself"],
)
def test_what_an_odd_answer_hides_is_found_in_a_view(answer):
    everyone = Database({"alice": 1, "others": 3})

    def sample(database, rng):  # randomized response, of epsilon ln 9
        return answer(database.count_of("alice") ^ int(rng.random() < 0.1))

    def ask(coins):
        yield everyone.remove("alice"), everyone, BlackBox(sample, PureDP(1.0))

    result = audit_composition(
        ask, PureDP(1.0), 1, claimed=PureDP(1.0), samples=1000, confidence=0.99, jobs=1
    )
    assert result.violated
    assert result.reproducible  # an object is equal to itself alone, and yet comes again


@pytest.mark.filterwarnings("error")
def test_numbers_near_the_largest_print_no_warning():
    def sample(shift, n, rng):
        return rng.integers(-2, 3, (n, 2)) * 1e300

    assert not _small_audit(sample, samples=600, bits=False).violated


def test_a_fixed_seed_is_found_before_a_verdict():
    def sample(shift, n, rng):
        return 3 * shift + np.random.default_rng(5).integers(0, 3, n)

    with pytest.raises(InvalidInput, match="fixes its own seed"):
        _small_audit(sample, samples=4000)
