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

A mixture of such measures, one for each stratum of the plays (:mod:`.strata`), has the weight
e^{M_s - theta_s L} over the share of the view's own stratum s, as no other one has the view.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from simulator.engine.compiled.compiling import (
    Compile,
    dispatch,
    numba_compile,
    numba_inline,
    numba_is_installed,
    uncompiled,
    unowned,
)
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.stored_code import StoredKernel, name_of
from simulator.engine.enumerated.enumeration import automaton_of
from simulator.engine.enumerated.moments import Moments
from simulator.engine.enumerated.strata import Strata
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.promises import DONE
from simulator.engine.sampling import Covering
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
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
    """The kernel that plays an automaton by the tables of a measure, compiled once.

    ``kinds`` are those of the menu, or empty where every answer has an atom; then one kernel serves
    all rules.
    """
    if not numba_is_installed():
        return plays_tables(kinds, uncompiled)
    return StoredKernel(
        partial(plays_tables, kinds, numba_compile), name_of(make=plays_tables, kinds=kinds)
    )


def plays_tables(kinds: tuple[Scalars, ...], compile_: Compile) -> Callable[..., Any]:
    """The kernel for these kinds of mechanism."""
    inline = numba_inline if compile_ is numba_compile else uncompiled
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
        share, noise, nodes, losses,
    ):  # fmt: skip
        # over all trials of a round, so that the round's table is read from memory once
        params_of = borrow(params)
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
        return DONE, 0, 0, 0, 0.0, 0.0, 0.0

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
        self._lock = threading.RLock()  # blocks are played in threads
        self._ready: tuple[Covering, list[Prepared]] | None = None
        self._compiled = False

    @cached_property
    def strata(self) -> Strata:
        """The plays by their rarity."""
        return Strata(self.moments)

    def parts(self, measure: Covering) -> list[tuple[Moments, float, float]]:
        """(Moments, theta, log-weight of a play of loss 0) of each part of a measure.

        Raises InvalidInput where the game has no plays in a stratum.
        """
        if not measure.strata:
            return [(self.moments, measure.theta, self.moments.log_moment(measure.theta))]
        with self._lock:
            found = []
            ends = [*(stratum.least for stratum in measure.strata[1:]), None]
            for stratum, share, end in zip(measure.strata, measure.shares.tolist(), ends):
                moments = self.strata.of(stratum.least, end)
                if moments is None:
                    raise InvalidInput(f"no play of this game is in the stratum {stratum}")
                log_weight = moments.log_moment(stratum.theta, quick=False) - math.log(share)
                found.append((moments, stratum.theta, log_weight))
            return found

    def prepare(self, measure: Covering) -> list[Prepared]:
        """The kernel's arrays for each part of a measure; the last ones are cached."""
        with self._lock:
            if self._ready is None or self._ready[0] != measure:
                made = [
                    Prepared(theta, log_weight, arrays_of(moments, theta))
                    for moments, theta, log_weight in self.parts(measure)
                ]
                self._ready = measure, made
            return self._ready[1]

    def play(self, measure: Covering, noise: np.random.Generator, trials: int) -> DrawnLosses:
        """The signed losses and the log-weights of trials under a measure."""
        prepared = self.prepare(measure)
        if not self._compiled:
            uninterrupted(lambda: self._play(prepared[0], np.random.default_rng(0), np.empty(0)))
            self._compiled = True
        signed, log_weights = np.empty(trials), np.empty(trials)
        part_of = np.zeros(trials, dtype=np.int64)
        if len(prepared) > 1:
            part_of = np.searchsorted(np.cumsum(measure.shares)[:-1], noise.random(trials), "right")
        for number, part in enumerate(prepared):
            drawn = np.flatnonzero(part_of == number)
            losses = np.empty(len(drawn))
            self._play(part, noise, losses)
            signed[drawn] = losses
            log_weights[drawn] = part.log_weight - part.theta * losses
        return DrawnLosses(signed, log_weights)

    def _play(self, part: Prepared, noise: np.random.Generator, losses: np.ndarray) -> None:
        """Fill ``losses`` with the signed losses of trials under a part of a measure."""
        self._kernel(*part.arrays, noise, np.empty(len(losses), dtype=np.int64), losses)

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b`` under the specification's covering measure."""
        s = specification
        assert isinstance(s.sampling, Covering)
        noise = generator(s.seed, s.task, Stream.mechanism(b), block)
        signed, log_weights = self.play(s.sampling, noise, s.trials_in(block))
        return Outcome(b, block, losses=-signed if b else signed, log_weights=log_weights)


class DrawnLosses(NamedTuple):
    """Signed losses and ln dP_b/dQ, float64 of shape (trials,)."""

    signed: np.ndarray
    log_weights: np.ndarray


class Prepared(NamedTuple):
    """A part of a measure: its theta, the log-weight of a loss of 0, and the kernel's arrays."""

    theta: float
    log_weight: float
    arrays: tuple[Any, ...]


def arrays_of(moments: Moments, theta: float) -> tuple[Any, ...]:
    """The kernel's arrays for a covering measure of an automaton."""
    a, made = moments.automaton, moments.measure(theta)
    cells = np.cumsum([0, *map(len, made.shares)])
    leaves_before = np.cumsum([0, *map(len, a.segments)])
    starts_before = np.cumsum([0, *(len(leaves.starts) for leaves in a.segments)])
    place = np.stack((cells[:-1], starts_before[a.segment_of], leaves_before[a.segment_of]), axis=1)
    joined = [
        np.concatenate([getattr(leaves, name) for leaves in a.segments])
        for name in ("starts", "follow", "entry", "loss")
    ]
    return (
        a.kind, a.params, a.start[0], made.start_shares, place.astype(np.int64),
        *joined, made.piece_of, made.pieces, np.concatenate(made.shares),
    )  # fmt: skip
