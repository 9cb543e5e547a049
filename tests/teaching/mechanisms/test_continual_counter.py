"""Counters under continual observation, against plain transcriptions of their algorithms."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy

from simulator import Database, simulate
from simulator.data.databases import ADD_REMOVE
from simulator.foundations.errors import Breach, BrokenPromise, InvalidInput
from simulator.mechanisms import Update
from simulator.teaching.mechanisms import ContinualCounter
from simulator.teaching.mechanisms.continual_counter import (
    prefix_factor,
    square_root_factor,
    tree_factor,
)
from simulator.theory import GaussianDP, PureDP

NOTHING = Database({})
FACTORS = [tree_factor, square_root_factor, prefix_factor]


def loss_of(counter, stream_0, stream_1, answers):
    """The loss of a whole conversation, by the chain rule."""
    state, total = counter.opened(NOTHING, NOTHING, ADD_REMOVE), 0.0
    for on_0, on_1, answer in zip(stream_0, stream_1, answers):
        message = Update(on_0, on_1)
        total += counter.answers_to(state, message).loss(answer)
        state = counter.after(state, message, answer)
    return total


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("steps", [1, 3, 8])
def test_the_loss_of_the_counts_is_that_of_their_joint_law(factor, steps):
    """Gaussian counts jointly have covariance sigma^2 B B^T: no step is taken apart."""
    coins = np.random.default_rng(4)
    counter = ContinualCounter(factor(steps), 0.8)
    stream_1 = coins.uniform(size=steps)
    stream_0 = stream_1.copy()
    stream_0[steps // 2] = 0.1
    decoder = np.tri(steps) @ np.linalg.inv(np.array(counter.factor))
    covariance = 0.8**2 * decoder @ decoder.T
    for _ in range(5):
        answers = np.cumsum(stream_1) + coins.normal(size=steps)
        expected = [
            scipy.stats.multivariate_normal(np.cumsum(stream), covariance).logpdf(answers)
            for stream in (stream_0, stream_1)
        ]
        found = loss_of(counter, stream_0, stream_1, answers)
        assert found == pytest.approx(expected[0] - expected[1], rel=1e-8)


def tree_counts(stream, noise):
    """The binary tree as published: a count adds the noisy sums of the blocks of its length."""
    blocks, counts = {}, []
    for t in range(1, len(stream) + 1):
        size = t & -t
        blocks[t] = sum(stream[t - size : t]) + noise[t - 1]
        total, left = 0.0, t
        while left:
            total += blocks[left]
            left -= left & -left
        counts.append(total)
    return counts


def test_the_tree_adds_the_blocks_of_a_count():
    coins = np.random.default_rng(2)
    counter = ContinualCounter(tree_factor(13), 1.5, "laplace")
    stream, noise = coins.integers(0, 2, 13).astype(float), coins.laplace(scale=1.5, size=13)
    state = counter.opened(NOTHING, NOTHING, ADD_REMOVE)
    for element, count in zip(stream, tree_counts(stream, noise)):
        state = counter.after(state, element, count)
    assert np.allclose(state.noisy, np.array(counter.factor) @ stream + noise)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_counts_are_drawn_around_the_truth_with_the_stated_error(noise):
    """Means and variances of 3,000 streams, within 5 standard errors: false alarm below 1e-4."""
    counter = ContinualCounter(square_root_factor(4), 2.0, noise)

    def stream(coins):
        opened = yield NOTHING, NOTHING, counter
        for _ in range(4):
            yield opened.ask(1.0)

    result = simulate(
        stream, family=counter.kept(), rounds=5, trials=3000, seed=5, keep_views=3000,
        experiments=(0,),
    )  # fmt: skip
    errors = np.array([view.answers[1:] for view in result.views]) - np.arange(1, 5)
    stated = counter.mean_squared_errors
    assert (np.abs(errors.mean(axis=0)) < 5 * np.sqrt(stated / 3000)).all()
    spread = np.sqrt(5.0 / 3000)  # kurtosis of a Laplace sum is below 6
    assert (np.abs(errors.var(axis=0) / stated - 1) < 5 * spread).all()


@pytest.mark.parametrize("factor", FACTORS)
def test_factors_have_known_norms(factor):
    rows = np.array(factor(16))
    assert np.allclose(ContinualCounter(factor(16), 1.0).decoder @ rows, np.tri(16))
    of_columns = ContinualCounter(factor(16), 1.0).sensitivities
    if factor is tree_factor:
        assert of_columns.max() ** 2 == pytest.approx(5)
        assert (rows.sum(axis=0) <= 5).all()
    elif factor is square_root_factor:
        assert np.allclose(rows @ rows, np.tri(16))
        terms = [math.comb(2 * k, k) / 4**k for k in range(16)]
        assert np.allclose(rows[:, 0], terms)
        assert of_columns.max() == pytest.approx(math.hypot(*terms))
    else:
        assert of_columns.max() == pytest.approx(4.0)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_first_elements_of_a_user_are_the_worst_in_the_square_root(times):
    rows = np.array(square_root_factor(7))
    shifts = {
        chosen: math.hypot(*(rows[:, list(chosen)] @ np.array(signs)))
        for chosen in itertools.combinations(range(7), times)
        for signs in [(1.0,) * times]
    }
    assert max(shifts, key=shifts.get) == tuple(range(times))
    signed = max(
        math.hypot(*(rows[:, list(chosen)] @ np.array(signs)))
        for chosen in itertools.combinations(range(7), times)
        for signs in itertools.product((1.0, -1.0, 0.3), repeat=times)
    )
    assert signed == pytest.approx(shifts[tuple(range(times))])
    kept = ContinualCounter(square_root_factor(7), 1.0, times=times).kept()
    assert kept.mu >= signed - 1e-12


def test_neighbouring_is_checked_and_bad_input_is_one_line():
    counter = ContinualCounter(tree_factor(3), 1.0)
    state = counter.after(counter.opened(NOTHING, NOTHING, ADD_REMOVE), Update(0, 1), 0.5)
    assert counter.answers_to(state, Update(1, 1)).loss(0.3) != 0.0
    with pytest.raises(Breach, match="no neighbours: they differ at 2 steps, and 1 may"):
        counter.answers_to(state, Update(1, 0))
    for message in (2.0, -0.1, "one", None, [1.0], math.nan, Update(0, 3)):
        with pytest.raises(Breach, match="an element of the stream is a number from 0 to 1"):
            counter.answers_to(state, message)
    state = counter.after(counter.after(state, 1.0, 0.1), 1.0, 0.2)
    with pytest.raises(Breach, match="takes 3 elements, and this is one more"):
        counter.answers_to(state, 1.0)
    for factor, match in [
        ([[1.0, 1.0], [0.0, 1.0]], "lower triangular"),
        ([[0.0]], "diagonal"),
        ([[1.0, 2.0]], "as many rows as columns"),
        ([[math.nan]], "finite"),
        ([], "as many rows as columns"),
    ]:
        with pytest.raises(InvalidInput, match=match):
            ContinualCounter(factor, 1.0)
    for wrong in ({"scale": 0.0}, {"noise": "uniform"}, {"times": 0}):
        with pytest.raises(InvalidInput):
            ContinualCounter(**{"factor": tree_factor(2), "scale": 1.0} | wrong)


def test_a_factor_whose_noise_floats_do_not_resolve_is_refused():
    """The counts of I + 3 S grow like 3^t, and their rounding would hide the element."""
    rows = np.eye(60) + 3.0 * np.eye(60, k=-1)
    for factor, scale in [(rows, 1.0), ([[1.0]], 1e-12), ([[1e-320]], 1.0), (rows[:17, :17], 1.0)]:
        with pytest.raises(InvalidInput, match="ill-conditioned: the rounding of an answer"):
            ContinualCounter(factor, scale)
    for factor in FACTORS:
        assert ContinualCounter(factor(256), 1.0).steps == 256


def test_a_factor_just_well_enough_conditioned_keeps_its_loss():
    """At the largest T accepted, by counts B y in exact fractions and the loss of y itself."""
    counter = ContinualCounter(np.eye(16) + 3.0 * np.eye(16, k=-1), 1.0)
    noise = np.random.default_rng(3).normal(size=16)
    exact = [Fraction(z) + {14: 1, 15: 3}.get(t, 0) for t, z in enumerate(noise)]  # C x + z
    elements = []  # C^-1 (C x + z), by substitution
    for y in exact:
        elements.append(y - 3 * (elements[-1] if elements else 0))
    counts = [float(count) for count in itertools.accumulate(elements)]
    stream = [float(t == 14) for t in range(16)]
    expected = noise[14] + 3.0 * noise[15] + (1.0 + 9.0) / 2.0
    found = loss_of(counter, stream, [0.0] * 16, counts)
    assert found == pytest.approx(expected, abs=1e-5)


def test_a_counter_that_claims_too_little_noise_breaks_its_promise():
    """Laplace noise for one block fewer than an element is in."""
    counter = ContinualCounter(tree_factor(4), 2.0, "laplace", claimed=PureDP(1.0))
    assert counter.kept() == PureDP(1.5)

    def stream(coins):
        opened = yield NOTHING, NOTHING, counter
        for t in range(4):
            yield opened.ask(Update(1.0, 0.0) if t == 0 else 0.0)

    with pytest.raises(BrokenPromise, match=r"the conversation has lost 1\."):
        simulate(stream, family=PureDP(1.0), rounds=5, trials=500, seed=1)


def test_a_stream_that_chooses_its_step_by_the_counts_gains_nothing():
    """Whichever step it chooses, delta is at most that of the largest column; at 99.9%."""
    counter = ContinualCounter(square_root_factor(6), 1.0)

    def stream(coins):
        opened = yield NOTHING, NOTHING, counter
        count, left = 0.0, True
        for t in range(6):
            differs = left and (count > t / 2 or t == 5)
            left = left and not differs
            count = yield opened.ask(Update(1.0, 0.0) if differs else float(count < t / 2))

    result = simulate(stream, family=counter.kept(), rounds=7, trials=2000, seed=3)
    most = GaussianDP(float(counter.sensitivities.max()))
    for epsilon in (0.0, 0.5, 1.0):
        assert result.delta(epsilon, confidence=0.999).lower <= most.hockey_stick(epsilon)
