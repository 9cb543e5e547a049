"""The truths that intervals are held against, each made another way."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from experiments.coverage.adversaries import designed, suite
from experiments.coverage.automata import automata
from experiments.coverage.cases import at_atom
from experiments.coverage.entries import between, gaussian, laplace
from experiments.coverage.spenders import spenders, width
from experiments.coverage.subject import Subject
from experiments.coverage.truth import REFUSED, law_of
from simulator import PureDP, simulate
from simulator.theory import GaussianDP

SUITE = suite()
DESIGNED = designed()
FINITE = [s for s in (*DESIGNED, *automata()[:12]) if not s.is_continuous]
PATHS = 3000
CELLS = 128


def name_of(subject):
    return subject.name


def brute(subject, b):
    """{loss: probability} as exact fractions, by listing every sequence of answers and coins."""
    law = {}

    def visit(i, state, move, spent, loss, mass):
        entry = subject.entries[move]
        atoms = entry.atoms
        if subject.gate is not None:
            fits, spent = subject.gate(spent, entry.price)
            atoms = atoms if fits else REFUSED
        for atom in atoms:
            here = mass * Fraction(atom[1 + b])
            if here == 0:
                continue
            so_far = loss + (-atom.loss if b else atom.loss)
            if i + 1 == subject.rounds:
                law[so_far] = law.get(so_far, 0) + here
                continue
            for p, after, next_move in subject.moves(state, i + 1, atom.answer):
                visit(i + 1, after, next_move, spent, so_far, here * Fraction(p))

    for p, state, move in subject.moves(subject.state, 0, math.nan):
        visit(0, state, move, 0.0, 0.0, Fraction(p))
    return law


@pytest.mark.sampled
@pytest.mark.parametrize("subject", FINITE, ids=name_of)
def test_the_truth_agrees_with_all_sequences(subject):
    tosses = len(subject.branches) if subject.name in TOSSING or subject.kind == "automaton" else 1
    outcomes = max(len(entry.atoms) for entry in subject.entries) * tosses
    short = replace(subject, rounds=min(subject.rounds, int(math.log(PATHS, outcomes))))
    for b in (0, 1):
        law, listed = law_of(short, b), brute(short, b)
        finite = sorted(loss for loss in listed if math.isfinite(loss))
        assert float(sum(listed.values())) == pytest.approx(1.0, abs=1e-12)
        assert law.infinite == pytest.approx(float(listed.get(math.inf, 0)), rel=1e-12)
        for place in np.linspace(0, len(finite) - 1, 7).astype(int):
            point = finite[place] - 1e-6
            tail = sum(mass for loss, mass in listed.items() if loss > point)
            delta = sum(
                mass * Fraction(-math.expm1(point - loss))
                for loss, mass in listed.items()
                if loss > point
            )
            assert law.tail(point) == pytest.approx((float(tail),) * 2, rel=1e-12)
            assert law.delta(point) == pytest.approx((float(delta),) * 2, rel=1e-8)


TOSSING = {"any-day", "sharp-by-coin"}
"""These toss a coin in every round."""


@pytest.mark.parametrize("subject", DESIGNED, ids=name_of)
def test_the_laws_of_the_menu_are_those_of_the_mechanisms(subject):
    for entry in subject.entries:
        database_0, database_1, mechanism = entry.challenge
        pair = mechanism.pair(database_0, database_1)
        for atom in entry.atoms:
            assert pair.loss(atom.answer) == pytest.approx(atom.loss, rel=1e-9, abs=1e-12)
        for b in (0, 1):
            if entry.noise is None:
                assert math.fsum(atom[1 + b] for atom in entry.atoms) == pytest.approx(1.0)
            else:
                edges = np.array([[i.low, i.high] for i in entry.intervals])
                masses = entry.noise.between(edges[:, 0], edges[:, 1], b)
                assert masses.sum() == pytest.approx(1.0, abs=1e-12)
                for interval in entry.intervals:
                    loss = pair.loss(interval.answer)
                    assert entry.noise.answer_at(np.array(loss)) <= interval.answer + 1e-9


@pytest.mark.sampled
@pytest.mark.parametrize("subject", DESIGNED, ids=name_of)
def test_the_truth_agrees_with_plain_play(subject):
    """False alarm: 1e-8 in each of four intervals, 1e-5 in the whole suite."""
    player = subject.player
    played = simulate(
        lambda coins: player(coins), family=subject.family, rounds=subject.rounds,
        trials=max(60, 12_000 // subject.rounds), seed=5, filter=subject.filter, jobs=1,
    )  # fmt: skip
    for b in (0, 1):
        law = law_of(subject, b, CELLS)
        for rare in (0.5, 0.1):
            point = law.quantile(rare)
            if not subject.is_continuous:
                point = at_atom(law, rare, "midpoint")
            for found, truth in (
                (played.tail(point, b, 1.0 - 1e-8), law.tail(point)),
                (played.delta(point, b, 1.0 - 1e-8), law.delta(point)),
            ):
                assert found.lower <= truth.upper
                assert found.upper >= truth.lower


class Scripted:
    """Coins that give what a generator of the suite asks for, from one number."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number

    def integers(self, most):
        return 7 if self.number * most < 1.0 else 8


