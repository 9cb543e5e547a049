"""Losses that were counted in bins: nothing depends on the order, and no interval is too short.

The witness throughout is the sample of the very same losses, one by one.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.analysis import estimation
from simulator.engine.outcomes.bins import PLACES, LossBins, bin_keys
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.foundations.errors import InvalidInput
from simulator.foundations.ties import tolerance
from tests.helpers import counting
from tests.helpers.exploring import examples

HEAD, TRIALS = 500, 20_000

floats = st.floats(allow_nan=True, allow_infinity=True)
numbers = st.lists(floats, max_size=60).map(np.array)


def counted(losses, head=HEAD):
    return counting.counted(losses, head)


def one_by_one(losses, head=HEAD):
    return LossSample.of(losses, head)


def same_bits(one, other):
    for name, column in one.arrays().items():
        theirs = other.arrays()[name]
        assert column.dtype == theirs.dtype
        assert column.tobytes() == theirs.tobytes(), name


# --- bins ---------------------------------------------------------------------------------------


@examples(200)
@given(numbers, st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_sum_of_bins_in_any_order_and_grouping_is_the_same_bits(values, random, groups):
    values = values.astype(np.float64)
    whole = LossBins.of(values)
    shuffled = values.tolist()
    random.shuffle(shuffled)
    parts = [LossBins.of(np.array(shuffled[i::groups], dtype=np.float64)) for i in range(groups)]
    random.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = part + total if random.random() < 0.5 else total + part
    same_bits(total, whole)
    same_bits(LossBins.total(parts), whole)
    assert whole.trials == values.size
    assert whole.unknown == np.isnan(values).sum()
    assert whole.problem() == ""


@examples(300)
@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_keys_ascend_with_the_numbers(one, other):
    low, high = sorted((one, other))
    keys, places = bin_keys(np.array([low, high]))
    assert keys[0] <= keys[1]
    assert ((places >= 0) & (places <= PLACES)).all()


@examples(200)
@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40).map(np.array))
def test_the_mean_of_a_bin_lies_between_its_limits(values):
    bins = LossBins.of(values)
    low, high = bins.means()
    keys, _ = bin_keys(values)
    for key, a, b in zip(bins.keys, low, high):
        inside = values[keys == key]
        mean = math.fsum(inside) / inside.size
        slack = 1e-14 * abs(mean)  # of the witness: its sum and its quotient are rounded
        assert a - slack <= mean <= b + slack


@examples(200)
@given(st.integers(-9999, 9999), st.integers(-3, 5), st.integers(0, 40), st.booleans())
def test_a_threshold_of_four_digits_never_lies_inside_a_bin(digits, power, ulps, negative):
    threshold = abs(digits) * 10.0**power
    atom = threshold
    for _ in range(ulps):  # the same loss, rounded otherwise
        atom = math.nextafter(atom, -math.inf if negative else math.inf)
    step = 10.0 ** (power if abs(digits) >= 1000 else power - 3)
    around = threshold + step * np.array([-0.7, -0.3, 0.2, 0.6])
    losses = np.concatenate(([atom, threshold], around))
    least = np.array([threshold + float(tolerance(threshold, 100))])
    few, many = LossSample.counted(losses[:0], [LossBins.of(losses)]).count_above(least)
    assert few == many == np.sum(losses > least)
    turned = LossSample.counted(losses[:0], [LossBins.of(-losses)]).negated()
    few, many = turned.count_above(least)
    assert few == many == np.sum(losses > least)


# --- estimates ----------------------------------------------------------------------------------


def laws(seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(0.5, 1.0, TRIALS)
    return {
        "Gaussian": normal,
        "Laplace": rng.laplace(size=(TRIALS, 5)).clip(-1.0, 1.0).sum(axis=1) * 0.2,
        "leaky": np.where(rng.random(TRIALS) < 0.002, np.inf, 0.4 * normal),
        "leaky in experiment 1": np.where(rng.random(TRIALS) < 0.002, -np.inf, 0.4 * normal),
        "large": 3000.0 + 80.0 * normal,
        "small": 1e-3 * normal,
        "lattice": np.array([0.1] * 7) @ rng.choice([-1.0, 1.0], (7, TRIALS), p=[0.45, 0.55]),
        "constant": np.full(TRIALS, 0.2),
    }


def compared(losses, experiment):
    """Pairs of estimates, by counts and one by one, at points that are awkward and that are not."""
    counts, every = counted(losses), one_by_one(losses)
    finite = np.sort(losses[np.isfinite(losses)] * (-1 if experiment else 1))
    points = [float(finite[int(share * (finite.size - 1))]) for share in (0.5, 0.9, 0.999)]
    for at in (*points, points[1] + 1.2345678e-4, float(f"{points[1]:.4g}")):
        for estimate in (estimation.tail, estimation.delta):
            yield estimate(counts, at, experiment), estimate(every, at, experiment)
    for delta in (0.2, 0.01):
        yield (
            estimation.epsilon(counts, delta, experiment),
            estimation.epsilon(every, delta, experiment),
        )


def rounding(estimate):
    """Root finders step outward by 1e-8 of a limit, and sums of floats are rounded."""
    return 3e-8 * abs(estimate.upper if math.isfinite(estimate.upper) else 1.0) + 1e-9


@pytest.mark.nightly
def test_intervals_contain_those_of_the_losses_and_are_wider_by_what_they_say():
    seen = 0
    for name, losses in laws(3).items():
        for experiment in (0, 1):
            for by_counts, exact in compared(losses, experiment):
                slack = rounding(exact)
                assert by_counts.lower <= exact.lower + slack, name
                assert exact.lower <= by_counts.lower + by_counts.widened + slack, name
                assert by_counts.upper >= exact.upper - slack, name
                if math.isfinite(by_counts.upper):
                    assert exact.upper >= by_counts.upper - by_counts.widened - slack, name
                assert by_counts.lower <= by_counts.value <= by_counts.upper
                assert exact.widened == 0.0
                seen += by_counts.widened > 1e-7
    assert seen >= 20  # else nothing was tried


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["lattice", "constant"])
def test_on_a_lattice_nothing_is_lost(name):
    losses = laws(4)[name]
    for experiment in (0, 1):
        for by_counts, exact in compared(losses, experiment):
            assert by_counts.widened < 1e-9
            for end in ("value", "lower", "upper"):
                assert getattr(by_counts, end) == pytest.approx(
                    getattr(exact, end), rel=1e-9, abs=1e-11
                )
            if exact.method == "Clopper-Pearson":  # elsewhere an excess of 1e-16 is a hit
                assert by_counts.hits == exact.hits


def test_the_standard_error_of_an_epsilon_counts_every_trial_of_a_bin():
    losses = laws(4)["lattice"][:2000]
    found = [estimation.epsilon(of(losses), 0.05) for of in (counted, one_by_one)]
    by_counts, exact = (each.relative_standard_error for each in found)
    assert by_counts == pytest.approx(exact, rel=1e-6)


@pytest.mark.nightly
def test_bands_and_trade_offs_contain_those_of_the_losses():
    for losses in laws(5).values():
        counts, every = counted(losses), one_by_one(losses)
        points = np.sort(losses[::200])
        wide = estimation.tail_band(counts, points)
        exact = estimation.tail_band(every, points)
        assert (wide.lower <= exact.lower).all()
        assert (wide.upper >= exact.upper).all()
        assert (exact.lower <= wide.lower + wide.widened + 1e-12).all()
        assert (exact.upper >= wide.upper - wide.widened - 1e-12).all()
        both = estimation.empirical_trade_off(counts, counted(losses - 0.3), points)
        known = estimation.empirical_trade_off(every, one_by_one(losses - 0.3), points)
        assert (both.type_one_lower <= known.type_one_lower).all()
        assert (both.type_one_upper >= known.type_one_upper).all()
        assert (both.type_two_lower <= known.type_two_lower).all()
        assert (both.type_two_upper >= known.type_two_upper).all()


def test_a_band_of_delta_is_wider_by_what_it_says_at_most():
    losses, points = laws(0)["Gaussian"][:900], np.array([0.0, 1.0])
    wide, exact = (
        estimation.delta_band(sample(losses), points, 0) for sample in (counted, one_by_one)
    )
    assert (wide.widened > 0.0).all()
    assert (exact.lower <= wide.lower + wide.widened + 1e-12).all()
    assert (exact.upper >= wide.upper - wide.widened - 1e-12).all()


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_bands_of_delta_are_wider_by_what_they_say_at_most(seed):
    """The ladder of thresholds too is made of bins' ends, and not of the losses themselves."""
    points = np.linspace(-1.0, 3.0, 9)
    for name, losses in laws(seed).items():
        wide = estimation.delta_band(counted(losses), points, seed % 2)
        exact = estimation.delta_band(one_by_one(losses), points, seed % 2)
        assert (exact.lower <= wide.lower + wide.widened + 1e-12).all(), name
        assert (exact.upper >= wide.upper - wide.widened - 1e-12).all(), name
        assert (wide.widened <= 0.01 * (wide.upper - wide.lower) + 1e-12).all(), name
        assert not exact.widened.any()


