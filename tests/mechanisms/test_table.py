"""The table: its guarantee."""

from __future__ import annotations

import math

import pytest

from simulator.data.alice import ALICE
from simulator.mechanisms.table import Table


def test_two_equal_rows_have_a_loss_of_exactly_zero() -> None:
    promise = Table(ALICE, (0.3, 0.3, 0.4), (0.3, 0.3, 0.4)).guarantee()
    assert (promise.epsilon, promise.delta) == (0.0, 0.0)


@pytest.mark.parametrize("rows", [((0.3, 0.7), (0.7, 0.3)), ((0.5, 0.5), (0.25, 0.75))])
def test_the_epsilon_of_other_rows_is_its_largest_loss(rows: tuple[tuple[float, ...], ...]) -> None:
    promise = Table(ALICE, *rows).guarantee()
    exact = max(abs(math.log(p / q)) for p, q in zip(*rows))
    assert exact <= promise.epsilon < exact * (1.0 + 1e-14)
