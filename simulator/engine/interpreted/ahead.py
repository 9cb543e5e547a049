"""A block's noise, drawn many numbers at a time.

A draw of one number from numpy takes longer than the rest of a round; as one of a thousand it takes
a twentieth of that. The numbers are the same, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from simulator.engine.compiled.compiling import numba_compile, numba_is_installed
from simulator.foundations.uninterrupted import uninterrupted

Fill = Callable[[np.random.Generator, int], np.ndarray]
"""``fill(noise, n)`` makes the draws of ``n`` answers."""

METHODS = {"u": "random", "e": "standard_exponential", "n": "standard_normal"}
FEWEST, MOST = 16, 1024
"""Answers whose draws are made at a time, at first and at most."""
WORTH_COMPILING = 5_000_000
"""Rounds of a game for which numba, which takes one to two seconds to load, is worth loading."""


class Tape:
    """Draws made earlier, in the place of the generator: every method returns the next one."""

    __slots__ = ("random", "standard_exponential", "standard_normal")

    def __init__(self, following: Callable[[], float]) -> None:
        self.random = self.standard_exponential = self.standard_normal = following


class Ahead:
    """The noise of a block, drawn ahead while all mechanisms draw alike.

    As soon as one draws otherwise, the generator is put where it would stand by then, and makes
    each draw from there on. ``rounds`` is the number of rounds of the whole game.

    Attributes
    ----------
    pattern : the draws of an answer (see ``Scalars.draws``); None when nothing is drawn ahead.
    left : the draws that are left, the next one last.
    tape : a generator's methods, which take them.
    """

    __slots__ = ("fill", "left", "made", "noise", "pattern", "rounds", "size", "state", "tape")

    def __init__(self, noise: np.random.Generator, rounds: int) -> None:
        self.noise, self.rounds = noise, rounds
        self.pattern: str | None = ""
        self.left: list[float] = []
        self.tape: Any = Tape(self.left.pop)
        self.fill: Fill | None = None
        self.state: Any = None
        self.size = self.made = FEWEST // 2

    def source(self, draws: str, most: int = MOST) -> Any:
        """The tape, or the generator, for an answer of these draws.

        ``most`` is how many answers the generator is sure to make before its next other use.
        """
        if self.left and draws == self.pattern:
            return self.tape
        if self.pattern == "":
            self.pattern, self.fill = draws, fill_of(draws, self.rounds)
        if self.fill is None or draws != self.pattern:
            self.put_back()
            self.pattern = None
            return self.noise
        self.size = min(2 * self.size, MOST)
        self.made = min(self.size, most)
        self.state = self.noise.bit_generator.state
        self.left.extend(self.fill(self.noise, self.made)[::-1].tolist())
        return self.tape

    def put_back(self) -> None:
        """Put the generator where it stands before the draws that are left."""
        if self.left:
            assert self.fill is not None
            assert self.pattern
            self.noise.bit_generator.state = self.state
            self.fill(self.noise, self.made - len(self.left) // len(self.pattern))
            self.left.clear()


def fill_of(pattern: str, rounds: int) -> Fill | None:
    """The function that makes such draws; None where single ones are quicker, or they vary."""
    if len({*pattern}) == 1:
        method, each = METHODS[pattern[0]], len(pattern)
        return lambda noise, n: getattr(noise, method)(n * each)
    if pattern not in ("eu", "ue") or not numba_is_installed():
        return None
    worth = _compiled.cache_info().currsize > 0 or rounds >= WORTH_COMPILING
    return _compiled(pattern) if worth else None


def exponentials_and_uniforms(noise, n):  # type: ignore[no-untyped-def]
    """Return ``n`` pairs of an exponential and a uniform draw, made in turn; shape (2 n,)."""
    drawn = np.empty(2 * n)
    for i in range(n):
        drawn[2 * i] = noise.standard_exponential()
        drawn[2 * i + 1] = noise.random()
    return drawn


def uniforms_and_exponentials(noise, n):  # type: ignore[no-untyped-def]
    """Return ``n`` pairs of a uniform and an exponential draw, made in turn; shape (2 n,)."""
    drawn = np.empty(2 * n)
    for i in range(n):
        drawn[2 * i] = noise.random()
        drawn[2 * i + 1] = noise.standard_exponential()
    return drawn


@cache
def _compiled(pattern: str) -> Fill:
    in_turn = exponentials_and_uniforms if pattern == "eu" else uniforms_and_exponentials
    fill: Fill = numba_compile(in_turn)
    uninterrupted(lambda: fill(np.random.default_rng(0), 1))
    return fill