def inward(bins):
    """Broken on purpose: the ends of each bin moved to its mean, as if nothing was uncertain."""
    low, high = bins.means()
    middle = np.where(np.isfinite(low), (low + high) / 2.0, low)
    return replace(bins, least=middle, largest=middle)


def test_bins_that_round_inward_are_caught():
    losses = laws(3)["large"]
    broken = LossSample.counted(losses[:HEAD], [inward(LossBins.of(losses[HEAD:]))])
    exact = one_by_one(losses)
    misses = 0
    for at in np.quantile(losses, np.linspace(0.1, 0.9, 30)):
        found, truth = estimation.tail(broken, at), estimation.tail(exact, at)
        misses += found.lower > truth.lower or found.upper < truth.upper
    assert misses > 10


def test_claims_are_judged_alike():
    losses = laws(6)["Gaussian"]
    counts, every = counted(losses), one_by_one(losses)
    for bound in (0.0, 0.05, 0.2, 0.5):
        for test in (estimation.violation, estimation.tail_violation):
            by_counts, exact = test(counts, 1.0, bound), test(every, 1.0, bound)
            assert by_counts.outcome == exact.outcome
            assert by_counts.lower <= exact.lower + 1e-9
            assert by_counts.upper >= exact.upper - 1e-9


@pytest.mark.nightly
def test_intervals_of_counts_cover():
    """200 samples: at 90% more than 35 misses have a chance of 4e-4, were 20 the mean."""
    truth = 0.5 * math.erfc((1.0 - 0.5) / math.sqrt(2.0))
    shift = 0.5 * math.erfc((1.0 + 0.5) / math.sqrt(2.0))  # N(1/2, 1): e^1 times the other side
    delta = truth - math.e * shift
    misses = {"tail": 0, "delta": 0}
    for seed in range(200):
        sample = counted(np.random.default_rng(seed).normal(0.5, 1.0, 3000), 200)
        tail, found = estimation.tail(sample, 1.0, 0, 0.9), estimation.delta(sample, 1.0, 0, 0.9)
        misses["tail"] += not tail.lower <= truth <= tail.upper
        misses["delta"] += not found.lower <= delta <= found.upper
    assert max(misses.values()) <= 35


