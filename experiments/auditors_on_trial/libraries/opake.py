"""Opake's estimates of one run. It is imported by Python 3.13, and not by 3.11.7 or 3.12.1."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.subjects import AuditorUnderTest

_IMPORTS = (
    "from opake.auditing import canary_scores, one_run\nfrom opake.auditing.types import CoinFlip"
)
_CODE = (
    "scores, n = np.concatenate([inside, outside]), len(inside)\n"
    "i = np.arange(len(scores))\n"
    "flip = CoinFlip(len(i), i, i < n, i[:n], i[n:])\n"
    "bound = one_run(canary_scores(scores, canary_indices=i), coin_flip=flip)"
)


def _estimate(scores: Scores) -> Any:
    from opake.auditing import canary_scores, one_run
    from opake.auditing.types import CoinFlip

    n = len(scores.inside)
    i = np.arange(n + len(scores.outside))
    flip = CoinFlip(len(i), i, i < n, i[:n], i[n:])
    return one_run(canary_scores(np.concatenate(scores), canary_indices=i), coin_flip=flip)


def _any_mechanism(scores: Scores, level: float, delta: float, seed: int) -> float:
    return float(_estimate(scores).eps_delta().epsilon_at(delta=delta, significance=level))


def auditors() -> list[AuditorUnderTest]:
    """The method for any mechanism."""
    import opake.auditing  # noqa: F401

    return [
        AuditorUnderTest(
            name="one_run, eps_delta",
            runs=("one run",),
            bound=_any_mechanism,
            claims="epsilon lower bound at the given delta and significance, mechanism-agnostic "
            "(arXiv 2509.08704)",
            remark="its test guesses at the threshold with the most right guesses in the same "
            "scores, which the p-value does not allow for; and it takes delta times the number of "
            "canaries for the number of those that are lost, which may all be lost together",
            imports=_IMPORTS,
            code=_CODE + ".eps_delta().epsilon_at(delta={delta}, significance={level})",
        ),
    ]
