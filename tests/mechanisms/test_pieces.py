"""Pieces of continuous answers: their masses and their draws, against textbook laws."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import softmax
from scipy.stats import kstest, truncnorm

from simulator import Gaussian
from simulator.adversaries import Rule
from simulator.data.alice import ALICE
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.mechanisms import Geometric
from simulator.theory import GaussianDP
from tests.helpers.mechanism_cases import chi_square
from tests.helpers.pieces import LINES, challenge


def log_density(name, mechanism, value, y):
    """The textbook density, or mass, of the answer, written out once more."""
    if name == "Gaussian":
        z = (y - value) / mechanism.sigma
        return -0.5 * z * z - math.log(mechanism.sigma * math.sqrt(2.0 * math.pi))
    scale = 0.5 * mechanism.epsilon if name == "Laplace" else math.tanh(0.5 * mechanism.epsilon)
    return math.log(scale) - mechanism.epsilon * abs(y - value)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("theta", [0.0, 0.3, 2.0, 25.0])
def test_pieces_have_the_mass_of_the_tilted_law(name, exchanged, theta):
    mechanism, family = LINES[name]
    rule = Rule(lambda s, i, a, c: (s, 0), (challenge(mechanism),))
    menu = Menu.of(rule, family, ADD_REMOVE, None, exchanged=exchanged)
    kind, params = menu.kinds[0], tuple(menu.params[0].tolist())
    values = (params[0], params[1])

    def weighted(y):
        p0, p1 = (log_density(name, mechanism, value, y) for value in values)
        return math.exp(p0 + theta * (p0 - p1))

    cuts = [-math.inf, -3.5, -0.5, 0.5, 1.5, 4.5, math.inf]
    piece = np.zeros(kind.piece_width)
    logs = []
    for low, high in pairwise(cuts):
        kind.piece(params, theta, low, high, piece)
        logs.append(piece[0])
        if name == "geometric":
            places = range(math.ceil(max(low, -60)), math.floor(min(high, 60)) + 1)
            expected = math.fsum(map(weighted, places))
        else:
            inside = [x for x in (-25.0, 0.0, 1.0, 25.0) if low < x < high]
            ends = [max(low, -60.0), *inside, min(high, 60.0)]
            expected = math.fsum(quad(weighted, x, y, epsabs=0)[0] for x, y in pairwise(ends))
        if expected > 1e-290:
            assert piece[0] == pytest.approx(math.log(expected), abs=1e-6)
    tilted = np.zeros(kind.tilt_width(params))
    kind.tilt(params, theta, tilted)
    assert np.logaddexp.reduce(logs) == pytest.approx(tilted[0], abs=1e-11)


@pytest.mark.parametrize("name", ["Laplace", "Gaussian"])
@pytest.mark.parametrize("theta", [0.0, 0.25])
def test_a_narrow_piece_keeps_the_digits_of_its_mass(name, theta):
    mechanism, family = LINES[name]
    rule = Rule(lambda s, i, a, c: (s, 0), (challenge(mechanism),))
    kind, params = mechanism.scalars, Menu.of(rule, family, ADD_REMOVE, None).params[0].tolist()
    half, piece, centre = 2.0**-44, np.zeros(kind.piece_width), -theta
    kind.piece(tuple(params), theta, centre - half, centre + half, piece)
    p0, p1 = (log_density(name, mechanism, value, centre) for value in params[:2])
    assert piece[0] == pytest.approx(p0 + theta * (p0 - p1) + math.log(2.0 * half), abs=1e-3)


@pytest.mark.sampled(n=12)
@pytest.mark.parametrize("name", ["Laplace", "Gaussian"])
@pytest.mark.parametrize(
    ("low", "high"),
    [(-math.inf, math.inf), (-0.4, 0.3), (0.2, 5.0), (6.0, math.inf), (-9.0, -8.9), (3.0, 30.0)],
)
@pytest.mark.parametrize("theta", [0.0, 1.5])
def test_draws_from_a_piece_follow_the_tilted_law(name, low, high, theta):
    """Kolmogorov-Smirnov at 1e-6 a case; the seed is fixed."""
    mechanism, family = LINES[name]
    rule = Rule(lambda s, i, a, c: (s, 0), (challenge(mechanism),))
    menu = Menu.of(rule, family, ADD_REMOVE, None)
    kind, params = menu.kinds[0], tuple(menu.params[0].tolist())
    piece, part = np.zeros(kind.piece_width), np.zeros(kind.piece_width)
    kind.piece(params, theta, low, high, piece)
    noise = np.random.default_rng(11)
    drawn = np.array([kind.sample_piece(params, piece[None], 0, noise) for _ in range(3000)])
    assert ((low <= drawn) & (drawn <= high)).all()

    def share(y):
        kind.piece(params, theta, low, y, part)
        return math.exp(part[0] - piece[0])

    assert kstest([share(y) for y in drawn.tolist()], "uniform").pvalue > 1e-6


@pytest.mark.parametrize(("low", "high"), [(-math.inf, math.inf), (-2.5, 2.5), (0.5, 4.5)])
@pytest.mark.parametrize("values", [(0.0, 3.0), (3.0, 0.0)])
def test_whole_draws_from_a_piece_follow_the_tilted_law(low, high, values):
    """Chi-square at 1e-6 a case; the seed is fixed. Values lie 3 apart: whole answers between."""
    kind, params, theta = Geometric.scalars, np.zeros(6), 0.4
    kind.prepare((*values, 3.0), 0.7, params)
    piece = np.zeros(kind.piece_width)
    kind.piece(params, theta, low, high, piece)
    noise = np.random.default_rng(12)
    drawn = [kind.sample_piece(params, piece[None], 0, noise) for _ in range(3000)]
    answers = np.arange(math.ceil(max(low, -40)), math.floor(min(high, 40)) + 1)
    logs = -0.7 / 3.0 * (1.0 + theta) * abs(answers - values[0])
    logs += 0.7 / 3.0 * theta * abs(answers - values[1])
    counts = [drawn.count(each) for each in answers.tolist()]
    assert sum(counts) == 3000
    assert chi_square(np.array(counts), softmax(logs)) > 1e-6


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("low", "high"),
    [(-0.1, math.inf), (-math.inf, 0.1), (-math.inf, math.inf), (-5.0, 0.4), (-0.02, 0.01),
     (2.0, math.inf), (2.4, math.inf), (-1e6, 1e6), (-1e6, -2.0), (5.0, 5.5)],
)  # fmt: skip
def test_gaussian_pieces_follow_scipys_truncated_normal(low, high):
    """50,000 draws of each piece, wide ones by strips and narrow ones whole.

    Kolmogorov-Smirnov, and the count beyond each of eight quantiles within 5.3 standard
    deviations: 1e-6 a case; the seed is fixed.
    """
    rule = Rule(lambda s, i, a, c: (s, 0), (challenge(Gaussian(ALICE, 1.0)),))
    menu = Menu.of(rule, GaussianDP(1.0), ADD_REMOVE, None)
    kind, params = menu.kinds[0], tuple(menu.params[0].tolist())
    piece, theta = np.zeros(kind.piece_width), 1.5
    mean = params[0] + theta * (params[0] - params[1])
    kind.piece(params, theta, mean + low, mean + high, piece)
    noise = np.random.Generator(np.random.SFC64(23))
    trials = 50_000
    drawn = [kind.sample_piece(params, piece[None], 0, noise) - mean for _ in range(trials)]
    exact = truncnorm(low, high)
    assert kstest(drawn, exact.cdf).pvalue > 5e-7
    for share in (1e-3, 0.01, 0.1, 0.4, 0.6, 0.9, 0.99, 0.999):
        count = np.count_nonzero(np.array(drawn) > exact.isf(share))
        assert abs(count - trials * share) < 5.3 * math.sqrt(trials * share * (1.0 - share)) + 1.0
