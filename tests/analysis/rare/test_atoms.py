"""Tails at the atoms of a loss: whole steps are the witness, counted without rounding.

Every finite loss of these games is a whole number of steps. At each atom, at both floats beside it
and between the atoms, in both experiments, simulation, band, exact law and Doob's recursion must
all count the atoms above and no part of the one at the threshold.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from simulator import PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.adversaries.registry import make
from simulator.analysis import Tilted
from simulator.analysis.estimation import tail, tail_violation, weighted_tail
from simulator.analysis.rare import Setting, enumerate_states, estimate_rare
from simulator.engine.specification import Specification
from simulator.theory import ApproxDP, FiniteLaw, randomized_response
from simulator.theory.pld.response_atoms import mixed_atoms, repeated_atoms
from tests.helpers.games import ALICE, on_alice, press

ALARM = 1e-6
"""The probability that one interval of these tests misses what it should hold, at most."""
TRIALS = 20_000


class Game(NamedTuple):
    """An adversary whose finite losses are whole numbers of ``step``."""

    adversary: Any
    family: Any
    rounds: int
    step: float

    @property
    def thresholds(self):
        """(threshold, n): a loss of more than n steps is above it."""
        most = round(self.rounds * self.family.pure_epsilon / self.step) if self.pure else 8
        for n in range(-most - 1, most + 2):
            for written in {n * self.step, float(f"{n * self.step:.9g}")}:
                yield from ((math.nextafter(written, side), n) for side in (-math.inf, math.inf))
                yield written, n
            yield (n + 0.5) * self.step, n

    @property
    def pure(self):
        return isinstance(self.family, PureDP)

    def steps(self, losses, b):
        """The signed losses in whole steps; infinite ones stay."""
        signed = -losses if b else losses
        return np.where(np.isfinite(signed), np.rint(signed / self.step), signed)


RESPONSES = on_alice(RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.3))
GAMES = {
    "one stake": Game(make("fixed-worst-case", PureDP(0.1), 30), PureDP(0.1), 30, 0.1),
    "two stakes": Game(Rule(press, RESPONSES), PureDP(0.3), 9, 0.1),
    "leaky": Game(
        make("fixed-worst-case", ApproxDP(0.2, 0.01), 8), ApproxDP(0.2, 0.01), 8, 0.2
    ),
}  # fmt: skip


@cache
def played(name):
    game = GAMES[name]
    return simulate(game.adversary, game.family, game.rounds, TRIALS, seed=1, jobs=1)


@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_simulation_counts_whole_atoms(name, b):
    game, result = GAMES[name], played(name)
    steps = game.steps(result.losses(b), b)
    thresholds, atoms = zip(*game.thresholds)
    expected = [int(np.count_nonzero(steps > n)) for n in atoms]
    assert [result.tail(t, b).hits for t in thresholds] == expected
    band = result.tail_band(thresholds, b)
    assert (band.value * TRIALS).round().astype(int).tolist() == expected
    assert [round(TRIALS * tail(result.losses(b), t, b).value) for t in thresholds] == expected
    for threshold, hits in zip(thresholds, expected):
        verdict = tail_violation(result.losses(b), threshold, 0.5, experiment=b)
        assert verdict.value * TRIALS == pytest.approx(hits)


@pytest.mark.nightly
def test_comparing_the_sums_as_they_are_would_not_do():
    """The games are hard enough: rounding puts a good part of some atoms above themselves."""
    for name, game in GAMES.items():
        losses = played(name).losses(0)
        split = [
            n
            for t, n in game.thresholds
            if 0 < np.mean(losses > t) - np.mean(game.steps(losses, 0) > n) > 0.01
        ]
        assert split, name


@pytest.mark.sampled(n=4)
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_the_exact_recursion_agrees(name, b):
    game = GAMES[name]
    graph = enumerate_states(Specification(game.adversary, game.family, game.rounds, 10), b)
    steps, law = game.steps(graph.signed, 0), graph.law()
    for threshold, n in game.thresholds:
        exact = float(law[steps > n].sum())
        assert graph.tail(threshold) == pytest.approx(exact, rel=1e-12, abs=1e-15)
        found = played(name).tail(threshold, b, 1 - ALARM)
        assert found.lower <= min(exact, 1.0) <= found.upper


def test_the_exact_laws_agree():
    game = GAMES["one stake"]
    truth = 1.0 / (1.0 + math.exp(-0.1))
    atoms, mixed = repeated_atoms(0.1, 30), mixed_atoms(((0.1, 10), (0.3, 4)))
    net = np.add.outer(2 * np.arange(11) - 10, 3 * (2 * np.arange(5) - 4))
    mass = np.multiply.outer(
        binom.pmf(np.arange(11), 10, truth),
        binom.pmf(np.arange(5), 4, 1.0 / (1.0 + math.exp(-0.3))),
    )
    for threshold, n in game.thresholds:
        if threshold >= 0.0:
            exact = binom.sf((n + 30) // 2, 30, truth)
            assert atoms.tail(threshold) == pytest.approx(exact, rel=1e-9)
            assert mixed.tail(threshold) == pytest.approx(float(mass[net > n].sum()), rel=1e-9)
    assert repeated_atoms(0.1, 30).tail(0.6) == pytest.approx(0.15731, abs=1e-5)


def test_the_law_of_one_round_agrees():
    for law, atom in (
        (randomized_response(0.3), 0.1 + 0.2),
        (FiniteLaw.from_probabilities([0.6, 0.4], [0.2, 0.8]), math.log(3.0)),
    ):
        top = math.exp(law.atom_log_masses[-1])
        for beside in (atom, math.nextafter(atom, 0.0), math.nextafter(atom, math.inf)):
            assert law.sf(beside) == 0.0
            assert law.cdf(beside) == pytest.approx(1.0)
        assert law.sf(0.99 * atom) == pytest.approx(top)
        assert law.delta(0.99 * atom) == pytest.approx(-top * math.expm1(-0.01 * atom))


@pytest.mark.nightly
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("name", ["one stake", "two stakes"])
def test_weighted_samples_count_whole_atoms(name, b):
    game = GAMES[name]
    result = simulate(
        game.adversary, game.family, game.rounds, TRIALS, seed=2, jobs=1,
        sampling=Tilted(1.5), experiments=[b],
    )  # fmt: skip
    losses, log_weights = result.weighted(b).one_by_one()
    steps, weights = game.steps(losses, b), np.exp(log_weights)
    graph = enumerate_states(Specification(game.adversary, game.family, game.rounds, 10), b)
    for threshold, n in game.thresholds:
        if 4 <= n <= 6:
            found = result.tail(threshold, b, 1 - ALARM)
            assert found.value == pytest.approx(float(weights[steps > n].sum() / TRIALS), rel=1e-12)
            assert found.lower <= graph.tail(threshold) <= found.upper
            alone = weighted_tail(losses, log_weights, threshold, b)
            assert alone.value == found.value


@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("method", ["plain", "auto", "tilted", "doob", "splitting"])
def test_rare_events_at_an_atom(method, b):
    game = GAMES["one stake"]
    exact = repeated_atoms(0.1, 30).tail(0.7)  # the law of -L in experiment 1 is that of L in 0
    atom = exact - repeated_atoms(0.1, 30).tail(0.9)
    trials = TRIALS // 4 if method == "splitting" else TRIALS
    for threshold in (0.6, math.nextafter(0.6, 1.0)):
        event = estimate_rare(
            game.adversary, game.family, game.rounds, trials, epsilon=threshold, seed=1,
            experiment=b, method=method, confidence=1 - ALARM, setting=Setting(jobs=1),
        )  # fmt: skip
        assert event.tail.lower <= exact <= event.tail.upper
        assert event.tail.no_value or event.tail.upper < exact + 0.9 * atom
        if method == "plain":
            assert event.tail == played("one stake").tail(threshold, b, 1 - ALARM)