@pytest.mark.parametrize(
    "subject", [*(s for s in DESIGNED if s.generator), *spenders()], ids=name_of
)
def test_a_generator_does_what_its_step_does(subject):
    draw = np.random.default_rng(3)
    seen = set()
    for trial in range(300):
        number = subject.branches[trial % len(subject.branches)][1]
        playing, state, answer = subject.generator(Scripted(number)), subject.state, None
        ones = draw.random()
        for i in range(subject.rounds):
            challenge = playing.send(answer)
            state, move = subject.step(
                state, i, math.nan if answer is None else answer, Scripted(number)
            )
            assert challenge == subject.entries[move].challenge
            seen.add(move)
            entry = subject.entries[move]
            answers = [piece.answer for piece in entry.atoms or entry.intervals]
            answer = answers[-1] if draw.random() < ones**0.2 else draw.choice(answers)
            answer = min(answer, 1.0) if subject.name in ("window", "diary") else answer
    assert seen == set(range(len(subject.entries))), "a move was never compared"


def test_ends_are_narrow_where_an_adversary_spends_what_its_family_allows():
    found = width(3, trials=1500)  # randomized response, weaker while ahead: all of the family's
    assert found.share > 0.9
    assert not found.missed
    assert found.ratio < 1.2
    assert replace(found, lower=1.1 * found.truth.upper).missed


def ignoring(state, i, answer, coins):
    return state, 0


def test_the_grid_encloses_gaussian_sums():
    subject = Subject("g", "test", 8, GaussianDP(0.5), (gaussian(2.0, 0.5),), ignoring)
    mean, deviation = 8 * 0.125, math.sqrt(8) * 0.5
    for b in (0, 1):
        law = law_of(subject, b, 1024)
        for point in (-1.0, 0.5, 2.0, 5.0, 9.0):
            truth = norm.sf(point, mean, deviation)
            delta = truth - math.exp(point) * norm.sf(point, -mean, deviation)
            for found, exact in ((law.tail(point), truth), (law.delta(point), delta)):
                assert found.lower <= exact * (1 + 1e-10)
                assert found.upper >= exact * (1 - 1e-10)
                assert found.upper <= found.lower * 1.05


def test_the_grid_encloses_laplace():
    epsilon, point = 0.7, 0.3
    one = Subject("l", "test", 1, PureDP(epsilon), (laplace(epsilon, 0.5),), ignoring)
    found = law_of(one, 0).delta(point)
    assert found.lower <= -math.expm1((point - epsilon) / 2) <= found.upper

    def delta_of_one(e):
        if e <= -epsilon:
            return -math.expm1(e)
        return max(-math.expm1((e - epsilon) / 2), 0.0)

    density = quad(
        lambda x: 0.25 * math.exp((x - epsilon) / 2) * delta_of_one(point - x), -epsilon, epsilon,
        epsabs=1e-13, points=[point - epsilon],
    )[0]  # fmt: skip
    exact = 0.5 * delta_of_one(point - epsilon) + density
    exact += 0.5 * math.exp(-epsilon) * delta_of_one(point + epsilon)
    found = law_of(replace(one, rounds=2), 0).delta(point)
    assert found.lower <= exact <= found.upper
    assert found.upper <= found.lower * 1.001


def test_no_loss_is_above_the_largest_there_can_be():
    """Sums of ten losses of 1.2 at most: above 12 the transform leaves rounding, some 1e-22."""
    law = law_of(SUITE["laplace-coin"], 0, CELLS)
    assert law.tail(12.0).lower == law.delta(12.0).lower == 0.0
    assert law.tail(11.9).lower > 0.0


def test_cutting_a_continuous_answer_does_not_change_its_law():
    entry = laplace(0.4, 0.5)
    whole = Subject("w", "test", 5, PureDP(0.4), (entry,), ignoring)
    cut = replace(whole, entries=(replace(entry, intervals=between((-1.0, 0.2, 0.9, 4.0))),))
    first, second = law_of(whole, 0, CELLS), law_of(cut, 0, CELLS)
    for point in (-1.0, 0.1, 1.2):
        # a cell that a cut divides lies on both sides of it, with one place
        assert first.tail(point) == pytest.approx(second.tail(point), rel=1e-9)


def test_epsilon_inverts_delta():
    for name in ("feint", "ladder", "crooked", "drip"):
        for b in (0, 1):
            law = law_of(SUITE[name], b)
            for target in (0.01, 1e-4, 1e-9):
                found = law.epsilon(target).lower
                if law.infinite > target:
                    assert found == math.inf
                else:
                    assert law.delta(found).lower == pytest.approx(target, rel=1e-9)


def test_an_atom_at_the_threshold_is_not_above_it():
    law = law_of(SUITE["hit-and-run"], 1)
    atom = float(law.atoms()[2])
    beside = law.tail(np.nextafter(atom, 0.0)), law.tail(np.nextafter(atom, 9.0))
    assert beside == (law.tail(atom), law.tail(atom))
    assert law.tail(atom * (1 - 1e-6)).lower > law.tail(atom).lower


def test_two_truths_by_hand():
    assert law_of(SUITE["feint"], 0).epsilon(1e-12).lower == pytest.approx(46.0, abs=1e-5)
    bold = 1e-3 * (1.0 + math.exp(-2.0)) ** -6  # the coin, and six bold rounds won
    law = law_of(SUITE["two-thetas"], 1)
    assert law.tail(11.999786).lower == pytest.approx(bold, rel=1e-12)
    delta = bold * -math.expm1(11.999786 - 12.0)
    assert law.delta(11.999786).lower == pytest.approx(delta, rel=1e-8)
    assert law.epsilon(delta).lower == pytest.approx(11.999786, rel=1e-12)
