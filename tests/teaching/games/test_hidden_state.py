"""Last iterates: the exact values against other formulas, quadrature and plain simulation."""

import math

import mpmath
import numpy as np
import pytest
import scipy

from simulator.analysis.simulate import simulate
from simulator.teaching.games import RowKind, Standing, find
from simulator.teaching.games.descents import ALICE, EVERYONE, WITHOUT
from simulator.teaching.games.library.hidden_state import _renyi, projected_epsilon
from simulator.teaching.games.library.last_iterate import heuristic
from simulator.teaching.mechanisms.descents import LastIterate, Remembering, contracted, remembered
from simulator.theory.laws.gaussian_curve import gaussian_delta, gaussian_epsilon


@pytest.mark.parametrize("c", [0.0, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("steps", [1, 2, 7, 64])
def test_the_formula_is_that_of_the_last_iterates_gaussian(c, steps):
    with mpmath.workdps(40):
        powers = [mpmath.mpf(c) ** j for j in range(steps)]
        mu = mpmath.fsum(powers) / mpmath.sqrt(mpmath.fsum(p**2 for p in powers))
    assert contracted(c, steps) == pytest.approx(float(mu), rel=1e-12)
    assert contracted(1.0, steps) == pytest.approx(math.sqrt(steps))
    pair = LastIterate(ALICE, 2.0, c, steps).pair(WITHOUT, EVERYONE)
    value_0, value_1, deviation = pair.params[:3]
    assert abs(value_0 - value_1) / deviation == pytest.approx(float(mu) / 2.0, rel=1e-12)


def moments(mechanism, seed):
    pair = mechanism.pair(WITHOUT, EVERYONE)
    noise = np.random.default_rng(seed)
    drawn = np.array([pair.sample(1, noise) for _ in range(4000)])
    return pair, drawn


@pytest.mark.parametrize(
    "mechanism",
    [LastIterate(ALICE, 1.5, 0.8, 5), Remembering(ALICE, 1.5, 5, 3.0)],
    ids=["quadratic", "remembering"],
)
def test_the_steps_lead_to_the_stated_gaussian(mechanism):
    pair, drawn = moments(mechanism, 7)
    standard = (drawn - pair.params[1]) / pair.params[2]
    # false with probability 1e-6: the Kolmogorov-Smirnov test at that level
    assert scipy.stats.kstest(standard, "norm").pvalue > 1e-6
    wrong = (drawn - pair.params[0]) / pair.params[2]
    assert scipy.stats.kstest(wrong, "norm").pvalue < 1e-6


@pytest.mark.parametrize("magnified", [1.0, 2.0, 1000.0])
def test_what_is_remembered_is_the_likelihood_of_all_coordinates(magnified):
    # the last iterate is linear in all noises: its mean and covariance by matrices
    steps, sigma = 4, 0.7
    mean, covariance = np.zeros(steps), np.zeros((steps, steps))
    for step in range(steps):
        move = np.eye(steps)
        if step:
            move[step] = 0.0
            move[step, 0], move[0, 0] = magnified, 0.0
        mean = move @ mean
        mean[0] += 1.0
        covariance = move @ covariance @ move.T + sigma**2 * np.eye(steps)
    mu = math.sqrt(mean @ np.linalg.solve(covariance, mean))
    assert remembered(steps, magnified) / sigma == pytest.approx(mu, rel=1e-9)


def test_the_bound_by_chourasia_and_others_is_above_the_exact_value():
    for c in np.linspace(0.0, 0.99, 12):
        for steps in (1, 2, 5, 20, 100):
            mu = contracted(float(c), steps)
            rho = 2.0 * -math.expm1(-0.5 * (1.0 - c) * steps) / (1.0 - c)
            assert rho >= 0.5 * mu**2
            assert _renyi(rho, 1e-5) >= gaussian_epsilon(mu, 1e-5)


SLOPES = {
    "one side flat": lambda x: np.where(x < 0.0, 0.8 * x, 0.0),
    "overshooting": lambda x: -0.8 * x,
    "two slopes": lambda x: 0.3 * x + 0.5 * np.clip(x, 0.0, 2.0),
    "saw": lambda x: 0.8 * np.abs(np.mod(x, 2.0) - 1.0),
}


def deltas(step, steps):
    """Delta at 0, 1 and 2 of the last iterate, by quadrature; a step is the map and N(b, 1)."""
    x = np.linspace(-25.0, 25.0, 1001)
    weight = x[1] - x[0]
    laws = []
    for gradient in (0.0, 1.0):
        kernel = scipy.stats.norm.pdf(x[:, None] - step(x)[None, :] - gradient)
        density = scipy.stats.norm.pdf(x - step(np.zeros(1)) - gradient)
        for _ in range(steps - 1):
            density = kernel @ density * weight
        laws.append(density)
    return [
        max(np.maximum(p - math.exp(e) * q, 0.0).sum() * weight for p, q in (laws, laws[::-1]))
        for e in (0.0, 1.0, 2.0)
    ]


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("steps", [2, 6])
def test_contracting_steps_of_any_shape_stay_below_the_bound(name, steps):
    bounds = [gaussian_delta(contracted(0.8, steps), e) for e in (0.0, 1.0, 2.0)]
    assert all(d <= b * (1.0 + 1e-6) for d, b in zip(deltas(SLOPES[name], steps), bounds))


def test_steps_that_do_not_contract_pass_the_bound_for_those_that_do():
    found = deltas(lambda x: 1.3 * x - 0.3 * np.clip(x, -1.0, 1.0), 6)
    for delta, epsilon in zip(found, (0.0, 1.0, 2.0)):
        counted = gaussian_delta(math.sqrt(6), epsilon)
        assert gaussian_delta(contracted(0.8, 6), epsilon) < delta <= counted


def test_the_projected_end_is_below_plain_quadrature_and_near_it():
    step, sigma, radius, steps, delta = 1.0, 2.0, 2.0, 6, 1e-3
    ends = []
    for drift in (-0.5, 0.5):
        # density inside by quadrature, atoms at both ends
        nodes, weights = np.polynomial.legendre.leggauss(80)
        x, w = radius * nodes, radius * weights
        inside, low, high = np.zeros_like(x), 0.0, 0.0
        start = True
        for _ in range(steps):
            sources = [(0.0, 1.0)] if start else [(-radius, low), (radius, high)]
            density = np.zeros_like(x)
            below = above = 0.0
            for place, mass in sources:
                density += mass * scipy.stats.norm.pdf(x, place + drift, sigma)
                below += mass * scipy.stats.norm.cdf(-radius, place + drift, sigma)
                above += mass * scipy.stats.norm.sf(radius, place + drift, sigma)
            if not start:
                kernel = scipy.stats.norm.pdf(x[:, None], x[None, :] + drift, sigma)
                density += kernel @ (w * inside)
                below += (w * inside) @ scipy.stats.norm.cdf(-radius, x + drift, sigma)
                above += (w * inside) @ scipy.stats.norm.sf(radius, x + drift, sigma)
            inside, low, high, start = density, below, above, False
        assert low + high + w @ inside == pytest.approx(1.0, abs=1e-9)
        ends.append(high)
    value = math.log((ends[1] - delta) / ends[0])  # of the event that the upper end is reached
    found = projected_epsilon(step, sigma, radius, steps, delta)
    assert value - 0.05 < found <= value + 1e-9


@pytest.mark.parametrize("radius", [0.5, 3.0, 10.0])
@pytest.mark.parametrize("steps", [1, 9, 40])
def test_the_projected_end_is_below_the_bounds(radius, steps):
    outcome = find("hidden-state").play(radius=radius, steps=steps, trials=500)
    assert not {Standing.EXCEEDED, Standing.CONTRADICTS} & {j.standing for j in outcome.judged}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("hidden-state", ["a linear loss: no less than"]),
        (
            "last-iterate",
            ["a loss that keeps every step", "a regulariser that forgets all but the last step"],
        ),
    ],
)
def test_what_one_loss_reaches_is_neither_the_worst_nor_the_value(name, what):
    outcome = find(name).play(trials=100)
    assert {outcome.row(each).kind for each in what} == {RowKind.REACHED}


