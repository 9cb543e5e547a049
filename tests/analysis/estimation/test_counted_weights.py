"""Weighted losses that were counted: nothing depends on the order, and no interval is too short.

The witness throughout is the sample of the very same losses and weights, one by one.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.analysis import estimation
from simulator.analysis.estimation.betting import bets_on_mean, lower_limit, upper_limit
from simulator.analysis.estimation.checks import weighted_violation
from simulator.analysis.estimation.wealth import ABOVE, BELOW
from simulator.analysis.estimation.weight_bounds import delta_log_bound, tail_log_bound
from simulator.analysis.estimation.weighted import lower_of, upper_of
from simulator.engine.outcomes import weighted_bins
from simulator.engine.outcomes.loss_sample import Excess, LossSample
from simulator.engine.outcomes.packing import packed, unpacked_weighted
from simulator.engine.outcomes.weighted_bins import WeightedBins
from simulator.engine.outcomes.weighted_sample import LogSample, WeightedSample
from simulator.foundations.errors import InvalidInput
from tests.helpers.counting import counted as counted_losses
from tests.helpers.counting import counted_weights
from tests.helpers.exploring import examples

HEAD, TRIALS = 500, 20_000

losses = st.floats(allow_nan=False, allow_infinity=True)
weights = st.floats(-1e9, 1e9) | st.floats(-3.0, 3.0) | st.just(-math.inf)
pairs = st.lists(st.tuples(losses | st.floats(-2.0, 2.0), weights), max_size=60)


def columns_of(bins):
    return {name: (col.dtype, col.tobytes()) for name, col in bins.arrays().items()}, bins.level


def parted(rows, random, groups):
    rows = list(rows)
    random.shuffle(rows)
    for i in range(groups):
        part = np.array(rows[i::groups], dtype=np.float64).reshape(-1, 2)
        yield WeightedBins.of(part[:, 0], part[:, 1])


# --- cells --------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [4, weighted_bins.MOST_CELLS])
def test_sums_in_any_order_and_grouping_are_the_same_bits(most, monkeypatch):
    monkeypatch.setattr(weighted_bins, "MOST_CELLS", most)

    @examples(150)
    @given(pairs, st.randoms(use_true_random=False), st.integers(1, 5))
    def check(rows, random, groups):
        values = np.array(rows, dtype=np.float64).reshape(-1, 2)
        whole = WeightedBins.of(values[:, 0], values[:, 1])
        parts = list(parted(rows, random, groups))
        total = parts[0]
        for part in parts[1:]:
            total = part + total if random.random() < 0.5 else total + part
        assert columns_of(total) == columns_of(whole) == columns_of(WeightedBins.total(parts))
        assert whole.trials == len(rows)
        assert whole.problem() == ""
        assert columns_of(unpacked_weighted(packed(whole))) == columns_of(whole)

    check()


@examples(200)
@given(st.lists(st.floats(-1e6, 1e6) | st.floats(-0.1, 0.1), min_size=1, max_size=40))
def test_the_mean_of_a_cell_lies_between_its_limits(log_weights):
    log_w = np.array(log_weights)
    bins = WeightedBins.of(np.zeros(log_w.size), log_w)
    low, high = bins.weight_means()
    keys, _ = weighted_bins.weight_keys(log_w)
    for key, a, b in zip(bins.weight_keys, low, high):
        inside = log_w[keys == key]
        mean = math.fsum(inside) / inside.size
        slack = 1e-14 * abs(mean)  # of the witness: its sum and its quotient are rounded
        assert a - slack <= mean <= b + slack
        assert b - a < 3e-7


def test_cells_are_bounded_and_their_means_stay_sharp(monkeypatch):
    rng = np.random.default_rng(1)
    values, log_w = rng.normal(size=(2, 5000))
    monkeypatch.setattr(weighted_bins, "MOST_CELLS", 3000)
    values = np.round(values, 2)
    bins = WeightedBins.of(values, log_w)
    assert bins.level > 0
    assert bins.keys.size <= 3000
    low, high = bins.weight_means()
    assert (bins.counts * low).sum() <= log_w.sum() + 1e-9
    assert (bins.counts * high).sum() >= log_w.sum() - 1e-9
    assert (high - low).max() < 3e-7


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"counts": np.array([0, 1])}, "count nothing"),
        ({"weight_keys": np.array([0, -5], np.int32)}, "ends lie outside"),
        ({"weight_places": np.array([-1, 0])}, "places lie outside"),
        ({"least_weights": np.array([np.nan, 0.0])}, "not numbers"),
        ({"largest_weights": np.array([9.0, 0.0])}, "ends lie outside"),
        ({"keys": np.array([5, 1], np.int32)}, "out of order"),
        ({"level": 9}, "an unknown width"),
    ],
)
def test_cells_that_no_losses_have_left_are_refused(change, complaint):
    bins = replace(WeightedBins.of(np.array([0.1, 0.2]), np.zeros(2)), **change)
    assert complaint in bins.problem()


@pytest.mark.parametrize("other", [0.0, 0.2, 1e300, math.inf])
def test_cells_as_far_apart_as_can_be_are_in_order(other):
    """The numbers of such cells differ by more than a whole number of 64 bits holds."""
    bins = WeightedBins.of(np.array([other, -math.inf]), np.array([3.0, -math.inf]))
    assert bins.problem() == ""
    assert columns_of(unpacked_weighted(packed(bins))) == columns_of(bins)
    backwards = {name: column[::-1] for name, column in bins.arrays().items()}
    assert replace(bins, **backwards).problem() == "cells out of order"


def test_bytes_that_are_no_cells_are_refused():
    whole = packed(WeightedBins.of(*np.random.default_rng(2).normal(size=(2, 300))))
    for data in (whole[:3], whole[:20], np.zeros(3), np.full(30, 255, np.uint8)):
        with pytest.raises(InvalidInput, match="bins"):
            unpacked_weighted(data)


# --- estimates ----------------------------------------------------------------------------------


def counted(values, log_w, head=HEAD):
    return counted_weights(values, log_w, head)


def one_by_one(values, log_w, head=HEAD):
    return WeightedSample.of(LossSample.of(values, head), log_w)


THETA = 2.0


def laws(seed):
    """Losses and log-weights of a tilted Gaussian, and of what is awkward beside it."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(-0.5 + THETA, 1.0, TRIALS)  # L ~ N(-1/2, 1) under P, tilted by theta
    tilted = -THETA * normal + THETA**2 / 2.0 - THETA / 2.0
    two = rng.random(TRIALS) < 0.5
    return {
        "tilted": (normal, tilted),
        "another weight": (normal, tilted + rng.normal(0.0, 0.6, TRIALS) - 0.18),
        "large": (300.0 + 8.0 * normal, 0.25 * tilted - 300.0),
        "lattice": (np.round(normal), tilted * 0.0 - np.round(normal)),
        "leaky": (np.where(two & (normal > 3.0), np.inf, normal), tilted),
        "vanishing": (normal, np.where(two, -np.inf, tilted + math.log(2.0))),
    }


