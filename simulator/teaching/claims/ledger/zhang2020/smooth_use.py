"""Zhang 2020, lecture 7, part 3: smooth sensitivity at work, and sample and aggregate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Annotated

import numpy as np

from simulator.analysis.estimation import violation
from simulator.data import datasets
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.foundations.errors import BrokenPromise
from simulator.foundations.knobs import Within
from simulator.foundations.seeds import Stream, generator
from simulator.mechanisms import Mechanism
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import challenges, play
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, NoiseFactor, Seed
from simulator.teaching.claims.ledger.zhang2020.sensitivity import D_1, D_2, TOP
from simulator.teaching.claims.ledger.zhang2020.smooth import scaled_laplace_delta, smoothed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import worse_experiment
from simulator.teaching.mechanisms.median import (
    LocalSensitivityMedian,
    SmoothSensitivityMedian,
    admissible_beta,
    smooth_sensitivity,
)
from simulator.teaching.mechanisms.sample_and_aggregate import SampleAndAggregate
from simulator.theory import ApproxDP

ScaledTo = Annotated[str, "the sensitivity that noise is scaled to: local, smooth or global"]
Trials = Annotated[int, "plays of each experiment", Within(1, 10**5)]
OnEveryDatabase = Annotated[bool, "whether it is claimed of every database"]
Rows = Annotated[int, "rows of the database", Within(1, 30_000)]
Blocks = Annotated[int, "small databases, which must divide the rows", Within(2, 4000)]
Overlap = Annotated[int, "small databases that hold each row", Within(1, 12)]
Beta = Annotated[float, "how fast smooth sensitivity decays", Within(1e-9, 100.0)]


@claim(
    "zhang2020-smooth-median-played",
    "part 3, Calibrating Noise to Sensitivity",
    "Noise scaled to the smooth sensitivity of the median protects the pair that noise "
    "scaled to the local sensitivity reveals.",
    Verdict.NOT_TIGHT,
    wrong={"scaled_to": "local"},
)
def smooth_median_played(
    *,
    scaled_to: ScaledTo = "smooth",
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.01,
    trials: Trials = 20_000,
    seed: Seed = 6,
) -> Finding:
    """Play the pair once per trial; a test of δ(ε) <= δ on the losses.

    A loss beyond a promise of pure privacy ends the play: what promised it fails.
    """
    mechanisms: dict[str, Mechanism] = {
        "smooth": SmoothSensitivityMedian(epsilon, delta, 0.0, TOP),
        "local": LocalSensitivityMedian(epsilon, 0.0, TOP),
    }
    game = challenges((D_1, D_2, mechanisms[scaled_to]))
    try:
        result = play(game, ApproxDP(epsilon, delta), 1, trials, seed, relation=REPLACE_ONE)
    except BrokenPromise as broken:
        return statement(False, str(broken))
    return worse_experiment(result, f"δ({number(epsilon)})", violation, epsilon, delta)


@claim(
    "zhang2020-smooth-much-smaller",
    "part 3, Calibrating Noise to Sensitivity",
    "The smooth sensitivity can be much smaller than the global one, on some database.",
    Verdict.HOLDS,
    wrong={"on_every_database": True},
)
def much_smaller(
    *, epsilon: Epsilon = 1.0, delta: Delta = 1e-6, on_every_database: OnEveryDatabase = False
) -> Finding:
    """The median of 569 patients' mean cell radius, in [0, 50]; much smaller: below a twentieth.

    That it is so on every database is refuted by two clusters of equal size.
    """
    radii = [float(record[0]) for record in datasets.load("breast_cancer", ["mean_radius"])]  # type: ignore[index]
    databases = [radii, [0.0] * 285 + [50.0] * 284]
    beta = admissible_beta(epsilon, delta)
    patients, clusters = (
        smooth_sensitivity(np.sort(np.array(values)), 0.0, 50.0, beta, REPLACE_ONE)
        for values in databases
    )
    judged = max(patients, clusters) if on_every_database else min(patients, clusters)
    return statement(
        judged < 50.0 / 20.0,
        f"smooth sensitivity {number(patients)} of 569 patients, {number(clusters)} of two "
        "clusters, global 50",
        note=f"β = {number(beta)}",
    )


def blocks_of(rows: int, blocks: int, overlap: int, coins: np.random.Generator) -> np.ndarray:
    """Which rows each small database holds, shape (blocks, size): a random deal of the rows.

    With ``overlap`` above 1 every row is dealt that many times.
    """
    deals = [coins.permutation(rows).reshape(blocks // overlap, -1) for _ in range(overlap)]
    return np.concatenate(deals)


def most_changed(values: np.ndarray, blocks: np.ndarray, replacements: Sequence[float]) -> int:
    """The largest number of block medians that change when one row is replaced, by trying all."""
    before = np.median(values[blocks], axis=1)
    most = 0
    for row in range(len(values)):
        for new in replacements:
            other = values.copy()
            other[row] = new
            changed = np.median(other[blocks], axis=1) != before
            most = max(most, int(changed.sum()))
    return most


@claim(
    "zhang2020-sample-and-aggregate-few-change",
    "part 3, Sample and Aggregate",
    "Changing one point of the database changes very few of the small databases, hence very few "
    "of their evaluations.",
    Verdict.HOLDS,
    wrong={"overlap": 6},
)
def few_change(
    *, rows: Rows = 60, blocks: Blocks = 12, overlap: Overlap = 1, seed: Seed = 21
) -> Finding:
    """Twelve random parts of sixty numbers: at most one evaluation changes.

    Parts that overlap widely change together, so the sampling must keep them apart.
    """
    coins = generator(seed, 0, Stream.COINS, 0)
    values = coins.normal(size=rows)
    most = most_changed(values, blocks_of(rows, blocks, overlap, coins), (-9.0, 9.0))
    return statement(most <= 1, f"at most {most} of {blocks} evaluations change")


def leak_to_neighbours(
    mechanism: SampleAndAggregate, database: Database, removed: Sequence[object], noise: float
) -> float:
    """The largest exact δ(ε) when one of the records goes, at ``noise`` times the scale."""
    worst, here = 0.0, mechanism.centre_and_scale(database, ADD_REMOVE)
    for record in removed:
        there = mechanism.centre_and_scale(database.remove(record), ADD_REMOVE)
        for (c0, b0), (c1, b1) in ((here, there), (there, here)):
            scales = noise * b0, noise * b1
            worst = max(worst, scaled_laplace_delta((c0, c1), scales, mechanism.epsilon))
    return worst


def mean_of_values(block: Database) -> float:
    """The mean of the second fields; used as a black box."""
    return math.fsum(record[1] for record in block) / block.size  # type: ignore[index]


@claim(
    "zhang2020-sample-and-aggregate-black-box",
    "part 3, Sample and Aggregate",
    "A function may be used as a black box: noise by the smooth sensitivity of the aggregation at "
    "the small databases' values keeps (ε, δ), and can be small.",
    Verdict.NOT_TIGHT,
    wrong={"noise": 0.1},
)
def black_box(
    *,
    blocks: Blocks = 400,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-4,
    noise: NoiseFactor = 1.0,
    seed: Seed = 21,
) -> Finding:
    """The mean of 4000 numbers in [0, 1], by the library's mechanism: median of block means.

    The mean is never analysed. The exact δ(ε) is taken over the removal of each number in a block
    next to the median, and of each in a database made to be hard: eleven blocks of one number, 0
    or 1. Small means a deviation below 0.05 on the 4000, and an aggregate within 0.05 of the mean.
    """
    draws = generator(seed, 1, Stream.COINS, 0).beta(2.0, 5.0, size=4000)
    database = Database(list(enumerate(draws.tolist())))
    large = SampleAndAggregate(mean_of_values, blocks, epsilon, delta, lower=0.0, upper=1.0)
    small = SampleAndAggregate(mean_of_values, 11, epsilon, delta, lower=0.0, upper=1.0)
    centre, scale = large.centre_and_scale(database, ADD_REMOVE)
    deviation, error = math.sqrt(2) * noise * scale, abs(centre - mean_of_values(database))
    if max(deviation, error) >= 0.05:
        return statement(False, f"deviation {number(deviation)}, error {number(error)}")
    middle = set(np.argsort(np.abs(large.block_values(database) - centre))[:3].tolist())
    near = [record for record in database if large.block_of(record) in middle]
    alone = {small.block_of((i, float(i % 2))): (i, float(i % 2)) for i in range(200)}
    hard = [alone[place] for place in sorted(alone)]
    leak = max(
        leak_to_neighbours(large, database, near, noise),
        leak_to_neighbours(small, Database(hard), hard, noise),
    )
    return upper_bound(
        leak,
        delta,
        f"δ({number(epsilon)})",
        note=f"over {len(near) + len(hard)} neighbours; {blocks} blocks, noise of standard "
        f"deviation {number(deviation)}, aggregate {number(error)} off the mean; smooth "
        f"sensitivity {number(scale * epsilon / 2)}, global 1",
    )


@claim(
    "zhang2020-sample-and-aggregate-sensitivity",
    "part 3, Sample and Aggregate",
    "The smooth sensitivity of the aggregate at x is at most that of the aggregation at the small "
    "databases' values z.",
    Verdict.HOLDS,
    wrong={"overlap": 2},
)
def aggregate_sensitivity(*, beta: Beta = 0.4, overlap: Overlap = 1, seed: Seed = 45) -> Finding:
    """Both by definition, for the median of three values of two numbers in 0..2 each, at every x.

    A value is the maximum, or random.

    With ``overlap`` every number is in so many of the three small databases.
    """
    top, members = 2, [(0, 1), (2, 3), (4, 5)]
    parts = [{row for own in range(overlap) for row in members[i - own]} for i in range(3)]
    x = np.array(list(product(range(top + 1), repeat=6)))
    z = np.array(list(product(range(top + 1), repeat=3)))
    of_z = smooth_by_trying(z, np.median(z, axis=1), beta)
    largest = np.column_stack([x[:, list(part)].max(axis=1) for part in parts])
    codes = np.column_stack([x[:, list(part)] @ 3 ** np.arange(len(part)) for part in parts])
    draws = np.random.default_rng(seed)
    worst = 0.0
    for values in (largest, *(draws.integers(0, 3, codes.max() + 1)[codes] for _ in range(3))):
        of_x = smooth_by_trying(x, np.median(values, axis=1), beta)
        bound = of_z[values @ np.array([9, 3, 1])]
        worst = max(worst, float((of_x / np.maximum(bound, 1e-300)).max()))
    return upper_bound(
        worst,
        1.0,
        "largest ratio of the two",
        note=f"{len(x)} databases, four functions; the maximum has global sensitivity {top}",
    )


def smooth_by_trying(points: np.ndarray, value: np.ndarray, beta: float) -> np.ndarray:
    """Smooth sensitivity at every point, neighbours differing in one coordinate; (points,)."""
    apart = (points[:, None, :] != points[None, :, :]).sum(axis=2)
    moves = np.abs(value[:, None] - value[None, :])
    local = np.where(apart == 1, moves, 0.0).max(axis=1)
    return smoothed(local, apart, beta)
