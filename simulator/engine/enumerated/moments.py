"""Exponential moments of the loss over a rule's automaton, by backward recursion.

With H_i(node) = E[e^{theta (loss still to come)} | node], a leaf's share of its node's H is its
probability under the exponential tilt of the total loss; see
:mod:`simulator.engine.enumerated.covering`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from simulator.engine.enumerated.automaton import Automaton
from simulator.engine.sampling import require_digits
from simulator.foundations.errors import NotApplicable

MOST_CELLS = 40_000_000
"""Most cells of the table of a measure, rounds times leaves: 320 MB."""
LEAST = 1e-100
"""Least ratio of a node's H to the largest at which products keep their digits."""


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
    """E[e^{theta L}; L finite] of an automaton, for any theta."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._known: dict[tuple[float, bool], float] = {}
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
        """Numbers of the pieces (entry, low, high) of continuous answers, and of each leaf."""
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
        """Logarithms of p e^{theta loss} of the leaves, -inf for an infinite loss; and the pieces.

        A row of the pieces holds the parameters of a piece's sampler.
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

    def log_moment(self, theta: float, *, quick: bool = True) -> float:
        """Return ln E[e^{theta L}; L finite]; recent values are cached.

        ``quick`` may use powers of matrices, where the values of nodes that differ by hundreds of
        decades are lost: in the automaton of a stratum some are, so weights need the other way.
        """
        if (theta, quick) not in self._known:
            if len(self._known) > 100:
                self._known.clear()
            reach = self.automaton.rounds * self.automaton.largest_loss
            require_digits("a covering measure", theta, theta * reach)
            found = self._recursion(theta, keep=False, quick=quick).log_moment
            require_digits("a covering measure", theta, found)
            self._known[theta, quick] = found
        return self._known[theta, quick]

    def measure(self, theta: float) -> Backward:
        """The measure's tables; raises NotApplicable where they would not fit."""
        self.log_moment(theta)  # raises NotApplicable for a theta that loses all digits
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
        first, probabilities = a.start
        total = float(probabilities @ value[first])
        if not total > 0.0:
            raise FloatingPointError
        return scale + math.log(total)

    def _recursion(self, theta: float, keep: bool, quick: bool = False) -> Backward:
        logs, pieces = self.log_masses(theta)
        a = self.automaton
        if quick and a.rounds >= 64 and max(leaves.nodes for leaves in a.segments) <= 64:
            with contextlib.suppress(FloatingPointError):
                return Backward(self._quick_moment(logs), np.zeros(0), (), pieces, self.cuts[1])
        try:
            log_values, shares = self._scaled(logs, keep)
        except FloatingPointError:  # values of H may differ by hundreds of decades
            log_values, shares = self._in_logarithms(logs, keep)
        first, probabilities = self.automaton.start
        at_start = np.log(probabilities) + log_values[first]
        log_moment = float(scipy.special.logsumexp(at_start))
        if log_moment == -math.inf:
            raise NotApplicable("every play of this adversary has an infinite loss")
        start = np.exp(at_start - log_moment)
        return Backward(log_moment, start, tuple(shares[::-1]), pieces, self.cuts[1])

    def _scaled(self, logs: list[np.ndarray], keep: bool) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return ln H before round 0 and the shares, by H over its largest value; fast.

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
        """Return ln H before round 0 and the shares, in logarithms throughout."""
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
        """Pr_b[L = infinity], exact up to rounding."""
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
        first, probabilities = a.start
        return float(probabilities @ value[first])


def runs_of(segment_of: np.ndarray) -> list[tuple[int, int]]:
    """Segments in the order of the rounds, each with its number of consecutive rounds."""
    return [(int(key), len(list(group))) for key, group in itertools.groupby(segment_of.tolist())]


def _normalise(values: np.ndarray) -> float:
    """Divide by the largest value, in place; return its logarithm.

    Raises FloatingPointError where all are 0, or the largest is beyond floats.
    """
    largest = float(values.max())
    if not 0.0 < largest < math.inf:
        raise FloatingPointError
    values /= largest
    return math.log(largest)
