"""Reconstruction from the answers to all 2^n subset sums.

A database of secret bits x in {0, 1}^n answers, for every subset q of its rows, how many of them
hold a 1. For any answers, a database that agrees with all of them to within ``error`` differs from
the true one in at most 4 ``error`` rows (Dinur and Nissim 2003, Theorem 4; Zhang 2020, lecture 7,
Theorem 1): on the rows where x holds a 1 and the candidate a 0, the two sums differ by the number
of such rows, and both are within ``error`` of the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite, nonnegative

Bits = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ROWS = 14
"""The most rows; beyond it the 4^n comparisons take minutes."""

_ROUNDING = 1e-9


def subset_sums(bits: ArrayLike) -> Floats:
    """The true answers to all subset sums, shape (2^n,).

    ``bits`` has shape (n,); entry q of the result is the sum over the rows i whose bit is set in
    the binary digits of q. Raises InvalidInput.
    """
    secret = np.asarray(bits)
    if secret.ndim != 1 or not np.isin(secret, (0, 1)).all():
        raise InvalidInput("a database of secret bits is one row of zeros and ones")
    _check_rows(secret.size)
    return _sums(int(secret @ (1 << np.arange(secret.size))), secret.size)


def consistent_databases(answers: ArrayLike, error: float) -> Bits:
    """Every database whose subset sums are all within ``error`` of ``answers``.

    ``answers`` has shape (2^n,), ordered as by :func:`subset_sums`; the result has shape
    (databases, n) and may be empty. ``error`` is in rows. Raises InvalidInput.
    """
    given, n = _checked(answers, error)
    return _rows(np.fromiter(_consistent(given, n, error), dtype=np.int64), n)


def reconstruct_exhaustively(answers: ArrayLike, error: float) -> Bits:
    """The first database consistent with the answers, shape (n,).

    Raises
    ------
    InvalidInput : the answers are not 2^n finite numbers for some n <= 14.
    NotApplicable : no database is consistent, so some answer errs by more than ``error``.

    Source: Dinur and Nissim 2003, section 3; Zhang 2020 (lecture 7), reconstruction attack.
    """
    given, n = _checked(answers, error)
    for candidate in _consistent(given, n, error):
        return _rows(np.array([candidate]), n)[0]
    raise NotApplicable(
        f"no database is within {error} of all the answers: some answer errs by more; raise error"
    )


def _consistent(answers: Floats, n: int, error: float) -> Iterator[int]:
    for candidate in range(1 << n):
        if np.abs(_sums(candidate, n) - answers).max() <= error + _ROUNDING:
            yield candidate


def _sums(database: int, n: int) -> Floats:
    queries = np.arange(1 << n, dtype=np.int64)
    return np.bitwise_count(queries & database).astype(np.float64)


def _rows(databases: NDArray[np.int64], n: int) -> Bits:
    return (databases[:, None] >> np.arange(n)) & 1


def _checked(answers: ArrayLike, error: float) -> tuple[Floats, int]:
    given = np.asarray(answers, dtype=np.float64)
    n = given.size.bit_length() - 1
    if given.ndim != 1 or given.size != 1 << max(n, 0) or not np.isfinite(given).all():
        raise InvalidInput("the answers must be 2^n finite numbers, one for each subset")
    _check_rows(n)
    nonnegative("error", finite("error", error))
    return given, n


def _check_rows(n: int) -> None:
    if not 1 <= n <= MOST_ROWS:
        raise InvalidInput(
            f"exhaustive reconstruction takes 1 to {MOST_ROWS} rows, not {n}; "
            "use the linear program for more"
        )
