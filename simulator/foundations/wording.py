"""Counts and near misses in words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def count_of(number: int, one: str, several: str = "", *, spec: str = "") -> str:
    """``1 round``, ``2 rounds``, ``0 rounds``; ``several`` is ``one`` with an s, if not given.

    ``spec`` is how the number is formatted, as "," for thousands.
    """
    return f"{number:{spec}} {one if number == 1 else several or one + 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean laplace or staircase?``, or nothing where no known name is near."""
    near = difflib.get_close_matches(name.lower().replace("_", "-"), list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else ""
