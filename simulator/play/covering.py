"""Sampling that covers every path of a rule whose states can be enumerated.

Backward over the rule's automaton, H_i(node) = E[e^{theta (loss still to come)} | node]. Drawing
every answer, and every coin of the adversary, in proportion to p e^{theta loss} H_{i+1}(next) draws
whole views from e^{theta L - M} P_b with M = ln E e^{theta L}: the exponential tilt of the sum,
which no tilt of the rounds one by one can give where a rule takes a detour. The weight of a view
is W = e^{M - theta L} on *every* path, so that W 1{L > t} <= e^{M - theta t} is known in advance
and intervals are valid at every number of trials (Siegmund 1976 for the tilt; the recursion is
Doob's transform of e^{theta L}).

Infinite losses have no exponential moment. Their probability is known from the same recursion;
views with finite losses are sampled, and the probability is added.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import logsumexp

from simulator.errors import NotApplicable
from simulator.mechanisms import Scalars
from simulator.play.automaton import Automaton, automaton_of
from simulator.play.compiling import dispatch, numba_compile, numba_inline, row_reader
from simulator.play.menu import Menu
from simulator.play.sampling import require_digits
from simulator.theory.filters import Filter

MOST_CELLS = 40_000_000
"""Cells of the table of a measure, rounds times leaves: 320 MB."""
LEAST = 1e-100
"""H of a node over the largest, down to which products keep their digits."""


@dataclass(frozen=True)
class Backward:
    """One covering measure.

    Attributes
    ----------
    log_moment : ln E[e^{theta L}; L finite].
    start_shares : the probability of each node before round 0.
    shares : for each round the probability of each leaf of its segment, given the node.
    pieces : a row of numbers for each piece of a continuous answer.
    piece_of : for each leaf of all segments the row of its piece.
    """

    log_moment: float
    start_shares: np.ndarray
    shares: tuple[np.ndarray, ...]
    pieces: np.ndarray
    piece_of: np.ndarray


class Moments:
    """E[e^{theta L}; L finite] of an automaton, for any theta; the laws of its leaves are kept."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._known: dict[float, float] = {}
        self.of_leaf = [
            np.repeat(np.arange(leaves.nodes), np.diff(leaves.starts))
            for leaves in automaton.segments
        ]
        self.occupied = []  # of each segment the nodes with leaves, and where these begin
        for leaves in automaton.segments:
            nodes: np.ndarray = np.flatnonzero(np.diff(leaves.starts))
            self.occupied.append((nodes, leaves.starts[nodes]))

    @cached_property
    def cuts(self) -> tuple[dict[tuple[int, float, float], int], np.ndarray]:
        """The pieces of continuous answers, (entry, low, high), by number; and those of leaves."""
        numbers: dict[tuple[int, float, float], int] = {}
        of_leaf = []
        for leaves in self.automaton.segments:
            numbered = np.zeros(len(leaves), dtype=np.int64)
            for place in np.flatnonzero(np.isnan(leaves.loss)).tolist():
                key = int(leaves.entry[place]), float(leaves.low[place]), float(leaves.high[place])
                numbered[place] = numbers.setdefault(key, len(numbers))
            of_leaf.append(numbered)
        return numbers, np.concatenate(of_leaf)

    def log_masses(self, theta: float) -> tuple[list[np.ndarray], np.ndarray]:
        """ln(p e^{theta loss}) of every leaf of every segment, -inf for an infinite loss; and rows.

        A row of numbers describes a piece of a continuous answer to its sampler.
        """
        a = self.automaton
        numbers, of_leaf = self.cuts
        pieces = np.zeros((len(numbers), max(kind.piece_width for kind in a.kinds)))
        for row, (entry, low, high) in zip(pieces, numbers):
            kind = a.kinds[a.kind[entry]]
            assert kind.piece is not None
            kind.piece(tuple(a.params[entry].tolist()), theta, low, high, row)
        found = []
        before = 0
        for leaves in a.segments:
            atoms = np.isfinite(leaves.loss)
            logs = np.log(leaves.mass) + np.where(atoms, theta * np.where(atoms, leaves.loss, 0), 0)
            logs[np.isinf(leaves.loss)] = -math.inf
            cut = np.flatnonzero(np.isnan(leaves.loss))
            if cut.size:
                logs[cut] += pieces[of_leaf[before + cut], 0]
            before += len(leaves)
            found.append(logs)
        return found, pieces

    def log_moment(self, theta: float) -> float:
        """Return ln E[e^{theta L}; L finite]; the last few are kept."""
        if theta not in self._known:
            if len(self._known) > 100:
                self._known.clear()
            reach = self.automaton.rounds * self.automaton.largest_loss
            require_digits("a covering measure", theta, theta * reach)
            found = self._recursion(theta, keep=False).log_moment
            require_digits("a covering measure", theta, found)
            self._known[theta] = found
        return self._known[theta]

    def measure(self, theta: float) -> Backward:
        """The measure's tables; raises NotApplicable where they would not fit."""
        self.log_moment(theta)  # refuses a theta that leaves no digits
        a = self.automaton
        cells = sum(len(a.segments[s]) for s in a.segment_of)
        if cells > MOST_CELLS:
            raise NotApplicable(
                f"the covering measure has {cells} cells over the rounds, more than {MOST_CELLS}: "
                "keep less in the rule's state"
            )
        return self._recursion(theta, keep=True)

    def _quick_moment(self, logs: list[np.ndarray]) -> float:
        """Return ln E[e^{theta L}] by powers of small matrices, for many rounds of few states.

        Raises FloatingPointError where a value comes near the least float.
        """
        a = self.automaton
        scale = 0.0
        value: np.ndarray = np.zeros(0)
        for segment, rounds in reversed(runs_of(a.segment_of)):
            leaves, of_leaf = a.segments[segment], self.of_leaf[segment]
            top = float(logs[segment].max(initial=-math.inf))
            if not math.isfinite(top):
                raise FloatingPointError
            masses = np.exp(logs[segment] - top)
            if not value.size:  # the last round ends the play
                value = np.bincount(of_leaf, masses, minlength=leaves.nodes)
                scale += top
            else:
                step = np.zeros((leaves.nodes, len(value)))
                np.add.at(step, (of_leaf, leaves.follow), masses)
                power, left = step, rounds
                factor, of_power = top, 0.0
                while left:
                    if left & 1:
                        value = power @ value
                        scale += factor + of_power
                        scale += _normalise(value)
                    left >>= 1
                    if left:
                        power = power @ power
                        factor, of_power = 2.0 * factor, 2.0 * of_power + _normalise(power)
            live = value[value > 0.0]
            if not float(live.min()) > LEAST * float(live.max()):
                raise FloatingPointError
        first, chances = a.start
        return scale + math.log(float(chances @ value[first]))

    def _recursion(self, theta: float, keep: bool) -> Backward:
        logs, pieces = self.log_masses(theta)
        a = self.automaton
        if not keep and a.rounds >= 64 and max(leaves.nodes for leaves in a.segments) <= 64:
            with contextlib.suppress(FloatingPointError):
                return Backward(self._quick_moment(logs), np.zeros(0), (), pieces, self.cuts[1])
        try:
            log_values, shares = self._scaled(logs, keep)
        except FloatingPointError:  # states of one rule may lie hundreds of decades apart
            log_values, shares = self._in_logarithms(logs, keep)
        first, chances = self.automaton.start
        at_start = np.log(chances) + log_values[first]
        log_moment = float(logsumexp(at_start))
        if log_moment == -math.inf:
            raise NotApplicable("no play of this adversary has a finite loss")
        start = np.exp(at_start - log_moment)
        return Backward(log_moment, start, tuple(shares[::-1]), pieces, self.cuts[1])

    def _scaled(self, logs: list[np.ndarray], keep: bool) -> tuple[np.ndarray, list[np.ndarray]]:
        """Ln H before round 0 and the shares, with H over its largest value; quick.

        Raises FloatingPointError where a value comes near the least float.
        """
        a = self.automaton
        tops = [float(part.max(initial=-math.inf)) for part in logs]
        if not all(map(math.isfinite, tops)):
            raise FloatingPointError
        masses = [np.exp(part - top) for part, top in zip(logs, tops)]
        value: np.ndarray = np.zeros(0)
        scale = 0.0
        shares_of: list[np.ndarray] = []
        for i in range(a.rounds - 1, -1, -1):
            segment = int(a.segment_of[i])
            leaves = a.segments[segment]
            here, first = self.occupied[segment]
            terms = masses[segment]
            if i < a.rounds - 1:
                terms = terms * value[leaves.follow]
            totals = np.add.reduceat(terms, first)
            largest = float(totals.max())
            if not float(totals.min()) > LEAST * largest:
                raise FloatingPointError
            if keep:
                shares_of.append(terms / np.repeat(totals, np.diff(leaves.starts)[here]))
            value = np.zeros(leaves.nodes)
            value[here] = totals / largest
            scale += tops[segment] + math.log(largest)
        with np.errstate(divide="ignore"):
            return np.log(value) + scale, shares_of

    def _in_logarithms(
        self, logs: list[np.ndarray], keep: bool
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """The same in logarithms throughout."""
        a = self.automaton
        value: np.ndarray = np.zeros(0)
        shares_of: list[np.ndarray] = []
        for i in range(a.rounds - 1, -1, -1):
            segment = int(a.segment_of[i])
            leaves, of_leaf = a.segments[segment], self.of_leaf[segment]
            terms = logs[segment] if i == a.rounds - 1 else logs[segment] + value[leaves.follow]
            here, first = self.occupied[segment]
            peaks = np.maximum.reduceat(terms, first)
            peaks[peaks == -math.inf] = 0.0
            spread = np.zeros(leaves.nodes)
            spread[here] = peaks
            shares = np.exp(terms - spread[of_leaf])
            totals = np.add.reduceat(shares, first)
            value = np.full(leaves.nodes, -math.inf)
            with np.errstate(divide="ignore"):
                value[here] = peaks + np.log(totals)
            if keep:
                spread[here] = np.where(totals > 0.0, totals, 1.0)
                shares_of.append(shares / spread[of_leaf])
        return value, shares_of

    @cached_property
    def leak(self) -> float:
        """Pr_b[L = infinity], exact but for rounding."""
        a = self.automaton
        log_masses, _ = self.log_masses(0.0)  # of the pieces of continuous answers as well
        value: np.ndarray = np.zeros(0)
        for i in range(a.rounds - 1, -1, -1):
            segment = int(a.segment_of[i])
            leaves = a.segments[segment]
            after = value[leaves.follow] if i < a.rounds - 1 else np.zeros(len(leaves))
            terms = np.exp(log_masses[segment]) * after
            infinite = np.isinf(leaves.loss)
            terms[infinite] = np.where(leaves.loss > 0.0, leaves.mass, 0.0)[infinite]
            value = np.bincount(self.of_leaf[segment], terms, minlength=leaves.nodes)
        first, chances = a.start
        return float(chances @ value[first])


def runs_of(segment_of: np.ndarray) -> list[tuple[int, int]]:
    """Segments in the order of the rounds, each with how many rounds in a row have it."""
    return [(int(key), len(list(group))) for key, group in itertools.groupby(segment_of.tolist())]


def _normalise(values: np.ndarray) -> float:
    """Divide by the largest value, in place; return its logarithm."""
    largest = float(values.max())
    values /= largest
    return math.log(largest)


def picked(share, first, last, u):  # type: ignore[no-untyped-def]
    """The place from first on, before last, that ``u`` in [0, 1) falls to; never one of share 0."""
    if last - first == 2:  # without a branch, which would be mispredicted every other round
        return first + (1 if u >= share[first] else 0)
    place = first
    while place < last - 1 and u >= share[place]:
        u -= share[place]
        place += 1
    while share[place] <= 0.0 and place > first:  # rounding has run past the last that has any
        place -= 1
    return place


@lru_cache(maxsize=16)
def covering_kernel(kinds: tuple[Scalars, ...], width: int) -> Callable[..., Any]:
    """A kernel that walks an automaton by the tables of a measure.

    ``kinds`` are those of the menu, whose ``params`` have that width; none where every answer has
    an atom: then one kernel serves all rules.
    """
    compile_ = numba_compile
    if not kinds:

        def no_draw(entry, kind, params, pieces, row, noise):  # type: ignore[no-untyped-def]
            return math.nan

        draw_loss = compile_(no_draw)
    else:
        sample = dispatch([piece_sampler(one) for one in kinds], numba_inline)
        loss_of = dispatch([one.loss for one in kinds], compile_)
        read = row_reader(width, compile_)

        def draw(entry, kind, params, pieces, row, noise):  # type: ignore[no-untyped-def]
            own = read(params, entry)
            answer = sample(kind[entry], own, pieces, row, noise)
            return loss_of(kind[entry], own, answer)

        draw_loss = numba_inline(draw)

    pick = compile_(picked)

    def kernel(  # type: ignore[no-untyped-def]
        kind, params, begin, begin_share, place, starts, follow, entry, loss, piece_of, pieces,
        share, noise, losses,
    ):  # fmt: skip
        # round by round over all trials: a round's part of the table is read from memory once
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
                    one = draw_loss(entry[row], kind, params, pieces, piece_of[row], noise)
                losses[t] += one
                nodes[t] = follow[row]

    return compile_(kernel)


def piece_sampler(kind: Scalars) -> Callable[..., Any]:
    """The kind's draw from a piece of its law; where it has none, one that is never called."""
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

    def __init__(self, menu: Menu, rounds: int, filter_: Filter | None) -> None:
        self.moments = Moments(automaton_of(menu, rounds, filter_))
        a = self.moments.automaton
        self._kernel = covering_kernel(() if a.discrete else a.kinds, a.params.shape[1])
        self._lock = threading.Lock()  # blocks are played in threads
        self._ready: tuple[float, tuple[Any, ...]] | None = None

    def prepare(self, theta: float) -> tuple[Any, ...]:
        """The kernel's arrays for a theta; those of the last one are kept."""
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
        self._kernel(*self.prepare(theta), noise, signed)
