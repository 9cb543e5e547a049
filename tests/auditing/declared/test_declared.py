"""A declared likelihood is held against the mechanism's draws, and only a false one is blamed."""

import math
import struct
from dataclasses import dataclass, replace

import numpy as np
import pytest

from simulator.adversaries.contract import Challenge
from simulator.auditing.declared import (
    Contradiction,
    Examined,
    FalseLikelihood,
    examine,
    require_declared,
)
from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_query, counting_scores
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms import (
    AboveThreshold,
    BlackBox,
    Exponential,
    Free,
    Gaussian,
    Laplace,
    Mechanism,
    RandomizedResponse,
    ReportNoisyMax,
)
from simulator.theory.guarantees.pure import PureDP
from tests.helpers.declared_mechanisms import BROKEN as WRONG
from tests.helpers.declared_mechanisms import HONEST, Own
from tests.helpers.mechanism_cases import CASES

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def generators(seed):
    return tuple(np.random.default_rng([seed, b]) for b in (0, 1))


def examined(mechanism, seed=0, *, first=WITHOUT, second=EVERYONE, **others):
    challenge = Challenge(first, second, mechanism)
    found = examine(challenge, ADD_REMOVE, generators(seed), **others)
    return found if isinstance(found, Contradiction) else None


@dataclass(frozen=True)
class Textbook(Mechanism):
    """The textbook likelihood of Laplace noise, over any sampler."""

    drawn: object
    epsilon: float = 0.1
    exact: bool = True

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(self.epsilon)

    def sample(self, database, noise, relation=ADD_REMOVE):
        return self.drawn(database.count_of("alice"), noise, 1.0 / self.epsilon)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        first, second = (d.count_of("alice") for d in (database_0, database_1))
        return self.epsilon * (abs(answer - second) - abs(answer - first))

    def law(self, database_0, database_1, relation=ADD_REMOVE):
        if not self.exact:
            raise NotApplicable("kept to itself")
        return Laplace(ALICE, self.epsilon).law(database_0, database_1, relation)


def honest(value, noise, scale):
    return value + noise.laplace(scale=scale)


def lowest_bit(value, noise, scale):
    """Alice's bit in the last bit of the float."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", honest(value, noise, scale)))
    return struct.unpack("<d", struct.pack("<Q", (bits & ~1) | value))[0]


def ninth_decimal(value, noise, scale):
    return round(honest(value, noise, scale), 6) + 1e-9 * value


def parity(value, noise, scale):
    """Alice's bit is whether the sixth decimal is odd."""
    return (2 * round(5e5 * honest(value, noise, scale)) + value) / 1e6


def middle_bit(value, noise, scale):
    (bits,) = struct.unpack("<Q", struct.pack("<d", honest(value, noise, scale)))
    return struct.unpack("<d", struct.pack("<Q", (bits & ~(1 << 20)) | (value << 20)))[0]


BROKEN = {
    "a constant": lambda value, noise, scale: 0.0,
    "another constant": lambda value, noise, scale: 1.0,
    "the true value": lambda value, noise, scale: float(value),
    "too little noise": lambda value, noise, scale: honest(value, noise, scale / 3),
    "too much noise": lambda value, noise, scale: honest(value, noise, 3 * scale),
    "the database not looked at": lambda value, noise, scale: honest(0, noise, scale),
    "the databases exchanged": lambda value, noise, scale: honest(1 - value, noise, scale),
    "another shape": lambda value, noise, scale: value + noise.normal(scale=scale),
    "the lowest bit": lowest_bit,
    "a bit in the middle": middle_bit,
    "the ninth decimal": ninth_decimal,
    "the parity of a digit": parity,
}
"""Samplers under the likelihood of Laplace noise for epsilon = 0.5."""


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_sampler_is_blamed_on_the_mechanism(name, exact):
    found = examined(Textbook(BROKEN[name], 0.5, exact))
    line = str(found)
    for words in ("Textbook(", "+1 × 'alice'", "likelihood", "draws"):
        assert words in line
    assert "\n" not in line


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("exact", [True, False])
def test_the_same_likelihood_over_its_own_sampler_passes(seed, exact):
    assert examined(Textbook(honest, 0.5, exact), seed) is None


