"""Rounds of sampled Gaussians by their transform: against quadrature, atoms and literature."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from simulator.theory.laws import sampled_transform
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_epsilon
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.sampled_transform import SampledTransform, decay
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.pld import enclosing_lines, lines_query, sampled_line
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.distribution import PLD
from simulator.theory.pld.lines_query import LinesQuery
from simulator.theory.pld.sampled_line import SampledLine, make_tail, sampled_tail
from simulator.theory.pld.smoothed_tail import Folding
from tests.helpers.laws import subsampled_gaussian

CASES = [
    (mu, rate, removal, theta)
    for (mu, rate), removal, theta in itertools.product(
        [(1.0, 0.01), (2.0, 1e-3), (0.3, 0.2), (1.5, 0.6)], [False, True], [0.5, 3.0, 12.0]
    )
]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class ByPanels:
    """Means of the tilted loss by Gauss and Legendre's rule on thin panels of answers."""

    def __init__(self, mu, rate, removal, theta):
        self.case = mu, rate, removal, theta
        far = np.linspace(16.0, 16.0 + (theta + 2) * mu * 1.2, 800)
        edges = np.r_[np.linspace(-16.0, 16.0, 800), far[1:]]
        middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
        x = (middle[:, None] + half[:, None] * NODES).ravel()
        ratio = np.log1p(rate * np.expm1(mu * x - mu**2 / 2))
        self.loss = ratio if removal else -ratio
        logs = (theta + removal) * self.loss - x**2 / 2 - math.log(2 * math.pi) / 2
        mass = np.exp(logs) * (half[:, None] * WEIGHTS).ravel()
        self.log_value, self.mass = math.log(mass.sum()), mass / mass.sum()

    def ratio(self, omega):
        return complex((self.mass * np.exp(1j * omega * self.loss)).sum())

    def variation(self):
        """Total variation of the density of the tilted loss."""
        mu, rate, removal, theta = self.case
        x = np.linspace(-8.0, 8.0 + (theta + 2) * mu, 60_001)
        ratio = np.log1p(rate * np.expm1(mu * x - mu**2 / 2))
        logs = (theta if removal else -theta) * ratio + ratio * removal - x**2 / 2 - self.log_value
        density = np.exp(logs - math.log(2 * math.pi) / 2) / np.gradient(ratio, x)
        return float(np.abs(np.diff(density)).sum())

    def median_deviation(self):
        order = np.argsort(self.loss)
        median = self.loss[order][np.searchsorted(np.cumsum(self.mass[order]), 0.5)]
        return float((self.mass * np.abs(self.loss - median)).sum())


def off_by(case, omega, times=1.0):
    """Error of one value of the transform, and the bound on it, with a wider spacing of nodes."""
    one = SampledTransform(*case[:3])
    nodes = one.nodes(case[3], omega / times)
    found = complex(nodes.ratios(omega, 1.0, 1)[0])
    return abs(found - ByPanels(*case).ratio(omega)), nodes.ratio_error(omega)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_transform_is_that_of_its_definition(case):
    one, exact = SampledTransform(*case[:3]), ByPanels(*case)
    log, wrong = one.log_value(case[3])
    assert abs(log - exact.log_value) <= wrong + 1e-13  # the panels' own rounding
    assert wrong < 1e-10
    assert exact.variation() <= one.variation(case[3]) <= 1.0002 * exact.variation()
    for omega in (3.0, 40.0, 200.0):
        wrong, bound = off_by(case, omega)
        assert wrong <= bound + 1e-13
        assert bound < 1e-10


SMALL_LOSSES = [
    (mu, rate, removal, theta)
    for (mu, rate, theta), removal in itertools.product(
        [(5e-5, 3e-6, 1e8), (3e-4, 3e-6, 5e6), (2e-3, 1e-5, 1e5)], [False, True]
    )
]
"""With a tilt that would be far too large at a rate of 1."""


@pytest.mark.parametrize("case", SMALL_LOSSES, ids=str)
def test_few_nodes_serve_small_losses_at_a_large_tilt(case):
    """Frequencies are in units of the tilted loss's deviation, about mu times the rate."""
    one, exact = SampledTransform(*case[:3]), ByPanels(*case)
    assert one.can_be_tilted(case[3])
    assert not one.can_be_tilted(1e4 * case[3])
    log, wrong = one.log_value(case[3])
    assert abs(log - exact.log_value) <= wrong + 1e-13
    assert wrong < 1e-10
    unit = 1.0 / (one.mu * one.rate)
    for omega in (0.3 * unit, 3.0 * unit, 6.0 * unit):
        wrong, bound = off_by(case, omega)
        assert wrong <= bound + 1e-13
        assert bound < 3e-9
    assert one.nodes_needed(case[3], 6.0 * unit) < 2000
    variation, least = one.variation(case[3]), exact.median_deviation()
    assert exact.variation() <= variation <= 1.1 * exact.variation()
    assert least <= one.mean_deviation(case[3]) <= 2.5 * least


