"""A rule over a menu as a finite automaton: its reachable states and their transitions.

A node is the rule's state, its move, and the filter's state: everything that the rest of the play
depends on, except the loss so far. Losses need not lie on a lattice, so a rule with few states has
few nodes for any mechanisms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simulator.mechanisms import Scalars


@dataclass(frozen=True, kw_only=True)
class Leaves:
    """Transitions in the rounds of one segment, one row per node and transition.

    Attributes
    ----------
    starts : int64, shape (nodes + 1,): node n has the leaves from starts[n] to starts[n + 1].
    follow : int64, shape (leaves,): the node before the next round.
    entry : int64, the menu entry; -1 where a filter refused it.
    loss : float64, the signed loss; NaN where the answer is continuous.
    mass : float64, the probability of the answer in experiment b and of the adversary's coins; for
        a continuous answer that of the coins alone.
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
    """The reachable states of a rule in experiment b, and their transitions.

    Attributes
    ----------
    kinds : the kinds of mechanism of the menu.
    kind : int64, shape (entries,): the index in ``kinds`` of each entry of the menu, and of each
        parameter that the rule chooses for a free entry.
    params : float64, shape (entries, widest), their prepared parameters. The databases are
        exchanged for experiment 1, so that losses are signed.
    rounds : k.
    start : the nodes before round 0 with the probabilities of the coins that lead there.
    segment_of : int64, shape (rounds,): the index in ``segments`` of each round; the leaves of the
        last round end the play.
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


class Out(NamedTuple):
    """A transition of a node, for next rounds from ``first`` to ``last``."""

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
    """The transitions as arrays; ``outs`` are in the order of their nodes."""
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
