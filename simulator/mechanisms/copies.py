"""Copies of answers and messages: what one party keeps, another must not be able to alter."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

IMMUTABLE = (float, int, complex, str, bytes, type(None), np.generic)


def own_copy(answer: Any) -> Any:
    """A copy for another party to do with as it likes: the kept one stays as it was."""
    if isinstance(answer, IMMUTABLE):
        return answer
    return answer.copy() if type(answer) is np.ndarray else copy.deepcopy(answer)
