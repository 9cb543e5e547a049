"""Copies of answers and messages, so that neither side can alter what the other holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

IMMUTABLE = (float, int, complex, str, bytes, type(None), np.generic)


def own_copy(answer: Any) -> Any:
    """A copy of an answer that shares no mutable state with it."""
    if isinstance(answer, IMMUTABLE):
        return answer
    return answer.copy() if type(answer) is np.ndarray else copy.deepcopy(answer)