def test_a_constant_in_the_middle_leaks_nothing_and_contradicts_the_law_alone():
    """Its true loss is 0, which is what the likelihood says of that answer; no draw has it."""
    middle = Textbook(lambda value, noise, scale: 0.5)
    assert examined(replace(middle, exact=False)) is None
    found = examined(middle)
    assert "declared law" in str(found)
    assert found.second == pytest.approx(0.5, abs=0.03)


@dataclass(frozen=True)
class Declares(Mechanism):
    """A coin with a bias by database, and any loss of its two answers."""

    chances: tuple[float, float]
    losses: tuple[float, float]
    answers: tuple[object, object] = (0, 1)

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(1.0)

    def sample(self, database, noise, relation=ADD_REMOVE):
        return self.answers[int(noise.random() < self.chances["alice" in database])]

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        return self.losses[self.answers.index(answer)]


def coin(first, second, **others):
    losses = math.log((1 - first) / (1 - second)), math.log(first / second)
    return Declares((first, second), losses, **others)


ANSWERS = [(0, 1), ("no", "yes"), (None, "yes"), ((0, "a"), (1, "b")), ((0.0, 1.0), (0.0, 2.0))]


@pytest.mark.sampled
@pytest.mark.parametrize("answers", ANSWERS)
def test_any_kind_of_answer_is_held_against_its_loss(answers):
    true = coin(0.4, 0.5, answers=answers)
    assert examined(true) is None
    assert examined(replace(true, losses=(0.0, 0.0))) is not None
    assert examined(replace(true, losses=true.losses[::-1])) is not None


def test_a_ratio_that_is_too_large_on_average_is_named():
    """Losses of -0.2 throughout: E0[e^-L] = e^0.2, and likewise the overlap is not one."""
    found = examined(replace(coin(0.5, 0.5), losses=(-0.2, -0.2)))
    assert found.first == pytest.approx(1.0, abs=0.25)
    assert found.draws < 1 << 14  # it stops when it is clear


@pytest.mark.parametrize(
    ("losses", "database", "said"),
    [((0.0, -math.inf), 0, "loss is -inf"), ((0.0, math.inf), 1, "loss is inf")],
)
def test_an_answer_of_declared_probability_0_is_an_instant_contradiction(losses, database, said):
    found = examined(replace(coin(0.5, 0.5), losses=losses))
    assert f"the answers on database {database} whose {said}" in str(found)
    assert found.draws <= 512


def test_a_loss_that_is_no_number_is_one_too():
    assert "have no loss" in str(examined(replace(coin(0.5, 0.5), losses=(0.0, math.nan))))


def test_a_small_error_takes_more_draws_than_a_large_one():
    def needed(scale):
        drawn = lambda value, noise, _: honest(value, noise, 2.0 * scale)  # noqa: E731
        return examined(Textbook(drawn, 0.5, False), draws=1 << 17).draws

    assert needed(0.25) < needed(0.6)


# --- losses that are wrong by a factor ------------------------------------------------------------


@dataclass(frozen=True)
class OfFive(Mechanism):
    """Randomized response with five answers; its declared loss is the true one times a factor."""

    epsilon: float
    factor: float

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(self.epsilon)

    def sample(self, database, noise, relation=ADD_REMOVE):
        true = database.count_of("alice")
        kept = noise.random() < math.exp(self.epsilon) / (math.exp(self.epsilon) + 4.0)
        return true if kept else (true + 1 + int(noise.integers(4))) % 5

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        first, second = (d.count_of("alice") for d in (database_0, database_1))
        return self.factor * self.epsilon * ((answer == first) - (answer == second))