@pytest.mark.parametrize("exchanged", [False, True], ids=["add", "remove"])
def test_many_small_losses_have_their_normal_limit(exchanged):
    """The third moment, of relative size 1/sqrt(rounds), is below the tolerance here."""
    sigma, rate, rounds, delta = 20_360.0, 2.865e-6, 238_695, 1.896e-23
    found = PLD.of([(subsampled_gaussian(sigma, rate, exchanged), rounds)], 1e-6).epsilon(delta)
    assert found.width <= 1e-6 * found.upper
    limit = gaussian_epsilon(rate * math.sqrt(rounds * math.expm1(sigma**-2)), delta)
    assert found.midpoint == pytest.approx(limit, rel=1e-6)


@pytest.mark.parametrize(
    ("case", "omega", "times"),
    [((1.0, 0.01, True, 3.0), 200.0, 8.0), ((2e-3, 1e-5, True, 1e5), 5e8, 1e3)],
)
def test_nodes_too_far_apart_are_caught(case, omega, times):
    wrong, bound = off_by(case, omega, times)
    assert wrong > 1e3 * bound


@pytest.mark.sampled(n=12)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_round_decays_at_least_as_its_variation_says(case):
    one, exact = SampledTransform(*case[:3]), ByPanels(*case)
    variation = one.variation(case[3])
    omegas = np.geomspace(0.1, 1e3, 25)
    sizes = np.array([abs(exact.ratio(omega)) for omega in omegas])
    bounds = np.array([decay(variation, omega) for omega in omegas])
    assert (sizes <= bounds + 1e-12).all()
    assert (np.diff(bounds) <= 0).all()
    assert exact.variation() <= variation <= 1.1 * exact.variation()


def test_a_variation_too_small_is_caught():
    exact = ByPanels(1.0, 0.01, False, 0.5)
    assert abs(exact.ratio(300.0)) > decay(exact.variation() / 4, 300.0)


@pytest.mark.parametrize("removal", [False, True])
def test_the_density_next_to_the_least_ratio_is_varied_too(removal):
    """It is the largest at the answer -mu, beyond the answers that have any mass."""
    mu, rate, theta = 12.0, 0.1, 0.5
    one, exact = SampledTransform(mu, rate, removal), ByPanels(mu, rate, removal, theta)
    shift = math.exp(-1.5 * mu**2)
    mixed = 1.0 - rate + rate * shift  # the ratio of the densities at that answer
    logs = (theta + 1.0 if removal else -theta) * math.log(mixed) - mu**2 / 2 - exact.log_value
    largest = math.exp(logs) / math.sqrt(2 * math.pi) / (mu * rate * shift / mixed)
    assert 2.0 * largest <= one.variation(theta) <= 2.1 * largest


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_mean_deviation_is_enclosed_from_above(case):
    one, exact = SampledTransform(*case[:3]), ByPanels(*case)
    found, least = one.mean_deviation(case[3]), exact.median_deviation()
    assert least <= found <= 2.5 * least  # from the mean it is at most twice that from the median
    sizes = [abs(exact.ratio(omega)) for omega in (20.0, 20.0 + 0.1 / found)]
    assert abs(sizes[1] - sizes[0]) <= 0.1


def a_line(rounds=300, theta=4.0):
    """A composition whose transform has decayed at Im z = 60, and its line."""
    parts = CountedLaws.of([(subsampled_gaussian(1.0, 0.02, True), rounds)])
    items = tuple((SampledTransform.of(law), count) for law, count in parts.items)
    return parts, SampledLine(items, theta)


@pytest.mark.parametrize("omega", [20.0, 60.0, 200.0])
def test_nothing_beyond_the_line_exceeds_its_bound(omega):
    _, line = a_line()
    bound = line.log_beyond(omega, -30.0)
    (one, count), points = line.items[0], np.geomspace(omega, 60 * omega, 100)
    nodes = one.nodes(line.theta, points[-1])
    sizes = [abs(complex(nodes.ratios(at, 1.0, 1)[0])) for at in points]
    assert count * math.log(max(sizes)) <= bound <= 0.0