def compared(name, values, log_w, experiment):
    """Pairs of estimates, by counts and one by one, with bounds where there are some."""
    counts, every = counted(values, log_w), one_by_one(values, log_w)
    signed = np.sort((-values if experiment else values)[np.isfinite(values)])
    points = [float(signed[int(share * (signed.size - 1))]) for share in (0.5, 0.95)]
    bounded = name == "tilted" and experiment == 0
    psi = THETA**2 / 2.0 - THETA / 2.0
    for at in (*points, float(f"{points[1]:.4g}"), points[0] + 1.234567e-4):
        for estimate, bound in (
            (estimation.weighted_tail, tail_log_bound),
            (estimation.weighted_delta, delta_log_bound),
        ):
            for known in (None, bound(THETA, psi, at)) if bounded else (None,):
                yield tuple(
                    estimate(sample, None, at, experiment, log_bound=known)
                    for sample in (counts, every)
                )
    mass = math.exp(float(np.logaddexp.reduce(log_w))) / TRIALS
    for delta in (0.2 * mass, 0.01 * mass):
        if not 0.0 < delta < 1.0 or signed.size < TRIALS or signed[-1] <= 0.0:
            continue  # no finite epsilon, or none above 0
        for known in (None, lambda e: delta_log_bound(THETA, psi, e)) if bounded else (None,):
            yield tuple(
                estimation.weighted_epsilon(sample, None, delta, experiment, log_bound=known)
                for sample in (counts, every)
            )