def test_where_little_is_magnified_another_loss_reaches_more():
    outcome = find("last-iterate").play(magnified=1.0, trials=100)
    forgetting = outcome.row("a regulariser that forgets all but the last step")
    assert forgetting.lower > outcome.row("a loss that keeps every step").lower
    assert outcome.as_expected


def test_the_heuristic_is_a_mixture_by_quadrature():
    steps, sigma, rate, delta = 3, 0.8, 0.2, 1e-3
    found = heuristic(steps, sigma, rate, delta)
    deviation = sigma * math.sqrt(steps)
    x = np.linspace(-15 * deviation, 15 * deviation, 200_001)
    without = scipy.stats.norm.pdf(x, 0.0, deviation)
    there = sum(
        scipy.stats.binom.pmf(k, steps, rate) * scipy.stats.norm.pdf(x, k, deviation)
        for k in range(steps + 1)
    )

    def delta_at(epsilon):
        return max(
            np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), x)
            for p, q in ((there, without), (without, there))
        )

    assert delta_at(found.upper + 1e-4) < delta < delta_at(found.lower - 1e-4)


@pytest.mark.nightly
def test_a_convex_loss_refutes_the_heuristic_where_alice_is_rarely_drawn():
    outcome = find("last-iterate").play(trials=1000)
    forgetting = outcome.row("a regulariser that forgets all but the last step")
    assert forgetting.lower > outcome.row("the heuristic of a linear loss").upper
    often = find("last-iterate").play(rate=0.5, sigma=2.0, trials=1000)
    forgetting = often.row("a regulariser that forgets all but the last step")
    assert forgetting.upper < often.row("the heuristic of a linear loss").upper


def test_a_loss_that_magnifies_nothing_does_not_keep_every_step():
    outcome = find("last-iterate").play(magnified=1.0, contraction=0.99, trials=1000)
    standing = {j.row.what: j.standing for j in outcome.judged if "full" in j.row.quantity}
    assert standing["as if the loss were strongly convex"] is Standing.NOT_CAUGHT


def test_a_plain_play_of_the_last_iterate_has_its_delta():
    mechanism = LastIterate(ALICE, 2.0, 0.9, 10)

    def train(coins):
        yield WITHOUT, EVERYONE, mechanism

    result = simulate(train, family=mechanism.guarantee(), rounds=1, trials=4000, seed=5)
    found = result.delta(1.0, confidence=0.999)
    assert found.lower <= gaussian_delta(contracted(0.9, 10) / 2.0, 1.0) <= found.upper
    assert not found.lower <= gaussian_delta(math.sqrt(10) / 2.0, 1.0) <= found.upper