@pytest.mark.parametrize("loss", [math.inf, -math.inf])
def test_an_infinite_epsilon_is_not_widened(loss):
    """Both ends are infinite, and of their distance nothing is to be said."""
    found = estimation.epsilon(counted(np.full(TRIALS, loss)), 0.1, 0 if loss > 0 else 1)
    assert (found.lower, found.upper, found.widened) == (math.inf, math.inf, 0.0)
    assert estimation.epsilon(counted(np.full(TRIALS, -loss)), 0.1, 0 if loss > 0 else 1).upper == 0


def test_ten_billion_losses_from_few_bins():
    """Counts beyond 2^31: the interval is that of the normal law, as the sample is so large."""
    bins = LossBins.of(np.repeat([-0.5, 0.5], [4, 6]))
    many = replace(bins, counts=bins.counts * 10**9, places=bins.places * 10**9)
    sample = LossSample.counted(np.zeros(0), [LossBins.of(np.repeat([-0.5, 0.5], [4, 6])), many])
    assert sample.trials == 10**10 + 10
    tail = estimation.tail(sample, 0.0)
    error = 1.96 * math.sqrt(0.6 * 0.4 / 1e10)
    assert tail.upper - tail.lower == pytest.approx(2 * error, rel=0.01)
    found = estimation.delta(sample, 0.1)
    jump = -math.expm1(-0.4)
    assert found.value == pytest.approx(0.6 * jump, rel=1e-9)
    # the bets of the ten first are poor ones: valid, and far from the best
    assert found.lower < 0.6 * jump < found.upper
    assert found.upper - found.lower < 0.5


def test_what_needs_every_loss_is_refused():
    sample = counted(laws(3)["Gaussian"])
    with pytest.raises(InvalidInput, match='keep="losses"'):
        sample.losses()
    with pytest.raises(InvalidInput, match="NaN"):
        estimation.tail(counted(np.full(TRIALS, math.nan)), 1.0)


def test_where_both_ends_are_infinite_nothing_is_widened():
    """Half of the losses are infinite: no finite ε has a δ of 0.1, counted or one by one."""
    losses = np.where(np.arange(TRIALS) % 2 == 0, np.inf, 0.3)
    found = estimation.epsilon(counted(losses), 0.1)
    assert (found.lower, found.upper, found.widened) == (math.inf, math.inf, 0.0)
    assert "nan" not in str(found)