def failures(by_counts, exact):
    """What is wrong of an estimate from counts, beside the one from every loss."""
    # root finders step outward by 1e-8 of a limit, and bets from cells differ in their digits; a
    # scale that a pilot of cells has found, where no bound is known, differs by a cell's width
    slack = (4e-6 * exact.lower if exact.no_value else 1e-6 * abs(exact.value)) + 1e-300
    wide = by_counts.widened + slack
    if not exact.lower - wide <= by_counts.lower <= exact.lower + slack:
        yield f"lower end {by_counts.lower!r} for {exact.lower!r}"
    high = by_counts.upper
    if not (high == exact.upper or exact.upper - slack <= high <= exact.upper + wide):
        yield f"upper end {high!r} for {exact.upper!r}"
    if exact.no_value != by_counts.no_value:
        yield "a value of one alone"
    if abs(exact.value - by_counts.value) > wide:
        yield "value"
    for name in ("effective_sample_size", "largest_weight_share"):
        ours, theirs = getattr(by_counts, name), getattr(exact, name)
        if abs(ours - theirs) > 0.02 * abs(theirs):
            yield f"{name} {ours} for {theirs}"


def test_intervals_of_few_trials_are_wider_by_what_they_say():
    values, log_w = laws(3)["tilted"]
    found = list(compared("tilted", values[:2000], log_w[:2000], 0))
    assert all(by_counts.widened > 0.0 for by_counts, _ in found)
    assert [list(failures(by_counts, exact)) for by_counts, exact in found] == [[]] * 16


@pytest.mark.nightly
def test_intervals_contain_those_of_the_losses_and_are_wider_by_what_they_say():
    seen = narrow = 0
    for name, (values, log_w) in laws(3).items():
        for experiment in (0, 1) if name != "leaky" else (0,):
            for by_counts, exact in compared(name, values, log_w, experiment):
                assert list(failures(by_counts, exact)) == [], (name, experiment)
                assert exact.widened == 0.0
                seen += by_counts.widened > 0.0
                narrow += by_counts.widened < 1e-4 * by_counts.lower
    assert seen >= 40  # else nothing was tried
    assert narrow >= 20


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("name", ["tilted", "another weight", "lattice", "leaky", "vanishing"])
def test_claims_are_judged_alike(name):
    values, log_w = laws(6)[name]
    counts, every = counted(values, log_w), one_by_one(values, log_w)
    exact = math.exp(every.excess(1.0).summary().log_value)
    bound = delta_log_bound(THETA, THETA**2 / 2.0 - THETA / 2.0, 1.0) if name == "tilted" else None
    outcomes = set()
    for share in (0.0, 0.5, 0.999, 1.001, 2.0):
        asked = {"epsilon": 1.0, "bound_delta": share * exact, "log_bound": bound}
        found, known = (weighted_violation(each, None, **asked) for each in (counts, every))
        assert found.outcome == known.outcome
        assert found.lower <= known.lower * (1 + 1e-6)
        assert found.upper >= known.upper * (1 - 1e-6)
        assert found.lower == pytest.approx(known.lower, rel=1e-3)
        assert found.value == pytest.approx(known.value, rel=1e-4)
        outcomes.add(found.outcome)
    assert {"violated", "undecided"} | ({"holds"} if bound else set()) == outcomes


