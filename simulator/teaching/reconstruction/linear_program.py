"""Reconstruction from few random subset sums by linear programming."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import DpcomposeError, InvalidInput, NotApplicable
from simulator.foundations.validation import finite, nonnegative


def random_subsets(rows: int, queries: int, coins: np.random.Generator) -> NDArray[np.int64]:
    """Indicators of uniformly random subsets of the rows, shape (queries, rows)."""
    if rows < 1 or queries < 1:
        raise InvalidInput(f"need at least one row and one query, not {rows} and {queries}")
    return coins.integers(0, 2, size=(queries, rows))


def reconstruct_by_linear_program(
    subsets: ArrayLike, answers: ArrayLike, error: float
) -> NDArray[np.int64]:
    """Round a point of [0, 1]^n that agrees with every answer to within ``error``.

    Parameters
    ----------
    subsets : indicators of the rows that each query sums, shape (queries, n).
    answers : one for each query, shape (queries,), in rows.
    error : in rows.

    Returns the reconstructed bits, shape (n,). With n (log n)^2 random subsets and an error of
    o(sqrt n) all but o(n) of them are right (Dinur and Nissim 2003, Theorem 5; Zhang 2020,
    lecture 7, Theorem 2). Solved by HiGHS through scipy.

    Raises
    ------
    InvalidInput : the shapes do not fit, or a number is not finite.
    NotApplicable : no point agrees with all answers, so some answer errs by more than ``error``.
    """
    rows, given = np.asarray(subsets, dtype=float), np.asarray(answers, dtype=float)
    if rows.ndim != 2 or given.shape != (len(rows),) or rows.size == 0:
        raise InvalidInput(
            f"subsets must have shape (queries, n) and answers shape (queries,), "
            f"not {rows.shape} and {given.shape}"
        )
    if not (np.isfinite(rows).all() and np.isfinite(given).all()):
        raise InvalidInput("subsets and answers must be finite numbers")
    nonnegative("error", finite("error", error))
    solved = scipy.optimize.linprog(
        np.zeros(rows.shape[1]),
        A_ub=np.vstack([rows, -rows]),
        b_ub=np.concatenate([given + error, error - given]),
        bounds=(0.0, 1.0),
        method="highs",
    )
    if solved.status == 2:
        raise NotApplicable(
            f"no point of [0, 1]^n is within {error} of all the answers: raise error"
        )
    if solved.status != 0 or solved.x is None:
        raise DpcomposeError(f"the linear program was not solved: {solved.message}")
    return np.where(solved.x > 0.5, 1, 0)
