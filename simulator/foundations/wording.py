"""Counts and near misses in words, and text that is safe to print."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import Context


def count_of(number: int, one: str, several: str = "", *, spec: str = "") -> str:
    """``1 round``, ``2 rounds``, ``0 rounds``; ``several`` is ``one`` with an s, if not given.

    ``spec`` is how the number is formatted, as "," for thousands.
    """
    return f"{number:{spec}} {one if number == 1 else several or one + 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean laplace or staircase?``, or nothing where no known name is near."""
    near = difflib.get_close_matches(name.lower().replace("_", "-"), list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def exactly(value: float) -> str:
    """A number that a user gave, as text: four digits where these are all, otherwise all."""
    short = f"{value:.4g}"
    return short if float(short) == value else repr(value)


def rounded(value: float, rounding: str, digits: int = 8) -> str:
    """A certified end as text, with 15 digits at most, rounded so that it stays certified."""
    if math.isfinite(value):
        value = float(Context(prec=digits, rounding=rounding).create_decimal(value))
    return f"{value:.{digits}g}"


def printable(text: str) -> str:
    """The text with every control character but a line's end and a tab written as an escape.

    A name in a stranger's file must not move the cursor of a terminal, or recolour it.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else _escaped(c)
        for c in text
    )


def in_short(text: str) -> str:
    """The text, safe to print, with its longest whole numbers cut: seeds, of 39 digits, are not."""
    return re.sub(r"\d{40,}", lambda n: f"{n[0][:6]}... ({len(n[0])} digits)", printable(text))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
