"""Counts in words."""

from __future__ import annotations


def count_of(number: int, one: str, several: str = "", *, spec: str = "") -> str:
    """``1 round``, ``2 rounds``, ``0 rounds``; ``several`` is ``one`` with an s, if not given.

    ``spec`` is how the number is formatted, as "," for thousands.
    """
    return f"{number:{spec}} {one if number == 1 else several or one + 's'}"