def test_some_of_many_laws_bound_them_all():
    laws = [(subsampled_gaussian(0.8 + 0.004 * i, 0.01, True), 2) for i in range(150)]
    items = tuple((SampledTransform.of(law), count) for law, count in laws)
    line = SampledLine(items, 3.0)
    bound = line.log_beyond(150.0, -15.0)
    assert bound < -10.0
    for omega in (150.0, 310.0, 700.0):
        ratios, wrong = line.ratios(omega, 2)
        assert math.log(abs(ratios[1]) + wrong[1]) <= bound


@pytest.fixture
def by_atoms(monkeypatch):
    """The brackets of atoms that enclose the law, which share no quadrature with the line."""

    def epsilon(rounds, delta, tolerance=1e-4):
        with monkeypatch.context() as patch:
            patch.setattr(lines_query, "sampled_tail", lambda *arguments: None)
            patch.setattr(enclosing_lines, "_serves", lambda *arguments: False)
            return LinesQuery(CountedLaws.of(rounds), tolerance).epsilon(delta)

    return epsilon


@pytest.mark.parametrize("exchanged", [False, True], ids=["add", "remove"])
@pytest.mark.parametrize(
    ("sigma", "rate", "rounds"),
    [
        (1.0, 0.01, 1000),
        (0.8, 0.1, 60),
        pytest.param(2.0, 0.3, 200, marks=pytest.mark.nightly),
    ],
)
def test_the_line_lies_in_the_brackets_of_atoms(
    sigma, rate, rounds, exchanged, by_atoms, monkeypatch
):
    laws = [(subsampled_gaussian(sigma, rate, exchanged), rounds)]
    coarse = {delta: by_atoms(laws, delta) for delta in (1e-2, 1e-11)}
    monkeypatch.setattr(lines_query, "enclosing_tails", None)  # no atoms are used
    for delta, bracket in coarse.items():
        found = PLD.of(laws, 1e-7).epsilon(delta)
        assert bracket.lower <= found.lower <= found.upper <= bracket.upper
        assert found.width <= 1e-7 * found.upper


@pytest.mark.nightly
def test_many_distinct_rounds_lie_in_the_brackets_of_atoms(by_atoms, monkeypatch):
    laws = [
        (subsampled_gaussian(0.8 + 0.0045 * i, 0.005 + 7e-5 * (i * 77 % 140), i % 3 > 0), 1)
        for i in range(140)
    ]
    bracket = by_atoms(laws, 1e-6, 1e-3)
    monkeypatch.setattr(lines_query, "enclosing_tails", None)
    found = PLD.of(laws, 1e-6).epsilon(1e-6)
    assert bracket.lower <= found.lower <= found.upper <= bracket.upper
    assert found.width <= 1e-6 * found.upper


@pytest.mark.parametrize(
    ("rate", "published", "half"), [(1e-3, 14.73319, 5e-6), (1e-4, 2.877548, 5e-7)]
)
def test_many_rounds_at_a_small_rate_have_their_published_epsilon(rate, published, half):
    """Both values are from an independent Fourier inversion, to their digits."""
    found = PLD.of([(subsampled_gaussian(0.5, rate, True), 100_000)], 1e-6).epsilon(1e-6)
    assert found.lower <= published + half
    assert published - half <= found.upper
    assert found.width <= 1e-6 * found.upper


def test_what_is_beyond_the_line_and_folded_in_is_not_forgotten():
    _, line = a_line()
    epsilon = 2.0
    bounds = [(other, line.log_value(other)[0] + 1e-9) for other in (7.0, 1.0)]

    def tail(period, points, log_rest=None):
        folding = Folding(line.theta, period, tuple(bounds))
        end = 2 * math.pi / period * points
        log_rest = line.log_beyond(end, -35.0) if log_rest is None else log_rest
        return make_tail(line, epsilon, folding, points=points, log_rest=log_rest)

    exact = tail(40.0, 600).at(epsilon)
    assert exact.width < 1e-6 * exact.upper
    for period, points in ((40.0, 40), (6.0, 90)):
        honest = tail(period, points).at(epsilon)
        assert honest.lower <= exact.lower <= exact.upper <= honest.upper
    short = tail(40.0, 40, log_rest=-math.inf).at(epsilon)
    assert short.upper < exact.lower or short.lower > exact.upper
    folded = tail(6.0, 90)
    folded = dataclasses.replace(folded, folding=dataclasses.replace(folded.folding, logs=()))
    careless = folded.at(epsilon)
    assert careless.upper < exact.lower or careless.lower > exact.upper


