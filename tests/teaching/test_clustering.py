"""k-means around the private step: scaling, centres from views, and costs."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.foundations.errors import InvalidInput
from simulator.teaching.clustering import (
    centres_seen,
    clustering_cost,
    into_unit_ball,
    plain_lloyd,
    private_lloyd,
)
from simulator.theory import PureDP

START = ((-0.2, 0.0), (0.2, 0.0))
CLOUD = [(0.5, 0.2), (0.4, 0.3), (0.6, 0.1), (-0.5, -0.1), (-0.3, -0.4), (-0.4, -0.2)]


def test_the_box_fills_the_unit_ball() -> None:
    points = into_unit_ball([[0.0, 0.0], [8.0, 3.0], [4.0, 1.5]], (0.0, 0.0), (8.0, 3.0))
    assert points.tolist() == [[-0.5, -0.5], [0.5, 0.5], [0.0, 0.0]]
    assert np.abs(points).sum(axis=1).max() == 1.0


@pytest.mark.parametrize(
    ("points", "lower", "upper", "complaint"),
    [
        ([[1.0, 2.0]], (0.0,), (3.0,), "shape"),
        ([[1.0, 2.0]], (0.0, 2.0), (3.0, 2.0), "empty"),
        ([[1.0, 2.0]], (0.0, 0.0), (3.0, 1.0), "outside"),
        ([[1.0, float("nan")]], (0.0, 0.0), (3.0, 1.0), "outside"),
    ],
)
def test_bad_boxes_are_refused(points, lower, upper, complaint) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        into_unit_ball(points, lower, upper)


def test_with_hardly_any_noise_the_private_centres_are_the_plain_ones() -> None:
    everyone = Database(CLOUD)
    adversary = private_lloyd(everyone.remove(CLOUD[0]), everyone, START, 1e9)
    result = simulate(
        adversary, PureDP(2e9), 3, 1, keep_views=1, experiments=(1,), jobs=1, progress=False
    )
    seen = centres_seen(result.views[0].answers, START)
    assert len(seen) == 3
    assert np.allclose(seen[-1], plain_lloyd(CLOUD, START, 3), atol=1e-6)


def test_the_centres_of_a_view_are_those_the_adversary_used() -> None:
    everyone = Database(CLOUD)
    adversary = private_lloyd(everyone.remove(CLOUD[0]), everyone, START, 0.5)
    result = simulate(
        adversary, PureDP(1.0), 4, 3, keep_views=3, experiments=(0,), jobs=1, progress=False
    )
    for view in result.views:
        used = [challenge.mechanism.centres for challenge in result.replay(view).challenges]
        assert used == [START, *centres_seen(view.answers, START)[:-1]]


def test_cost_is_that_of_a_plain_loop() -> None:
    plain = sum(min(sum((a - b) ** 2 for a, b in zip(x, c)) for c in START) for x in CLOUD)
    assert clustering_cost(CLOUD, START) == pytest.approx(plain, rel=1e-12)
    better = plain_lloyd(CLOUD, START, 5)
    assert clustering_cost(CLOUD, better) < plain
