"""Sampling that covers every path of a rule whose states can be enumerated.

Backward over the rule's automaton, H_i(node) = E[e^{theta (loss still to come)} | node]. Drawing
every answer, and every coin of the adversary, in proportion to p e^{theta loss} H_{i+1}(next) draws
whole views from e^{theta L - M} P_b with M = ln E e^{theta L}: the exponential tilt of the sum,
which tilting each round separately cannot give for every rule. The weight of a view is W = e^{M -
theta L} on *every* path, so W 1{L > t} <= e^{M - theta t} is known in advance, and intervals are
valid at every number of trials (Siegmund 1976 for the tilt; the recursion is Doob's transform of
e^{theta L}).

Infinite losses have no exponential moment. Their probability is known from the same recursion;
views with finite losses are sampled, and the probability is added.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.engine.compiled.compiling import (
    dispatch,
    numba_compile,
    numba_inline,
    numba_is_installed,
    uncompiled,
    unowned,
)
from simulator.engine.compiled.menu import Menu
from simulator.engine.enumerated.enumeration import automaton_of
from simulator.engine.enumerated.moments import Moments
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering
from simulator.engine.specification import Specification
from simulator.foundations.seeds import Stream, generator
from simulator.foundations.uninterrupted import uninterrupted
from simulator.mechanisms import Scalars


def picked(share, first, last, u):  # type: ignore[no-untyped-def]
    """The index in [first, last) that ``u`` in [0, 1) selects; never one of share 0."""
    if last - first == 2:  # without a branch, which would be mispredicted every other round
        return first + (1 if u >= share[first] else 0)
    place = first
    while place < last - 1 and u >= share[place]:
        u -= share[place]
        place += 1
    while share[place] <= 0.0 and place > first:  # rounding can lead past the last positive share
        place -= 1
    return place


@lru_cache(maxsize=16)
def covering_kernel(kinds: tuple[Scalars, ...]) -> Callable[..., Any]:
    """A kernel that plays an automaton by the tables of a measure.

    ``kinds`` are those of the menu, or empty where every answer has an atom; then one kernel serves
    all rules.
    """
    compile_, inline = (
        (numba_compile, numba_inline) if numba_is_installed() else (uncompiled, uncompiled)
    )
    if not kinds:

        def no_draw(entry, kind, params, pieces, row, noise):  # type: ignore[no-untyped-def]
            return math.nan

        draw_loss = compile_(no_draw)
    else:
        sample = dispatch([piece_sampler(one) for one in kinds], inline)
        loss_of = dispatch([one.loss for one in kinds], compile_)

        def draw(entry, kind, params, pieces, row, noise):  # type: ignore[no-untyped-def]
            answer = sample(kind[entry], params[entry], pieces, row, noise)
            return loss_of(kind[entry], params[entry], answer)

        draw_loss = inline(draw)

    pick = compile_(picked)
    borrow = unowned(compile_)

    def kernel(  # type: ignore[no-untyped-def]
        kind, params, begin, begin_share, place, starts, follow, entry, loss, piece_of, pieces,
        share, noise, losses,
    ):  # fmt: skip
        # over all trials of a round, so that the round's table is read from memory once
        params_of = borrow(params)
        nodes = np.empty(losses.shape[0], dtype=np.int64)
        for t in range(losses.shape[0]):
            nodes[t] = begin[pick(begin_share, 0, begin.shape[0], noise.random())]
            losses[t] = 0.0
        for i in range(place.shape[0]):
            cells, at, rows = place[i, 0], place[i, 1], place[i, 2]
            for t in range(losses.shape[0]):
                first = starts[at + nodes[t]]
                last = starts[at + nodes[t] + 1]
                row = rows + pick(share, cells + first, cells + last, noise.random()) - cells
                one = loss[row]
                if one != one:
                    one = draw_loss(entry[row], kind, params_of, pieces, piece_of[row], noise)
                losses[t] += one
                nodes[t] = follow[row]

    return compile_(kernel)


def piece_sampler(kind: Scalars) -> Callable[..., Any]:
    """The kind's sampler of a piece of its law, or a placeholder that is never called."""
    if kind.sample_piece is not None:
        return kind.sample_piece

    def never(params, pieces, row, noise):  # type: ignore[no-untyped-def]
        return math.nan

    return never


class CoveringEngine:
    """The automaton of a rule in experiment b, and the kernel that plays covering measures of it.

    Raises NotApplicable where the rule cannot be enumerated.

    Attributes
    ----------
    moments : the exponential moments of the signed loss.
    """

    def __init__(self, menu: Menu, rounds: int) -> None:
        self.moments = Moments(automaton_of(menu, rounds))
        a = self.moments.automaton
        self._kernel = covering_kernel(() if a.discrete else a.kinds)
        self._lock = threading.Lock()  # blocks are played in threads
        self._ready: tuple[float, tuple[Any, ...]] | None = None
        self._compiled = False

    def prepare(self, theta: float) -> tuple[Any, ...]:
        """The kernel's arrays for a theta; the last ones are cached."""
        with self._lock:
            if self._ready is None or self._ready[0] != theta:
                self._ready = theta, self._arrays(theta)
            return self._ready[1]

    def _arrays(self, theta: float) -> tuple[Any, ...]:
        a, made = self.moments.automaton, self.moments.measure(theta)
        cells = np.cumsum([0, *map(len, made.shares)])
        leaves_before = np.cumsum([0, *map(len, a.segments)])
        starts_before = np.cumsum([0, *(len(leaves.starts) for leaves in a.segments)])
        place = np.stack(
            (cells[:-1], starts_before[a.segment_of], leaves_before[a.segment_of]), axis=1
        )
        joined = [
            np.concatenate([getattr(leaves, name) for leaves in a.segments])
            for name in ("starts", "follow", "entry", "loss")
        ]
        return (
            a.kind, a.params, a.start[0], made.start_shares, place.astype(np.int64),
            *joined, made.piece_of, made.pieces, np.concatenate(made.shares),
        )  # fmt: skip

    def play(self, theta: float, noise: np.random.Generator, signed: np.ndarray) -> None:
        """Fill ``signed`` with the signed losses of trials under the measure of ``theta``."""
        prepared = self.prepare(theta)
        if not self._compiled:
            uninterrupted(lambda: self._kernel(*prepared, np.random.default_rng(0), signed[:0]))
            self._compiled = True
        self._kernel(*prepared, noise, signed)

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b`` under the specification's covering measure."""
        s = specification
        assert isinstance(s.sampling, Covering)
        theta = s.sampling.theta
        noise = generator(s.seed, s.task, Stream.mechanism(b), block)
        signed = np.empty(s.trials_in(block))
        self.play(theta, noise, signed)
        log_weights = self.moments.log_moment(theta) - theta * signed
        return Outcome(b, block, losses=-signed if b else signed, log_weights=log_weights)