def test_a_claim_of_the_other_experiment_is_judged_alike():
    values, log_w = laws(6)["tilted"]
    counts, arrays = counted(-values, log_w), (-values, log_w)
    found = weighted_violation(counts, None, 1.0, 0.0, experiment=1)
    known = weighted_violation(*arrays, 1.0, 0.0, experiment=1)
    assert found.value == pytest.approx(known.value, rel=1e-4)
    assert 0.0 < found.lower < found.value


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("experiment", [0, 1])
def test_infinite_losses_of_both_signs_and_weights_of_zero_raise_no_warning(experiment):
    rng = np.random.default_rng(4)
    values = rng.choice([-math.inf, -1.0, 0.5, math.inf], TRIALS)
    log_w = rng.choice([-math.inf, math.log(2.0)], TRIALS)
    pair = [
        estimation.weighted_delta(of(values, log_w), None, 0.2, experiment)
        for of in (counted, one_by_one)
    ]
    assert list(failures(*pair)) == []


def test_two_sets_of_weights_are_refused():
    counts = counted(*laws(6)["tilted"])
    for estimate in (weighted_violation, estimation.weighted_delta):
        with pytest.raises(InvalidInput, match="already has weights"):
            estimate(counts, np.zeros(TRIALS), 1.0, 0.1)


def test_the_other_experiment_is_served_by_the_same_cells():
    values, log_w = laws(5)["tilted"]
    both = [of(values, log_w).exchanged() for of in (counted, one_by_one)]
    assert both[1].least == pytest.approx(log_w - values)
    for at in (1.0, 2.5):
        by_counts, exact = (estimation.weighted_tail(each, None, at) for each in both)
        assert list(failures(by_counts, exact)) == []


def test_a_rounding_inward_is_caught(monkeypatch):
    """Every trial of a cell at its mean, where it is least favourable that they lie at the ends."""
    values, log_w = laws(3)["another weight"]
    counts, every = counted(values, log_w), one_by_one(values, log_w)
    exact = estimation.weighted_delta(every, None, 1.0)
    assert list(failures(estimation.weighted_delta(counts, None, 1.0), exact)) == []
    whole = WeightedSample.excess

    def inward(self, epsilon):
        found = whole(self, epsilon)
        return found if found.exact else replace(found, low=found.top, high=found.bottom)

    monkeypatch.setattr(WeightedSample, "excess", inward)
    assert list(failures(estimation.weighted_delta(counts, None, 1.0), exact))


def test_what_a_cell_contributes_lies_between_its_limits():
    for name, (values, log_w) in laws(4).items():
        counts = counted(values, log_w, head=1)
        at = float(np.median(values))
        for of in ("above", "excess"):
            found = getattr(counts, of)(at)
            every = getattr(one_by_one(values, log_w), of)(at)
            assert isinstance(every, LogSample)
            many = counts.losses.counts
            truth = np.exp(every.low).sum()
            limits = [(many * np.exp(ends)).sum() for ends in (found.low, found.high)]
            assert limits[0] <= truth * (1 + 1e-12), name
            assert truth <= limits[1] * (1 + 1e-12), name
            assert (found.bottom <= found.low).all()
            assert (found.low <= found.high).all()
            assert (found.high <= found.top).all()


def test_what_a_limit_is_widened_by_is_that_of_one_set_of_bets():
    """So the two numbers enclose the limit of any values between the ends, on the same bets."""
    rng = np.random.default_rng(1)
    losses = counted_losses(rng.integers(3, size=4000).astype(float), 100)
    high = rng.random(losses.least.size) ** 6
    low = high * rng.random(high.size)
    wide = Excess(losses, np.zeros(high.size), np.ones(high.size), low, high)
    for limits, side, limit, first, other in (
        (upper_of(wide, 0.05), BELOW, upper_limit, high, low),
        (lower_of(wide, 0.05), ABOVE, lower_limit, low, high),
    ):
        outer, between = wide.spread(first), wide.at((low + high) / 2.0)
        bets = bets_on_mean(outer, 0.05, side)
        found = [limit(values, 0.05, bets) for values in (outer, between, wide.at(other))]
        assert sorted(limits) == [min(found), max(found)]