def test_a_curve_takes_a_few_lines_and_any_order_gives_the_same(monkeypatch):
    made = []
    monkeypatch.setattr(
        lines_query,
        "sampled_tail",
        lambda *arguments: made.append(arguments) or sampled_tail(*arguments),
    )
    laws = CountedLaws.of([(subsampled_gaussian(1.0, 0.01), 1000)])
    epsilons = [0.2 + 0.05 * i for i in range(24)]
    upward, downward = LinesQuery(laws, 1e-5), LinesQuery(laws, 1e-5)
    first = [upward.delta(epsilon) for epsilon in epsilons]
    assert len(made) <= 8
    assert [downward.delta(epsilon) for epsilon in epsilons[::-1]] == first[::-1]
    assert all(found.width <= 1e-5 * found.upper for found in first)
    assert all(one.lower > other.upper for one, other in itertools.pairwise(first))


def at_delta(query, delta):
    """The saddle points around an epsilon, and about that epsilon."""

    def epsilon(table):
        return table.epsilon_at(math.log(delta))

    saddles = query._refined(epsilon)
    return saddles, epsilon(saddles)


def test_other_rounds_have_no_line():
    for rounds in (
        [(subsampled_gaussian(1.0, 0.01), 1000), (LaplaceLaw(0.1), 1)],  # not sampled
        [(subsampled_gaussian(1.0, 0.001, True), 3)],  # the transform decays too slowly
        [(subsampled_gaussian(0.001, 0.1, True), 40)],  # exponents too large
    ):
        query = LinesQuery(CountedLaws.of(rounds), 1e-4)
        saddles, centre = at_delta(query, 1e-6)
        assert sampled_tail(query.parts, centre, saddles, 1e-4) is None


def test_an_estimate_that_is_far_off_makes_no_line():
    """At theta = 400 the tilted loss is 60 deviations out, where estimates have no points."""
    query = LinesQuery(CountedLaws.of([(subsampled_gaussian(6.67, 0.016, True), 12)]), 1e-6)
    saddles, centre = at_delta(query, 2.6e-9)
    assert sampled_tail(query.parts, centre, saddles, 1e-6) is None
    found = query.epsilon(2.6e-9)
    assert 0.0 < found.width <= 1e-6 * found.upper


def test_a_slow_transform_is_given_up_soon(monkeypatch):
    """The most nodes and points of any line are limited."""
    seen = []
    honest = SampledTransform.nodes

    def nodes(one, theta, omega=0.0):
        found = honest(one, theta, omega)
        seen.append(found.losses.size)
        return found

    monkeypatch.setattr(sampled_transform.SampledTransform, "nodes", nodes)
    query = LinesQuery(CountedLaws.of([(subsampled_gaussian(0.7, 1e-5, True), 100_000)]), 1e-6)
    saddles, centre = at_delta(query, 1e-6)
    sampled_tail(query.parts, centre, saddles, 1e-6)
    assert max(seen) <= 4 * sampled_line._MOST_NODES
    assert len(seen) < 400


def log_mean_by_sum(mu, rate, removal, theta):
    """Ln F at a large tilt, by a plain sum over answers."""
    x = np.linspace(-60.0, 60.0 + max(1 + theta if removal else 0.0, 0.0) * mu, 1_000_001)
    shifted = mu * x - mu**2 / 2
    power = 1 + theta if removal else -theta
    exponents = power * np.logaddexp(np.log1p(-rate), np.log(rate) + shifted) - x**2 / 2
    top = exponents.max()
    return top + math.log(np.exp(exponents - top).sum() * (x[1] - x[0])) - math.log(2 * np.pi) / 2


@pytest.mark.parametrize("removal", [False, True])
@pytest.mark.parametrize(
    ("sigma", "rate", "theta"), [(0.405, 0.0071, 261.0), (1.0, 0.01, 60.0), (0.3, 0.3, 3e4)]
)
def test_the_proven_moment_holds_where_points_of_the_law_do_not_reach(sigma, rate, theta, removal):
    law = subsampled_gaussian(sigma, rate)
    law = law if law.exchanged == removal else law.reversed()
    tilt, proven = CountedLaws.of([(law, 3)]).proven_log_mgf(theta)
    true = 3 * log_mean_by_sum(1 / sigma, rate, removal, tilt)
    assert true * (1 - 1e-9) <= proven <= true * (1 + 1e-7)
    assert tilt == theta or (removal and (1 + tilt) / sigma == pytest.approx(1e3))
    if removal:  # the law's own points, made for estimates, end before
        assert 3 * float(law.log_mgf(np.array(tilt))) < 0.9 * true


def test_no_moment_is_proven_of_a_law_known_by_its_points():
    law = PoissonSubsampledLaw(LaplaceLaw(1.0).reversed(), 0.1)
    mixture = SampledWithoutReplacementLaw(GaussianLaw(1.0), 0.1)
    assert CountedLaws.of([(law, 2), (mixture, 1)]).proven_log_mgf(2.0) == (2.0, math.inf)
