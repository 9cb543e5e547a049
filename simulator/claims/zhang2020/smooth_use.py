"""Zhang 2020, lecture 7, part 3: smooth sensitivity at work, and sample and aggregate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simulator.claims.cast import play
from simulator.claims.findings import decided, number, statement
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import ZHANG_2020
from simulator.claims.zhang2020.play import FALSE_ALARM, challenges, simulated
from simulator.claims.zhang2020.sensitivity import D_1, D_2, TOP
from simulator.data import datasets
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.errors import BrokenPromise
from simulator.estimation import BoundOutcome, violation
from simulator.mechanisms import Mechanism
from simulator.mechanisms.median import (
    LocalSensitivityMedian,
    SmoothSensitivityMedian,
    admissible_beta,
    smooth_sensitivity,
)
from simulator.mechanisms.sample_and_aggregate import SampleAndAggregate
from simulator.seeds import Stream, generator
from simulator.theory import ApproxDP


@claim(
    "zhang2020-smooth-median-played",
    ZHANG_2020,
    "part 3, Calibrating Noise to Sensitivity",
    "Noise scaled to the smooth sensitivity of the median protects the very pair that noise "
    "scaled to the local sensitivity gives away.",
    Verdict.NOT_TIGHT,
    wrong={"noise": "local"},
)
def smooth_median_played(
    *, noise: str = "smooth", epsilon: float = 1.0, delta: float = 0.01, trials: int = 20_000
) -> Finding:
    """Play the pair once per trial; a test of δ(ε) <= δ on the losses.

    A loss beyond a promise of pure privacy ends the play: what promised it fails.
    """
    mechanisms: dict[str, Mechanism] = {
        "smooth": SmoothSensitivityMedian(epsilon, delta, 0.0, TOP),
        "local": LocalSensitivityMedian(epsilon, 0.0, TOP),
    }
    game = challenges((D_1, D_2, mechanisms[noise]))
    try:
        result = play(game, ApproxDP(epsilon, delta), 1, trials, 6, relation=REPLACE_ONE)
    except BrokenPromise as broken:
        return statement(False, str(broken))
    tests = [
        violation(result.losses(b), epsilon, delta, experiment=b, false_alarm=FALSE_ALARM / 2)
        for b in (0, 1)
    ]
    worst = max(tests, key=lambda test: test.lower)
    return decided(worst, f"δ({number(epsilon)})")


@claim(
    "zhang2020-smooth-much-smaller",
    ZHANG_2020,
    "part 3, Calibrating Noise to Sensitivity",
    "The smooth sensitivity can be much smaller than the global one.",
    Verdict.HOLDS,
    wrong={"data": "two clusters"},
)
def much_smaller(*, data: str = "patients", epsilon: float = 1.0, delta: float = 1e-6) -> Finding:
    """The median of 569 patients' mean cell radius, in [0, 50]; much smaller: below a twentieth.

    On two clusters of equal size the smooth sensitivity is nearly the global one.
    """
    radii = [float(record[0]) for record in datasets.load("breast_cancer", ["mean_radius"])]  # type: ignore[index]
    values = {"patients": radii, "two clusters": [0.0] * 285 + [50.0] * 284}[data]
    beta = admissible_beta(epsilon, delta)
    smooth = smooth_sensitivity(np.sort(np.array(values, float)), 0.0, 50.0, beta, REPLACE_ONE)
    return statement(
        smooth < 50.0 / 20.0,
        f"{len(values)} values: smooth sensitivity {number(smooth)}, global 50",
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
    ZHANG_2020,
    "part 3, Sample and Aggregate",
    "Changing one point of the database changes very few of the small databases, hence very few "
    "of their evaluations.",
    Verdict.HOLDS,
    wrong={"overlap": 6},
)
def few_change(*, rows: int = 60, blocks: int = 12, overlap: int = 1) -> Finding:
    """Twelve random parts of sixty numbers: at most one evaluation changes.

    Parts that overlap widely change together, so the sampling must keep them apart.
    """
    coins = generator(21, 0, Stream.COINS, 0)
    values = coins.normal(size=rows)
    most = most_changed(values, blocks_of(rows, blocks, overlap, coins), (-9.0, 9.0))
    return statement(most <= 1, f"at most {most} of {blocks} evaluations change")


@claim(
    "zhang2020-sample-and-aggregate-black-box",
    ZHANG_2020,
    "part 3, Sample and Aggregate",
    "A function may be used as a black box: what is released has the smooth sensitivity of the "
    "aggregation at the small databases' values.",
    Verdict.HOLDS,
    wrong={"blocks": 20},
)
def black_box(*, blocks: int = 400, epsilon: float = 1.0, delta: float = 1e-4) -> Finding:
    """The mean of 4000 numbers in [0, 1], by the library's mechanism: median of block means.

    The mean is never analysed. Useful means here: noise of standard deviation below 0.05. Two
    neighbours are played, and the test of δ(ε) <= δ must not report a violation.
    """
    values = generator(21, 1, Stream.COINS, 0).beta(2.0, 5.0, size=4000).tolist()
    database = Database(values)

    def mean(block: Database) -> float:
        return math.fsum(block) / block.size  # type: ignore[arg-type]

    mechanism = SampleAndAggregate(mean, blocks, epsilon, delta, lower=0.0, upper=1.0)
    released, scale = mechanism.centre_and_scale(database, ADD_REMOVE)
    game = challenges((database.remove(values[0]), database, mechanism))
    result = play(game, ApproxDP(epsilon, delta), 1, 2000, 7)
    tests = [
        violation(result.losses(b), epsilon, delta, experiment=b, false_alarm=FALSE_ALARM / 2)
        for b in (0, 1)
    ]
    kept = all(test.outcome is not BoundOutcome.VIOLATED for test in tests)
    true_mean = mean(database)
    return simulated(
        kept and math.sqrt(2) * scale < 0.05 and abs(released - true_mean) < 0.05,
        f"{blocks} blocks: aggregate {number(released)}, true mean {number(true_mean)}, noise "
        f"of standard deviation {number(math.sqrt(2) * scale)}",
        note=f"smooth sensitivity {number(scale * epsilon / 2)}, global 1",
    )
