"""Each certified row against both databases' answers of two steps, written out on a grid."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from simulator.training.as_trained.described import TrainingRun
from simulator.training.as_trained.rows import ALLOCATED, CUT, FIXED, ONCE, POISSON, loader_rows

RUN = TrainingRun(noise=1.3, records=2, batch=1, steps=2, delta=1e-3)
"""An epoch of two steps, whose batches have one record."""
POINTS = np.arange(-12.0, 12.0, 0.02)
GRID = 1e-3  # relative error of a sum over points of a function with kinks; noise of 1% moves 5%


def product(*means):
    """The density of two independent answers of these mixtures {mean: probability}."""
    one, two = (
        sum(weight * norm.pdf(POINTS, mean, RUN.noise) for mean, weight in each.items())
        for each in means
    )
    return np.outer(one, two) * 0.02**2


def sampled(shift, rate=0.5):
    return {0.0: 1.0 - rate, shift: rate}


def either(first, second):
    """The record's step is the first or the second, by a fair coin."""
    return 0.5 * (product(first, second) + product(second, first))


PAIRS = {
    (POISSON, "add-remove, C"): (product(sampled(1.0), sampled(1.0)), product({0.0: 1}, {0.0: 1})),
    (POISSON, "replace-one, 2C"): (
        product(sampled(1.0), sampled(1.0)), product(sampled(-1.0), sampled(-1.0)),
    ),
    (ALLOCATED, "add-remove, C"): (either({1.0: 1}, {0.0: 1}), product({0.0: 1}, {0.0: 1})),
    # of a shuffle: the other record has gradient -1
    ("shuffled in every epoch", "replace-special, C"): (
        either({1.0: 1}, {-1.0: 1}), either({0.0: 1}, {-1.0: 1}),
    ),
    (ONCE, "replace-special, C"): (either({1.0: 1}, {-1.0: 1}), either({0.0: 1}, {-1.0: 1})),
    (FIXED, "replace-special, C"): (product({1.0: 1}, {0.0: 1}), product({0.0: 1}, {0.0: 1})),
    (FIXED, "replace-one, 2C"): (product({1.0: 1}, {0.0: 1}), product({-1.0: 1}, {0.0: 1})),
}  # fmt: skip


def written_out(pair, epsilon):
    """The larger delta of both directions."""
    p, q = pair
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def rows(run=RUN):
    return {(row.loader, row.neighbours): row for row in loader_rows(run)}


def agrees(row, pair, delta):
    """Whether delta at the certified ends of epsilon is on the right side, up to the grid."""
    at_lower, at_upper = (written_out(pair, end) for end in (row.epsilon.lower, row.epsilon.upper))
    return at_lower >= delta * (1.0 - GRID) and at_upper <= delta * (1.0 + GRID)


def test_every_row_encloses_the_databases_written_out():
    found = rows()
    assert {*PAIRS} | {(f"{CUT} 2", "add-remove, C")} == {*found}
    for key, pair in PAIRS.items():
        assert agrees(found[key], pair, RUN.delta), key
    for key in (
        PAIRS.keys()
        - {("shuffled in every epoch", "replace-special, C")}
        - {(ONCE, "replace-special, C")}
    ):
        assert found[key].epsilon.width < 1e-3


@pytest.mark.sampled
@pytest.mark.parametrize("noise", [1.3 * 0.99, 1.3 * 1.01])
def test_a_wrong_noise_is_noticed(noise):
    wrong = rows(TrainingRun(noise=noise, records=2, batch=1, steps=2, delta=1e-3))
    exact = [key for key in PAIRS if "shuffled" not in key[0]]
    assert not any(agrees(wrong[key], PAIRS[key], RUN.delta) for key in exact)


def test_an_upper_end_of_cut_samples_holds_for_samples_written_out():
    """Four records, of which three have gradient -1; samples of more than two are cut to two."""
    run = TrainingRun(noise=1.3, records=4, batch=2, steps=1, delta=1e-3, cut=2)

    def answers(hers):
        found = np.zeros(len(POINTS))
        for kept, weight in samples(4 if hers else 3):
            mean = float((1.0 if hers and 0 in kept else 0.0) - sum(n > 0 for n in kept))
            found += weight * norm.pdf(POINTS, mean, run.noise) * 0.02
        return found

    upper = rows(run)[f"{CUT} 2", "add-remove, C"].epsilon.upper
    assert written_out((answers(True), answers(False)), upper) <= run.delta
    assert written_out((answers(True), answers(False)), 0.25 * upper) > run.delta


def samples(records):
    """Every kept sample with its probability; record 0 is hers where there are four."""
    everyone = range(4 - records, 4)
    for size in range(records + 1):
        for chosen in combinations(everyone, size):
            kept = list(combinations(chosen, min(size, 2)))
            yield from ((each, 0.5**records / len(kept)) for each in kept)


@pytest.mark.nightly
def test_an_epoch_that_is_not_ended_is_between_whole_epochs():
    whole, partial, more = (rows(replace(RUN, steps=steps)) for steps in (2, 3, 4))
    for key, row in partial.items():
        if not key[0].startswith(POISSON):
            assert row.epsilon.upper == more[key].epsilon.upper, key
            assert row.epsilon.lower >= whole[key].epsilon.lower, key
    begun = rows(replace(RUN, steps=1))[ALLOCATED, "add-remove, C"].epsilon
    assert (begun.lower, begun.upper) == (0.0, whole[ALLOCATED, "add-remove, C"].epsilon.upper)


def test_batches_of_everyone_lose_what_noise_alone_does():
    found = rows(TrainingRun(noise=2.0, records=5, batch=5, steps=4, delta=1e-3))
    exact = found[FIXED, "replace-special, C"].epsilon
    for (loader, neighbours), row in found.items():
        if neighbours != "replace-one, 2C" and not loader.startswith(CUT):
            assert row.epsilon.upper == pytest.approx(exact.upper, rel=1e-4)
            assert row.epsilon.lower == pytest.approx(exact.lower, rel=1e-4)
