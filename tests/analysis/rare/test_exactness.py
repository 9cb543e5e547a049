"""Tilted play against full enumeration: Q(view) W(view) = P_b(view) for every view there is."""

import math

import numpy as np
import pytest

from experiments.figures.rare_error import doob_sample
from simulator import simulate
from simulator.analysis.rare import enumerate_states
from simulator.data import ADD_REMOVE
from simulator.engine.challenges import Challenges
from simulator.engine.sampling import Tilted
from simulator.engine.specification import Specification
from simulator.engine.trials import TiltedTrial
from simulator.errors import NotApplicable
from simulator.mechanisms.tilted import TiltedLaw, tilted_law
from simulator.theory.filters.advanced import WhitehouseFilter
from simulator.theory.filters.sums import SumFilter
from tests.helpers.small_games import (
    ANYTHING,
    FINITE,
    MEASURES,
    MECHANISMS,
    STEERED,
    THETAS,
    WITH_ALICE,
    WITHOUT_ALICE,
    Survey,
    Unlisted,
    adaptive,
    survey,
    unlisted,
)
from tests.helpers.trees import (
    assert_exact,
    by_algorithm_1,
    by_kernel,
    expectation,
    hockey_stick,
    law_of,
    leaves,
    masses,
    tilted_masses,
)

ROUNDS = 4


def specification(adversary, sampling, rounds=ROUNDS, filter_=None):
    return Specification(
        adversary, ANYTHING, rounds, 100, seed=3, sampling=sampling, filter=filter_
    )


# --- one round -----------------------------------------------------------------------------------


class At:
    """Noise that always gives the same uniform number."""

    def __init__(self, u):
        self.u = u

    def random(self):
        return self.u


def law_drawn(law, answers):
    """The probability of each answer, by bisection for the uniform draws at which it changes."""
    first, last = law.draw(At(0.0)), law.draw(At(1.0 - 2.0**-53))
    found = dict.fromkeys(answers, 0.0)
    start, answer = 0.0, first
    while answer != last:
        low, high = start, 1.0 - 2.0**-53
        while high - low > 1e-15 * high and (low + high) / 2 not in (low, high):
            middle = (low + high) / 2
            low, high = (middle, high) if law.draw(At(middle)) == answer else (low, middle)
        found[answer] += high - start
        start, answer = high, law.draw(At(high))
    found[last] += 1.0 - start
    return np.array([found[answer] for answer in answers])


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("name", [*MECHANISMS, "survey"])
def test_one_draw_has_the_tilted_law_and_its_weight(name, theta):
    mechanism = MECHANISMS.get(name) or Survey(0.8)
    for pair_of in ((WITHOUT_ALICE, WITH_ALICE), (WITH_ALICE, WITHOUT_ALICE)):
        both = masses(mechanism, *pair_of)
        answers = [float(y) for y in range(both.shape[1])]
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(both[0]) - np.log(both[1])
        pair = mechanism.pair(*pair_of, ADD_REMOVE)
        law = tilted_law(pair, theta)
        q = tilted_masses(both[0], losses, theta)
        np.testing.assert_allclose(law_drawn(law, answers), q, rtol=1e-9, atol=1e-13)
        for y, p0 in enumerate(both[0]):
            if p0 > 0 and np.isfinite(losses[y]):
                assert pair.loss(answers[y]) == pytest.approx(losses[y], abs=1e-12)
                weight = math.exp(law.psi - theta * losses[y])
                assert q[y] * weight == pytest.approx(p0, rel=1e-10)


def test_answers_without_a_list_have_no_tilted_law():
    with pytest.raises(NotApplicable, match="nor a list of outcomes"):
        tilted_law(Unlisted(0.4).pair(WITHOUT_ALICE, WITH_ALICE), 1.0)
    with pytest.raises(NotApplicable, match="round 1, trial 0 of experiment 0: Unlisted"):
        simulate(unlisted, ANYTHING, 3, 10, sampling=Tilted(1.0), jobs=1)


# --- whole plays ---------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("sampling", MEASURES, ids=str)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_view_of_an_adaptive_adversary_weighs_what_it_should(name, sampling, b):
    assert_exact(specification(adaptive(name), sampling), b)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("sampling", MEASURES, ids=str)
def test_the_kernel_weighs_every_view_as_it_should(sampling, b):
    assert_exact(specification(FINITE, sampling, rounds=3), b, by_kernel)


