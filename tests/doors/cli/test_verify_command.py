"""``dpcompose verify``: true bounds survive, a broken mechanism and a wrong bound are caught.

All seeds are fixed; each call states a family-wise false-alarm probability of 1e-6.
"""

from dataclasses import dataclass

import pytest

from simulator import Gaussian, Laplace, PureDP
from simulator.adversaries import Rule
from simulator.adversaries.registry import make
from simulator.analysis.verification import PROMISES, closest, usual_bounds, verify
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.errors import Breach, InvalidInput
from simulator.foundations.errors import BrokenPromise
from simulator.theory import BoundOnComposition, Composition, GaussianDP, bound, parse_guarantee
from simulator.theory.bracket import Bracket

pytestmark = pytest.mark.usefixtures("few_draws")

FAMILY = PureDP(0.2)
SETTINGS = {"seed": 3, "jobs": 1, "false_alarm": 1e-6}


def always(_state, _i, _answer, _coins):
    return 0.0, 0


worst = {"worst": make("fixed-worst-case", FAMILY, 1)}  # one rule, compiled once


def names_of(checks):
    return {check.bound for check in checks if check.violated}


# --- broken on purpose --------------------------------------------------------------------------


@dataclass(frozen=True)
class HalfNoise(Laplace):
    """Laplace with half the noise that it claims: twice the epsilon of its guarantee."""

    def guarantee(self, relation=None):
        return PureDP(self.epsilon / 2.0)


@dataclass(frozen=True)
class HalfGaussian(Gaussian):
    """Gaussian noise of half the deviation that it claims; no single loss shows it."""

    def guarantee(self, relation=None):
        return GaussianDP(0.5 / self.sigma)


def attack(mechanism):
    return {"attack": Rule(always, [(WITHOUT_ALICE, EVERYONE, mechanism)])}


@pytest.mark.sampled
@pytest.mark.parametrize("rounds", [1, 50])
def test_half_the_noise_is_caught_in_both_directions(rounds):
    mechanism = HalfGaussian(ALICE, 2.5)
    checks = verify(attack(mechanism), GaussianDP(0.2), rounds, 40_000, **SETTINGS)
    for experiment in (0, 1):
        assert "analytic-gaussian" in names_of(
            check for check in checks if check.experiment == experiment
        )


@pytest.mark.nightly
def test_a_broken_promise_blames_the_mechanism_and_no_bound():
    with pytest.raises(BrokenPromise, match=r"^attack: .* promised 0\.2, a round lost 0\.4,"):
        verify(attack(HalfNoise(ALICE, 0.4)), FAMILY, 1, 40_000, **SETTINGS)


@pytest.mark.nightly  # by day an honest file exits with 0
@pytest.mark.parametrize("rounds", [1, 50])
def test_all_of_the_noise_is_not(rounds):
    checks = verify(attack(Laplace(ALICE, 0.2)), FAMILY, rounds, 40_000, **SETTINGS)
    assert names_of(checks) == set()


@dataclass(frozen=True)
class Halved(BoundOnComposition):
    """A theorem that forgot a factor of two: grants at every delta half of what it should."""

    name = "halved"

    def epsilon(self, delta):
        honest = super().epsilon(delta)
        return Bracket(honest.lower / 2, honest.upper / 2, honest.value / 2)

    def delta(self, epsilon):
        return super().delta(2.0 * epsilon)


WHERE_TIGHT = {
    2: ["basic"],
    30: ["kairouz-oh-viswanath-3.3"],
    200: [
        "kairouz-oh-viswanath-3.5",
        "advanced-tight-mean",
        "advanced",
        "zcdp-canonne-kamath-steinke",
    ],
}
"""Rounds after which half of each bound is less than the worst case needs at some probe."""


@pytest.mark.sampled
@pytest.mark.parametrize("rounds", WHERE_TIGHT)
def test_a_bound_with_its_epsilon_halved_is_caught_and_the_right_one_is_not(rounds):
    composition = Composition.repeat(FAMILY, rounds)
    for name in WHERE_TIGHT[rounds]:
        right, wrong = (kind(bound(name), composition) for kind in (BoundOnComposition, Halved))
        checks = verify(worst, FAMILY, rounds, 40_000, bounds=[right, wrong], **SETTINGS)
        assert {(check.bound, check.experiment, check.violated) for check in checks} == {
            (label, experiment, label == "halved")
            for label in (name, "halved")
            for experiment in (0, 1)
        }


def test_a_bound_for_half_the_epsilon_is_caught():
    half = Composition.repeat(PureDP(0.1), 30)
    wrong = [bound("kairouz-oh-viswanath-3.3").on(half)]
    checks = verify(worst, FAMILY, 30, 20_000, bounds=wrong, **SETTINGS)
    assert all(check.violated for check in checks)


# --- which bounds -------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["pure:1", "approx:1,1e-3", "gdp:1", "zcdp:1", "range:1"])
def test_every_family_has_bounds_to_check(family):
    usual = usual_bounds(Composition.repeat(parse_guarantee(family), 3))
    assert usual
    assert all(chosen.kind in PROMISES for chosen in usual)


def test_a_family_without_bounded_losses(dpcompose, adversary_file):
    attack = adversary_file(GAUSSIAN, "gaussian")
    options = ("--family", "gdp:0.5", "--rounds", 5, "--trials", 2_000, "--jobs", 1)
    said = dpcompose("verify", attack, *options, "--json")
    assert (said.code, said.err) == (0, "")
    assert {claim["bound"] for claim in said.json["claims"]} >= {"analytic-gaussian"}


