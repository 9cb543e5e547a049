"""A rule over a menu as a finite automaton: every state that it can be in, and how it goes on.

A node is what the rule remembers, the move it has made, and what a filter has spent: everything
that the rest of the play depends on, but for the loss so far. Losses need not lie on a lattice,
so that a rule with few states has few nodes whatever its mechanisms lose.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simulator.mechanisms import Scalars


@dataclass(frozen=True, kw_only=True)
class Leaves:
    """Where answers lead in the rounds of one segment, one row per node and way out of it.

    Attributes
    ----------
    starts : int64, shape (nodes + 1,): node n has the leaves from starts[n] to starts[n + 1].
    follow : int64, shape (leaves,): the node before the next round.
    entry : int64, the menu entry that is answered; -1 where a filter refused it.
    loss : float64, the signed loss; NaN where the answer is continuous.
    mass : float64, p_b of the answer times that of the adversary's coins; of a continuous answer
        that of the coins alone.
    low, high : float64, the interval of a continuous answer.
    """

    starts: np.ndarray
    follow: np.ndarray
    entry: np.ndarray
    loss: np.ndarray
    mass: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        return len(self.follow)

    @property
    def nodes(self) -> int:
        """How many nodes there are in the rounds of the segment."""
        return len(self.starts) - 1


@dataclass(frozen=True, kw_only=True)
class Automaton:
    """Everything that a rule can do in experiment b.

    Attributes
    ----------
    kinds : the kinds of mechanism of the menu.
    kind : int64, shape (entries,): the place in ``kinds`` of each entry of the menu, and of each
        parameter that the rule was seen to choose for a free one.
    params : float64, shape (entries, widest), what they were prepared to. The databases are
        exchanged for experiment 1, so that losses are signed.
    rounds : k.
    start : the nodes before round 0 with the probabilities of the coins that lead there.
    segment_of : int64, shape (rounds,): which of ``segments`` leads on from a round; the last
        round's leaves end the play.
    segments : the leaves of each segment.
    """

    kinds: tuple[Scalars, ...]
    kind: np.ndarray
    params: np.ndarray
    rounds: int
    start: tuple[np.ndarray, np.ndarray]
    segment_of: np.ndarray
    segments: tuple[Leaves, ...]

    @cached_property
    def largest_loss(self) -> float:
        """The largest finite loss of one answer that has an atom, in absolute value."""
        losses = np.concatenate([leaves.loss for leaves in self.segments])
        finite = np.abs(losses[np.isfinite(losses)])
        return float(finite.max(initial=0.0))

    @property
    def discrete(self) -> bool:
        """Whether every answer has an atom."""
        return not any(np.isnan(leaves.loss).any() for leaves in self.segments)


def same(one: Automaton, other: Automaton) -> bool:
    """Whether two automata are alike to the bit."""
    if one is other:
        return True
    parts = [(one.start[0], other.start[0]), (one.start[1], other.start[1])]
    parts.append((one.segment_of, other.segment_of))
    if len(one.segments) != len(other.segments):
        return False
    for first, second in zip(one.segments, other.segments):
        names = (field.name for field in fields(Leaves))
        parts.extend((getattr(first, name), getattr(second, name)) for name in names)
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in parts)


class Out(NamedTuple):
    """One way out of a node, taken where the next round is from ``first`` to ``last``."""

    node: int
    first: int
    last: int
    follow: int
    entry: int
    loss: float
    mass: float
    low: float
    high: float


def leaves_of(outs: list[Out], nodes: int) -> Leaves:
    """The ways out as arrays; they come in the order of their nodes."""
    counts = np.bincount([out.node for out in outs], minlength=nodes) if outs else [0] * nodes
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    def column(name: str, kind: type) -> np.ndarray:
        return np.array([getattr(out, name) for out in outs], dtype=kind)

    return Leaves(
        starts=starts,
        follow=column("follow", np.int64),
        entry=column("entry", np.int64),
        loss=column("loss", np.float64),
        mass=column("mass", np.float64),
        low=column("low", np.float64),
        high=column("high", np.float64),
    )