@pytest.mark.sampled(n=8)
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("sampling", MEASURES, ids=str)
def test_plain_python_with_a_list_of_outcomes(sampling, b):
    assert_exact(specification(survey, sampling), b)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("play", [by_algorithm_1, by_kernel])
@pytest.mark.parametrize("filter_", [SumFilter(1.6, 0.1), WhitehouseFilter(4.0, 0.2, 0.1)])
def test_refused_rounds_weigh_nothing(filter_, play, b):
    refused = 0
    for sampling in (Tilted(0.7), STEERED):
        found = assert_exact(specification(FINITE, sampling, 4, filter_), b, play)
        refused += sum(any(a != a for a in leaf.answers) for leaf in found)
    assert refused > 0


def test_infinite_losses_are_among_the_views():
    found = leaves(FINITE, 3, 0, Tilted(0.0))
    assert expectation(found, lambda signed: float(signed == math.inf)) > 0.05


# --- Doob's transform and the graph of states ----------------------------------------------------


def merged(losses, masses_):
    """Losses and their probabilities, shape (atoms, 2), losses closer than 1e-8 taken for one."""
    atoms = []
    for loss, mass in sorted(zip(losses, masses_)):
        if atoms and (loss == atoms[-1][0] or loss - atoms[-1][0] < 1e-8):
            atoms[-1][1] += mass
        else:
            atoms.append([loss, mass])
    return np.array(atoms)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("filter_", [None, SumFilter(1.6, 0.1)], ids=["no filter", "filter"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_graph_is_the_enumeration(name, filter_, b):
    s = specification(adaptive(name), Tilted(0.0), filter_=filter_)
    found = leaves(s.adversary, s.rounds, b, s.sampling, filter_)
    graph = enumerate_states(s, b)
    forward, witness = merged(graph.signed, graph.law()), merged(*zip(*law_of(found).items()))
    np.testing.assert_allclose(forward, witness, rtol=1e-10, atol=1e-9)
    for point in (-0.55, 0.0, 0.41, 1.3):
        exact = expectation(found, hockey_stick(point))
        assert graph.delta(point) == pytest.approx(exact, rel=1e-10, abs=1e-15)
        exact = expectation(found, lambda signed, t=point: float(signed > t + 1e-9))
        assert graph.tail(point) == pytest.approx(exact, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("name", MECHANISMS)
def test_doobs_measure_has_no_variance(name, b):
    s = specification(adaptive(name), Tilted(0.0))
    exact = expectation(leaves(s.adversary, ROUNDS, b, s.sampling), hockey_stick(0.35))
    signed, log_weights = doob_sample(enumerate_states(s, b), 0.35, 200, np.random.default_rng(5))
    values = [math.exp(w) * hockey_stick(0.35)(x) for x, w in zip(signed, log_weights)]
    np.testing.assert_allclose(values, exact, rtol=1e-10)


# --- broken variants that the same checks must catch ---------------------------------------------


def patched(monkeypatch, name):
    """Break the package in one place."""
    if name == "psi":
        init = TiltedLaw.__init__

        def broken(self, pair, theta, answers):
            init(self, pair, theta, answers)
            self.psi += 1e-4

        monkeypatch.setattr(TiltedLaw, "__init__", broken)
    elif name == "theta of the other experiment":
        init = Challenges.__init__

        def broken(self, specification, b):
            init(self, specification, b)
            self.exchanged = not self.exchanged

        monkeypatch.setattr(Challenges, "__init__", broken)
    else:
        monkeypatch.setattr("tests.helpers.trees.TiltedTrial", BROKEN_TRIALS[name])


class WrongSign(TiltedTrial):
    """The sign of the weight is wrong."""

    def account(self, loss):
        before = self.log_beside
        super().account(loss)
        self.log_beside = 2 * before - self.log_beside


class SteeredLate(TiltedTrial):
    """The weight is taken at the theta of the loss after the answer."""

    def draw(self, pair, b):
        self.pair = pair
        return super().draw(pair, b)

    def account(self, loss):
        self.theta = self.theta_of(self.round, self.loss + loss)
        self.law = self.pair.tilted(self.theta)
        super().account(loss)


BROKEN_TRIALS = {"sign of the weight": WrongSign, "steering after the answer": SteeredLate}


@pytest.mark.parametrize("name", ["psi", "theta of the other experiment", *BROKEN_TRIALS])
def test_a_broken_play_is_caught(monkeypatch, name):
    patched(monkeypatch, name)
    for b in (0, 1):
        with pytest.raises(AssertionError):
            assert_exact(specification(adaptive("exponential"), STEERED), b)