GAUSSIAN = """
from simulator import Gaussian

def gaussian(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, Gaussian(ALICE, 2.0)
"""


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--bound", "basik"), "'basik'; did you mean basic"),
        (("--bound", "gdp-clt"), "gdp-clt is of kind approximation"),
        (("--bound", "analytic-gaussian"), "analytic-gaussian: "),
        (("--family", "renyi:2,0.1"), "none of the bounds"),
        *((("--false-alarm", value), "--false-alarm must") for value in ("0", "1", "nan")),
        (("--rounds", 0), "rounds"),
        (("--trials", 0), "trials"),
        (("nobody",), "no adversary 'nobody'"),
    ],
)
def test_bad_input_is_one_line(dpcompose, options, named):
    assert named in dpcompose("verify", *options).complaint


def test_a_breach_names_the_adversary():
    with pytest.raises(Breach, match=r"^attack: menu entry 0 of always: "):
        verify(attack(Laplace(ALICE, 0.3)), FAMILY, 5, 10, **SETTINGS)
    with pytest.raises(InvalidInput, match=r"^attack: trials must be at least 1"):
        verify(attack(Laplace(ALICE, 0.1)), FAMILY, 5, 0, **SETTINGS)


# --- the command --------------------------------------------------------------------------------

BROKEN = """
from dataclasses import dataclass
from simulator import Gaussian, PureDP, RandomizedResponse
from simulator.theory import GaussianDP

@dataclass(frozen=True)
class TooTrue(RandomizedResponse):
    def guarantee(self, relation=None):
        return PureDP(0.2)

@dataclass(frozen=True)
class HalfGaussian(Gaussian):
    def guarantee(self, relation=None):
        return GaussianDP(0.5 / self.sigma)

def broken(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, TooTrue(ALICE, 0.5)

def half(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, HalfGaussian(ALICE, 1.0)

def honest(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, Gaussian(ALICE, 2.0)
"""
SMALL = ("--rounds", 20, "--trials", 2_000, "--seed", 1, "--jobs", 1)


def test_a_file_with_a_broken_mechanism_exits_1(dpcompose, adversary_file):
    said = dpcompose("verify", adversary_file(BROKEN, "half"), *SMALL, "--family", "gdp:0.5")
    assert (said.code, said.err) == (1, "")
    assert "VIOLATED" in said.out
    assert " 0 are violated" not in said.out


def test_a_broken_promise_is_one_line_that_names_both_numbers(dpcompose, adversary_file):
    said = dpcompose("verify", adversary_file(BROKEN, "broken"), *SMALL)
    assert (said.code, said.out) == (1, "")
    assert len(said.err.splitlines()) == 1
    assert "the mechanism promised 0.2, a round lost 0.5" in said.err


def test_an_honest_file_exits_0(dpcompose, adversary_file):
    said = dpcompose("verify", adversary_file(), *SMALL)
    assert (said.code, said.err) == (0, "")
    assert "VIOLATED" not in said.out
    *_, counts, tested = said.out.splitlines()
    assert counts.endswith(" 0 are violated")
    assert tested.startswith("likelihoods: tested with ")


KEYS = ["adversary", "experiment", "bound", "epsilon", "delta", "measured", "slack", "verdict"]
KEYS += ["trials"]
SHOWN = ["family", "rounds", "trials", "seed", "false_alarm", "claims", "likelihoods"]


@pytest.mark.nightly
def test_the_json_has_every_claim(dpcompose):
    shown = dpcompose("verify", "press-when-ahead", *SMALL, "--family", "pure:0.2", "--json").json
    assert list(shown) == SHOWN
    assert all(list(claim) == KEYS for claim in shown["claims"])
    bounds = usual_bounds(Composition.repeat(FAMILY, 20))
    assert len(shown["claims"]) == 2 * len(bounds)
    assert "violated" not in {claim["verdict"] for claim in shown["claims"]}


@pytest.mark.nightly
def test_the_json_has_every_claim_and_the_table_the_closest(dpcompose, adversary_file):
    family = GaussianDP(0.5)
    files = adversary_file(BROKEN, "half"), adversary_file(BROKEN, "honest", name="b.py")
    options = ("verify", *files, *SMALL, "--family", family)
    said = dpcompose(*options, "--json")
    assert said.code == 1
    assert said.err == ""
    shown = said.json
    assert list(shown) == SHOWN
    assert all(list(claim) == KEYS for claim in shown["claims"])
    assert {claim["verdict"] for claim in shown["claims"]} >= {"violated"}
    assert len(shown["claims"]) == 2 * 2 * len(usual_bounds(Composition.repeat(family, 20)))
    every = dpcompose(*options, "--every").out.splitlines()
    assert len(every) - 5 == len(shown["claims"])
    few = dpcompose(*options).out.splitlines()
    violated = sum(claim["verdict"] == "violated" for claim in shown["claims"])
    assert len(few) - 5 == 2 + violated  # the honest one's two, and every violation


@pytest.mark.nightly
def test_the_closest_claim_is_the_one_with_the_least_slack():
    checks = verify(worst, FAMILY, 30, 5_000, **SETTINGS)
    shown = closest(checks)
    assert [check.experiment for check in shown] == [0, 1]
    for check in shown:
        rivals = [c for c in checks if c.experiment == check.experiment]
        assert check.verdict.slack == min(c.verdict.slack for c in rivals)