@dataclass(frozen=True)
class Logistic(Mechanism):
    """Logistic noise; its declared loss times a factor, or that of Laplace noise."""

    epsilon: float
    factor: float = 1.0
    laplace: bool = False

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(self.epsilon)

    def sample(self, database, noise, relation=ADD_REMOVE):
        return database.count_of("alice") + noise.logistic(0.0, 1.0) / self.epsilon

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        x, y = (abs(answer - d.count_of("alice")) * self.epsilon for d in (database_0, database_1))
        curved = math.log1p(math.exp(-y)) - math.log1p(math.exp(-x))
        return self.factor * (y - x + (0.0 if self.laplace else 2.0 * curved))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "mechanism",
    [
        OfFive(0.3, 0.5), OfFive(1.0, 0.9), Logistic(0.1, 0.5), Logistic(0.1, laplace=True),
        Logistic(0.5, 0.8),
    ],
    ids=str,
)  # fmt: skip
def test_a_small_loss_takes_more_draws_until_a_wrong_factor_is_found(mechanism):
    assert "likelihood makes equal" in str(examined(mechanism))


def test_what_would_have_been_found_is_reported():
    """The error shrinks with the root of the draws, and with the size of the loss."""
    challenge = Challenge(WITHOUT, EVERYONE, OfFive(1.0, 1.0))
    few, many = (examine(challenge, ADD_REMOVE, generators(1), draws=n) for n in (2048, 8192))
    assert few.error == pytest.approx(2.0 * many.error, rel=0.1)
    assert f"wrong by {100.0 * many.error:.2g}% throughout" in str(many)
    assert f"or by 1 on {100.0 * many.share:.2g}% of the answers" in str(many)
    assert few.share == pytest.approx(4.0 * many.share, rel=0.1)
    small = Challenge(WITHOUT, EVERYONE, OfFive(0.1, 1.0))
    assert examine(small, ADD_REMOVE, generators(1), draws=2048).error > 5.0 * few.error


def test_beyond_the_declared_loss_only_a_larger_one_would_have_been_found():
    tiny = examine(
        Challenge(WITHOUT, EVERYONE, OfFive(0.1, 1.0)), ADD_REMOVE, generators(1), draws=1024
    )
    assert isinstance(tiny, Examined)
    assert tiny.error > 1.0
    assert f"too small by a factor of {1.0 + tiny.error:.2g} throughout or wrong by 1" in str(tiny)


@pytest.mark.nightly
def test_the_error_that_is_reported_is_found_mostly():
    """A true loss larger and smaller than the declared one, of 1, by the share that is reported.

    In 40 tests of 95%, fewer than 32 findings have probability 1e-4.
    """
    challenge = Challenge(WITHOUT, EVERYONE, OfFive(1.0, 1.0))
    error = examine(challenge, ADD_REMOVE, generators(1), draws=8192).error
    for true in (1.0 + error, 1.0 - error):
        wrong = OfFive(true, 1.0 / true)
        assert sum(examined(wrong, seed, draws=8192) is not None for seed in range(40)) >= 32


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("mechanism", "error", "share"), WRONG, ids=str)
def test_a_wrong_loss_is_found_or_said_to_be_too_small(mechanism, error, share, back):
    challenge = Challenge(*((EVERYONE, WITHOUT) if back else (WITHOUT, EVERYONE)), mechanism)
    found = examine(challenge, ADD_REMOVE, generators(3))
    if isinstance(found, Examined):
        assert 0.0 < error < found.error or 0.0 < share < found.share


@pytest.mark.nightly
@pytest.mark.parametrize(("true", "declared"), [(1.0, 2.0), (1.0, 0.0), (0.0, -1.0), (-1.0, -2.0)])
def test_the_share_that_is_reported_is_found_mostly(true, declared):
    """In 20 tests of 95%, fewer than 15 findings have probability 3e-4."""
    shares = [min(1.0, math.exp(-declared)), math.exp(-true) * min(1.0, math.exp(declared))]
    coin_ = coin(0.5, 0.5)
    share = examine(
        Challenge(WITHOUT, EVERYONE, coin_), ADD_REMOVE, generators(1), draws=4096
    ).share
    p = share / (sum(shares) / 2.0)
    q = p * math.exp(-true)
    wrong = replace(coin(p, q), losses=(math.log((1.0 - p) / (1.0 - q)), declared))
    assert sum(examined(wrong, seed, draws=4096) is not None for seed in range(20)) >= 15


# --- false alarms -------------------------------------------------------------------------------


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("mechanism", HONEST, ids=str)
def test_a_true_loss_that_a_user_writes_passes(mechanism, back):
    """A false alarm has probability 1e-6 for each."""
    pair = (EVERYONE, WITHOUT) if back else (WITHOUT, EVERYONE)
    for seed in range(3):
        found = examine(Challenge(*pair, mechanism), ADD_REMOVE, generators(seed), draws=2048)
        assert isinstance(found, Examined)


