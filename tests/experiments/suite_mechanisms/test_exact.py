"""The exact epsilons, each made another way: by quadrature, enumeration, closed forms, scans."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import integrate

from experiments.suite.mechanisms import STANDARD, patterns, rappor, snapping, truncated_geometric
from experiments.suite.mechanisms.sparse_values import NUMERICAL
from experiments.suite.mechanisms.sparse_vector import FIFTH, FIRST, FOURTH, SIXTH, THIRD
from experiments.suite.mechanisms.thresholds import ABOVE, BELOW, STOPPED, all_marks

EVERY = pytest.mark.parametrize("entry", STANDARD.values(), ids=list(STANDARD))

ON_PATTERNS = {
    "laplace": 0.1, "laplace-floats": math.inf, "laplace-parallel": 0.1,
    "snapping-laplace": 0.1, "truncated-geometric": math.log(9 / 8),
    "noisy-histogram-1": 0.1, "noisy-histogram-2": 10.0,
    "report-noisy-max-1": 0.094615, "report-noisy-max-2": 0.1,
    "report-noisy-max-3": 0.25, "report-noisy-max-4": math.inf,
    "sparse-vector-1": 0.088526, "sparse-vector-2": 0.088230, "sparse-vector-3": 0.5,
    "sparse-vector-4": 0.172471, "sparse-vector-5": math.inf, "sparse-vector-6": 0.420032,
    "rappor": 0.300063, "one-time-rappor": 0.600501, "sparse-vector-parallel": 0.487446,
    "prefix-sum": 1.0, "numerical-sparse-vector": 0.080519,
}  # fmt: skip
BROKEN = {
    "laplace-floats", "noisy-histogram-2", "report-noisy-max-3", "report-noisy-max-4",
    "sparse-vector-3", "sparse-vector-4", "sparse-vector-5", "sparse-vector-6",
    "sparse-vector-parallel",
}  # fmt: skip


def laplace_cdf(x, scale):
    return 0.5 * math.exp(x / scale) if x < 0 else 1.0 - 0.5 * math.exp(-x / scale)


def laplace_pdf(x, scale):
    return math.exp(-abs(x) / scale) / (2 * scale)


def by_quad(function, kinks, reach=1500.0):
    """Adaptive quadrature between kinks, and beyond them piece by piece."""
    kinks = sorted(set(kinks))
    borders = [kinks[0] - reach, kinks[0] - 300, kinks[0] - 60, *kinks,
               kinks[-1] + 60, kinks[-1] + 300, kinks[-1] + reach]  # fmt: skip
    return math.fsum(
        integrate.quad(function, low, high, epsabs=1e-16, epsrel=1e-12)[0]
        for low, high in itertools.pairwise(borders)
    )


@pytest.mark.sampled
@EVERY
def test_the_largest_epsilon_over_patterns(entry):
    assert entry.pattern_epsilon() == pytest.approx(ON_PATTERNS[entry.name], abs=1e-6)
    assert entry.pattern_epsilon() <= entry.epsilon * (1 + 1e-9)
    assert entry.private == (entry.name not in BROKEN)


@pytest.mark.sampled
@EVERY
def test_no_pair_of_neighbours_passes_the_supremum(entry):
    rng = np.random.default_rng(7)
    whole = entry.name in ("truncated-geometric", "rappor", "one-time-rappor")
    for _ in range(3 if "parallel" in entry.name else 10):
        if whole:
            x = tuple(map(float, rng.integers(1, 5, 1)))
            y = (x[0] - 1.0,)
        else:
            x = tuple(rng.uniform(-60, 60, entry.length))
            moves = rng.choice([-1.0, 1.0], entry.length)
            if entry.relation == "one coordinate":
                moves[1:] = 0.0
            y = tuple(np.add(x, moves))
        assert entry.law.epsilon(x, y) <= entry.epsilon * (1 + 1e-9)


def test_patterns_are_neighbours():
    for entry in STANDARD.values():
        for x, y in entry.pairs:
            moved = np.abs(np.subtract(x, y))
            assert len(x) == len(y) == entry.length
            assert moved.max() == 1.0
            assert entry.relation == "all coordinates" or np.count_nonzero(moved) == 1
    assert len(patterns(10, "all coordinates")) == 8
    assert patterns(5, "all coordinates")[4][1] == (2.0, 2.0, 0.0, 0.0, 0.0)
    assert patterns(1, "one coordinate") == (((1.0,), (0.0,)), ((1.0,), (2.0,)))


def test_laplace_by_a_scan_over_half_lines():
    borders = np.arange(-40.0, 40.0, 0.25)
    found = max(abs(math.log(laplace_cdf(t - 1.0, 10.0) / laplace_cdf(t, 10.0))) for t in borders)
    assert found == pytest.approx(STANDARD["laplace"].epsilon, rel=1e-12)


def test_floats_have_bits_that_one_input_never_gives():
    # within [1/4, 1/2) a sum of 1 and a float of [-3/4, -1/2] has no bit 2^-54; at 0 many have it
    sample = STANDARD["laplace-floats"].sample
    last = []
    for value in (0.0, 1.0):
        x = sample((value,), 400_000, np.random.default_rng(8))
        x = x[(x >= 0.25) & (x < 0.5)]
        last.append(np.mean(x.view(np.uint64) & np.uint64(1)))
    assert last[0] > 0.3
    assert last[1] == 0.0


@pytest.mark.parametrize("name", ["laplace", "noisy-histogram-1", "prefix-sum", "sparse-vector-3"])
def test_answers_on_the_grid_have_no_such_bits(name):
    entry = STANDARD[name]
    answers = entry.sample(entry.pairs[0][0], 1000, np.random.default_rng(9))
    assert np.array_equal(answers * 2.0**21, np.rint(answers * 2.0**21))


def test_snapping_by_mpmath_and_over_inputs():
    assert snapping.STEP == 16.0
    with mpmath.workdps(40):
        scale = mpmath.mpf(snapping.SCALE)

        def below(x):
            return mpmath.e ** (x / scale) / 2 if x < 0 else 1 - mpmath.e ** (-x / scale) / 2

        for value in (0.0, 1.0, 2.5, -40.0):
            borders = [16 * (k + mpmath.mpf(1) / 2) - value for k in range(-7, 7)]
            inner = [below(b) - below(a) for a, b in itertools.pairwise(borders)]
            exact = [below(borders[0]), *inner, 1 - below(borders[-1])]
            assert snapping.probabilities((value,)) == pytest.approx(
                [float(p) for p in exact], rel=1e-12
            )
    law = STANDARD["snapping-laplace"].law
    over_inputs = max(law.epsilon((x,), (x + 1.0,)) for x in np.arange(-100.0, 99.1, 0.25))
    assert over_inputs == pytest.approx(1.0 / snapping.SCALE, rel=1e-9)
    assert over_inputs <= 0.1
    answers = STANDARD["snapping-laplace"].sample((0.0,), 20_000, np.random.default_rng(10))
    assert set(np.unique(answers)) <= {-100.0, 100.0, *np.arange(-96.0, 97.0, 16.0)}


def test_uniforms_of_full_precision():
    # below 2^-10 a multiple of 2^-53 has at most 43 bits; these have them all
    u = snapping.uniform(2_000_000, np.random.default_rng(11))
    assert u.min() > 0.0
    assert u.max() < 1.0
    small = u[u < 2.0**-10]
    assert np.mean((small * 2.0**53) % 1.0 != 0.0) > 0.99
    assert np.mean(u < 0.3) == pytest.approx(0.3, abs=0.002)  # six standard errors


def test_truncated_geometric_by_fractions():
    q = Fraction(8, 9)

    def law(count):
        masses = {z: Fraction(0) for z in range(6)}
        for z in range(-400, 401):  # two-sided geometric noise, clamped
            masses[min(max(z, 0), 5)] += (1 - q) / (1 + q) * q ** abs(z - count)
        return masses

    for count in range(6):
        exact = [float(p) for p in law(count).values()]
        assert truncated_geometric.probabilities((count,)) == pytest.approx(exact, abs=1e-12)
    ratios = []
    for count in range(5):
        first, second = (truncated_geometric.cumulative(c) for c in (count, count + 1))
        steps = [np.diff(each, prepend=0).tolist() for each in (first, second)]
        ratios += [max(Fraction(a, b), Fraction(b, a)) for a, b in zip(*steps)]
    assert max(ratios) == Fraction(9, 8)


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_noisy_max_by_adaptive_quadrature(noise):
    entry = STANDARD["report-noisy-max-1" if noise == "laplace" else "report-noisy-max-2"]

    def pdf(x):
        return laplace_pdf(x, 20.0) if noise == "laplace" else (x > 0) * math.exp(-x / 20) / 20

    def cdf(x):
        return laplace_cdf(x, 20.0) if noise == "laplace" else -math.expm1(-max(x, 0.0) / 20)

    for input in ((1.0, 1.0, 1.0, 1.0, 1.0), (0.0, 2.0, 2.0, 2.0, 2.0), (1.0, 0.0, 3.5, 1.0, 0.0)):
        exact = [
            by_quad(
                lambda x, i=i, input=input: (
                    pdf(x - input[i])
                    * math.prod(cdf(x - each) for j, each in enumerate(input) if j != i)
                ),
                input,
            )
            for i in range(5)
        ]
        assert entry.law.probabilities(input) == pytest.approx(exact, rel=1e-9)
        assert sum(exact) == pytest.approx(1.0, abs=1e-9)


def test_noisy_max_reaches_its_limits():
    first = STANDARD["report-noisy-max-1"].law
    far = [first.epsilon((-depth, 0, 0, 0, 0), (-depth - 1, 1, 1, 1, 1)) for depth in (0, 20, 400)]
    assert far[0] < far[1] < far[2] == pytest.approx(0.1, abs=1e-8)
    third = STANDARD["report-noisy-max-3"].law  # Pr[max < 1], all ones against all twos
    ratio = (laplace_cdf(0.0, 20.0) / laplace_cdf(-1.0, 20.0)) ** 5
    assert third.epsilon((1.0,) * 5, (2.0,) * 5) == pytest.approx(math.log(ratio), rel=1e-9)
    fourth = STANDARD["report-noisy-max-4"]  # maxima below 2: e.g. by scan of Pr[max < x]
    x = np.array([2.5, 4.0, 10.0, 30.0])
    step = 1e-4
    density = [
        (np.expm1(-(x - a + step) / 20) ** 5 - np.expm1(-(x - a - step) / 20) ** 5) / (2 * step)
        for a in (1.0, 2.0)
    ]
    losses = fourth.law.loss((1.0,) * 5, (2.0,) * 5, x)
    assert losses == pytest.approx(np.log(density[0] / density[1]), abs=1e-5)


@pytest.mark.parametrize("law", [FIRST, FOURTH, SIXTH], ids=["first", "fourth", "sixth"])
def test_sparse_vectors_by_adaptive_quadrature(law):
    input = (2.0,) * 5 + (0.0,) * 5
    rows = all_marks(10, law.most)
    table = law.probabilities(input)
    for place in np.linspace(0, len(rows) - 1, 4).astype(int):

        def integrand(noise, row=rows[place]):
            below = [laplace_cdf(noise + law.threshold - each, law.query_scale) for each in input]
            marks = zip(row, below)
            return laplace_pdf(noise, law.threshold_scale) * math.prod(
                b if mark == 0 else 1 - b if mark == 1 else 1.0 for mark, b in marks
            )

        kinks = (0.0, 2.0 - law.threshold, -law.threshold)
        assert table[place] == pytest.approx(by_quad(integrand, kinks), rel=1e-8)


@pytest.mark.parametrize("name", ["sparse-vector-1", "sparse-vector-4", "numerical-sparse-vector"])
def test_sparse_vectors_reach_their_limits(name):
    # below rise, above fall: in the limit threshold and the printed comparisons are all paid
    entry = STANDARD[name]
    most = 2 if name.startswith("numerical") else 1
    found = []
    moves = [1.0] * (10 - most) + [-1.0] * most
    for depth in (0.5, 400.0):
        input = (depth,) * (10 - most) + (-depth,) * most
        found.append(entry.law.epsilon(input, tuple(np.add(input, moves))))
    assert found[0] < found[1] == pytest.approx(entry.epsilon, rel=1e-4)


def test_the_second_variant_is_the_first_with_another_threshold():
    second = STANDARD["sparse-vector-2"].law
    moved = tuple(x - 0.5 for x in (2.0,) * 5 + (0.0,) * 5)
    assert second.probabilities((2.0,) * 5 + (0.0,) * 5) == pytest.approx(
        FIRST.probabilities(moved), rel=1e-12
    )


def test_the_third_variant_reaches_ten_twentieths():
    # nine below and a value under both inputs, all ones: by hand, one integral
    exact = 0.5**11 * (1 / 10 - 1 / 11)
    sides = [
        by_quad(
            lambda r, a=a: (
                0.0
                if r > 0
                else laplace_pdf(r, 20.0)
                * laplace_cdf(r + 1 - a, 20.0) ** 9
                * (laplace_cdf(1.0 - a, 20.0) - laplace_cdf(r + 1 - a, 20.0))
            ),
            (0.0,),
        )
        for a in (1.0, 2.0)
    ]
    assert sides[0] == pytest.approx(exact, rel=1e-9)
    assert math.log(sides[0] / sides[1]) == pytest.approx(0.5, rel=1e-9)
    assert THIRD.epsilon((1.0,) * 10, (2.0,) * 10) == pytest.approx(0.5, rel=1e-9)


def test_losses_of_printed_values_by_adaptive_quadrature():
    pair = ((1.0, 1.0, 1.0), (2.0, 0.0, 2.0))
    rows = {
        (-1000.0, 5.3, -2000.0): (5.3, (0,), 1),
        (-1000.0, -1000.0, 0.7): (0.7, (0, 1), 2),
        (8.1, -2000.0, -2000.0): (8.1, (), 0),
    }
    for row, (value, below, place) in rows.items():
        densities = [
            laplace_pdf(value - input[place], 20.0)
            * by_quad(
                lambda r, input=input, value=value, below=below: (
                    0.0
                    if r > value - 1.0
                    else laplace_pdf(r, 20.0)
                    * math.prod(laplace_cdf(r + 1.0 - input[j], 20.0) for j in below)
                ),
                (0.0, -1.0, 1.0, value - 1.0),
            )
            for input in pair
        ]
        loss = THIRD.loss(*pair, np.array([row]))[0]
        assert loss == pytest.approx(math.log(densities[0] / densities[1]), abs=1e-5)


def test_the_fifth_variant_by_a_scan_of_thresholds():
    shares = (np.arange(200_000) + 0.5) / 200_000
    noise = np.where(shares < 0.5, np.log(2 * shares), -np.log(2 * (1 - shares))) * 20.0
    input = (1.0, 2.0, 0.0)
    rows = (np.array(input) >= (noise + 1.0)[:, None]).astype(int)
    seen = np.array([np.mean((rows == each).all(axis=1)) for each in all_marks(3, None)])
    assert FIFTH.probabilities(input) == pytest.approx(seen, abs=1e-5)
    table = FIFTH.probabilities((2.0,) * 5 + (0.0,) * 5)
    mixed = table[(all_marks(10, None) == [1] * 5 + [0] * 5).all(axis=1)]
    assert mixed == pytest.approx([-math.expm1(-1 / 20)])  # Pr[-1 < noise <= 1]
    crossed = FIFTH.probabilities((1.0,) * 10)
    assert np.count_nonzero(crossed) == 2


def test_the_sixth_variant_reaches_ten_twentieths():
    marks = [0.0] * 5 + [1.0] * 5
    found = []
    for depth in (1.0, 30.0, 400.0):
        x = tuple((0.5 - m) * 2 * depth for m in map(float, marks))
        y = tuple(v + (1.0 - 2.0 * m) for v, m in zip(x, marks))
        found.append(SIXTH_LAW.epsilon(x, y))
    assert found[0] < found[1] < found[2] == pytest.approx(0.5, rel=1e-4)


SIXTH_LAW = STANDARD["sparse-vector-6"].law


def test_the_parallel_sparse_vectors_reach_their_limit():
    law = STANDARD["sparse-vector-parallel"].law
    x = (150.0,) * 8 + (-150.0,) * 2
    y = (151.0,) * 8 + (-151.0,) * 2
    assert law.epsilon(x, y) == pytest.approx(0.575, rel=1e-3)


def test_numerical_losses_add():
    pair = STANDARD["numerical-sparse-vector"].pairs[3]
    answers = NUMERICAL.sample(pair[0], 2000, np.random.default_rng(12))
    losses = NUMERICAL.loss(*pair, answers)
    rows = np.where(answers == 0.0, BELOW, np.where(answers == -1000.0, STOPPED, ABOVE))
    assert set(np.unique(rows)) == {BELOW, STOPPED, ABOVE}
    tables = [NUMERICAL.marks.probabilities(each) for each in pair]
    place = NUMERICAL.marks.place(rows)
    expected = np.log(tables[0][place] / tables[1][place])
    for i in range(10):
        moved = np.abs(answers[:, i] - pair[1][i]) - np.abs(answers[:, i] - pair[0][i])
        expected += np.where(rows[:, i] == ABOVE, moved / 60.0, 0.0)
    assert losses == pytest.approx(expected, abs=1e-12)


def test_rappor_by_both_rounds_of_coins():
    for name in ("rappor", "one-time-rappor"):
        law = STANDARD[name].law
        # permanent: the bit, or a fair coin with probability f; then 1 with probability q or p
        one = (1 - law.share) + law.share / 2
        answers = {bit: 0.0 for bit in (0, 1)}
        for bit, permanent in itertools.product((0, 1), (0, 1)):
            chance = one if permanent == bit else 1 - one
            answers[bit] += chance * (law.one if permanent else law.zero)
        assert law.kept == pytest.approx(answers[1])
        assert 1 - law.kept == pytest.approx(answers[0])
        assert law.per_bit == pytest.approx(math.log(answers[1] / answers[0]))
    per_bit = STANDARD["rappor"].law.per_bit
    enumerated = [
        per_bit * sum(2 * b - 1 for b in bits) for bits in itertools.product((0, 1), repeat=6)
    ]
    assert STANDARD["rappor"].law.epsilon((1.0,), (0.0,)) == pytest.approx(max(enumerated))


def test_murmur_hash_by_its_published_values():
    assert rappor.murmur(b"", 0) == 0
    assert rappor.murmur(b"", 1) == 0x514E28B7
    assert rappor.murmur(b"hello", 0) == 0x248BFA47
    assert rappor.murmur(b"test", 0) & rappor.WORD == 0xBA6BD213


def test_some_values_share_no_bit():
    values = range(-10, 11)
    apart = {
        (x, y): int(np.sum(rappor.bloom(x) != rappor.bloom(y)))
        for x, y in itertools.combinations(values, 2)
    }
    assert max(apart.values()) == 8
    assert apart[0, 1] == 6
