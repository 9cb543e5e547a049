"""Both attacks recover what the theorems say, and say so when the answers err by more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.teaching.reconstruction import (
    consistent_databases,
    random_subsets,
    reconstruct_by_linear_program,
    reconstruct_exhaustively,
    subset_sums,
)
from tests.helpers.exploring import examples

PROFILE = examples(30)
databases = st.lists(st.integers(0, 1), min_size=1, max_size=7)


@given(databases)
@PROFILE
def test_subset_sums_are_those_of_a_plain_loop(bits: list[int]) -> None:
    plain = [sum(b for i, b in enumerate(bits) if q >> i & 1) for q in range(2 ** len(bits))]
    assert subset_sums(bits).tolist() == plain


@given(databases, st.floats(0, 2), st.integers(0, 2**32))
@PROFILE
def test_every_consistent_database_is_within_four_errors(
    bits: list[int], error: float, seed: int
) -> None:
    noise = np.random.default_rng(seed).uniform(-error, error, 2 ** len(bits))
    answers = subset_sums(bits) + noise
    candidates = consistent_databases(answers, error)
    assert bits in candidates.tolist()
    assert np.abs(candidates - bits).sum(axis=1).max() <= 4 * error + 1e-9
    assert np.abs(reconstruct_exhaustively(answers, error) - bits).sum() <= 4 * error + 1e-9


def test_exact_answers_leave_one_database() -> None:
    bits = [1, 0, 0, 1, 1, 0]
    assert consistent_databases(subset_sums(bits), 0.49).tolist() == [bits]
    coins = np.random.default_rng(5)
    subsets = random_subsets(6, 60, coins)
    assert reconstruct_by_linear_program(subsets, subsets @ bits, 0.0).tolist() == bits


def test_answers_that_err_by_more_are_found_out() -> None:
    answers = subset_sums([1, 0, 1])
    answers[7] += 2.0
    assert consistent_databases(answers, 0.4).shape == (0, 3)
    with pytest.raises(NotApplicable, match="raise error"):
        reconstruct_exhaustively(answers, 0.4)
    subsets = np.array([[1, 0, 0], [1, 0, 0]])
    with pytest.raises(NotApplicable, match="raise error"):
        reconstruct_by_linear_program(subsets, [0.0, 1.0], 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: subset_sums([0, 2]),
        lambda: subset_sums([0] * 15),
        lambda: consistent_databases([1.0, 2.0, 3.0], 1.0),
        lambda: consistent_databases([], 1.0),
        lambda: consistent_databases([0.0, float("nan")], 1.0),
        lambda: reconstruct_exhaustively([0.0, 1.0], -1.0),
        lambda: random_subsets(0, 3, np.random.default_rng(0)),
        lambda: reconstruct_by_linear_program([[1, 0]], [1.0, 2.0], 0.0),
        lambda: reconstruct_by_linear_program([[1, 0]], [float("inf")], 0.0),
        lambda: reconstruct_by_linear_program([[1, 0]], [1.0], float("nan")),
    ],
)
def test_bad_input_is_one_line(call) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert "\n" not in str(caught.value)