@pytest.mark.sampled(n=5)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_mechanisms_of_the_package_pass(case):
    """A false alarm has probability 1e-6 for each."""
    challenge = Challenge(case.database_0, case.database_1, case.mechanism)
    assert isinstance(examine(challenge, case.relation, generators(7), draws=4096), Examined)


SCORES = counting_scores(["alice", "others"])
NUMBERS = Database([0.1, 0.4, 0.5, 0.5, 0.7, 0.9])
OWN = [
    (AboveThreshold(SCORES, 2.0, 0.5), WITHOUT, EVERYONE),
    (ReportNoisyMax(SCORES, 0.5), WITHOUT, EVERYONE),
    (Exponential(SCORES, 0.5), WITHOUT, EVERYONE),
    (RandomizedResponse(ALICE, 0.5), WITHOUT, EVERYONE),
    (Gaussian(ALICE, 1.0), EVERYONE, WITHOUT),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("mechanism", "first", "second"), OWN, ids=lambda x: type(x).__name__)
def test_a_mechanism_s_own_algorithm_draws_from_the_law_of_its_table(mechanism, first, second):
    """Where ``sample`` runs an algorithm and the play draws from a table, both are held to it."""
    databases = first, second
    for draw in (None, lambda b, noise: mechanism.sample(databases[b], noise)):
        assert examined(mechanism, 3, first=first, second=second, draws=4096, draw=draw) is None


@pytest.mark.nightly
def test_false_alarms_are_as_rare_as_stated():
    """1000 true likelihoods at 2%: at most 20 alarms are expected, more than 40 are not.

    Binomial(1000, 0.02) exceeds 40 with probability 1e-5. Draws are few: the events, the bits, the
    means and the law all take part.
    """
    alarms = 0
    for seed in range(250):
        for mechanism in (
            Textbook(honest, 0.5), coin(0.4, 0.5), coin(0.2, 0.1, answers=("a", "b")),
            Gaussian(ALICE, 1.0),
        ):  # fmt: skip
            alarms += examined(mechanism, seed, draws=1024, false_alarm=0.02) is not None
    assert alarms <= 40


# --- all that a play has met --------------------------------------------------------------------


def test_free_parameters_are_examined_at_both_ends_and_black_boxes_are_not():
    constant = Own("nothing", lambda value, noise: 0, lambda answer: 0.0)
    challenges = [
        Challenge(WITHOUT, EVERYONE, Laplace(ALICE, Free(0.1, 0.2))),
        Challenge(WITHOUT, EVERYONE, BlackBox(lambda database: 3, PureDP(0.1))),
        Challenge(WITHOUT, EVERYONE, coin(0.4, 0.5)),
    ]
    found = require_declared(challenges, ADD_REMOVE, 0, draws=1024)
    assert found.mechanisms == 3
    # a constant loss has no scale: the error is that of the others
    with_constant = [*challenges, Challenge(WITHOUT, EVERYONE, constant)]
    assert math.isfinite(require_declared(with_constant, ADD_REMOVE, 0, draws=1024).error)
    alone = require_declared(with_constant[-1:], ADD_REMOVE, 0, draws=1024)
    assert alone.error == math.inf
    assert "a loss that is wrong by 1 on 13% of the answers would have" in str(alone)


def test_the_first_false_one_is_blamed():
    false = Textbook(BROKEN["a constant"])
    challenges = [Challenge(WITHOUT, EVERYONE, m) for m in (coin(0.4, 0.5), false)]
    with pytest.raises(FalseLikelihood, match=r"^Textbook\(") as caught:
        require_declared(challenges, ADD_REMOVE, 0)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("others", [{"draws": 0}, {"false_alarm": 0.0}, {"draws": 1.5}])
def test_bad_input_is_one_line(others):
    (name,) = others
    with pytest.raises(InvalidInput, match=f"^{name} must") as refused:
        examined(coin(0.4, 0.5), **others)
    assert "\n" not in str(refused.value)
