"""Exact answers by recursion over all plays.

If every mechanism of an adversary has finitely many answers and its states can be enumerated, its
coins included, its state and the loss so far take finitely many values. With V_i
the expected value of the estimator from such a node on, V_0 is the exact answer, and p_b(y)
V_{i+1}(node after y) is the law of Doob's transform, whose paths all weigh the same (Asmussen and
Glynn 2007, chapter VI).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.analysis.estimation import Estimate
from simulator.analysis.rare.reading import RareChoice, RarePlay, exact
from simulator.engine.block import covering_engine
from simulator.engine.outcomes.loss_sample import excess
from simulator.engine.specification import Specification
from simulator.foundations.errors import NotApplicable
from simulator.foundations.roots import crossing
from simulator.foundations.stages import in_stages
from simulator.foundations.ties import beyond, tolerance
from simulator.foundations.wording import count_of

EXACT = "exact, recursion over everything that can happen"
NODES = 2_000_000
"""The largest number of states and losses that are enumerated."""


@dataclass(frozen=True)
class Layer:
    """The nodes before one round, and the transitions of their answers.

    Attributes
    ----------
    source : int64, shape (ways,), ascending: the node before the answer.
    mass : float64, shape (ways,): the probability of the transition, given its node.
    follow : int64, shape (ways,): the node of the next layer.
    nodes : how many nodes there are.
    """

    source: np.ndarray
    mass: np.ndarray
    follow: np.ndarray
    nodes: int

    def expectation(self, after: np.ndarray) -> np.ndarray:
        """The mean over each node's ways of a value of the nodes of the next layer."""
        return np.bincount(self.source, self.mass * after[self.follow], minlength=self.nodes)


@dataclass(frozen=True)
class StateGraph:
    """All plays of experiment b, as a graph of states and losses.

    Attributes
    ----------
    start : float64, the probability of each node before round 0.
    layers : one for each round.
    signed : the signed losses of the nodes after the last round, shape (last nodes,).
    spread : the largest difference of the losses of paths with the same last node: sums that are
        equal up to rounding share a node.
    """

    start: np.ndarray
    layers: tuple[Layer, ...]
    signed: np.ndarray
    spread: float

    def value(self, of: Callable[[np.ndarray], np.ndarray]) -> float:
        """Exact expectation of a function of the signed loss in experiment b."""
        values = np.asarray(of(self.signed), dtype=np.float64)
        for layer in reversed(self.layers):
            values = layer.expectation(values)
        return float(self.start @ values)

    def tail_ends(self, threshold: float) -> tuple[float, float]:
        """Certified ends of the tail, for any of the losses of a node."""
        share = self.rounding
        lower, upper = self.tail(threshold + self.spread), self.tail(threshold - self.spread)
        return lower * (1.0 - share), min(1.0, upper * (1.0 + share))

    def tail(self, threshold: float) -> float:
        """Exact Pr_b[signed loss > threshold]; a loss equal up to rounding is not above."""
        return self.value(lambda s: (s > beyond(threshold, len(self.layers))).astype(float))

    def delta(self, epsilon: float) -> float:
        """Exact hockey-stick divergence at ``epsilon``."""
        return self.value(lambda s: excess(s, epsilon))

    def delta_ends(self, epsilon: float) -> tuple[float, float]:
        """Certified ends of the divergence at ``epsilon``, rounding included."""
        slack = self.spread + tolerance(epsilon, len(self.layers))
        share = self.rounding
        lower, upper = self.delta(epsilon + slack), self.delta(epsilon - slack)
        return lower * (1.0 - share), min(1.0, upper * (1.0 + share))

    @property
    def rounding(self) -> float:
        """Relative rounding of a probability: sums and products of a few terms per round."""
        return 64.0 * 2.0**-53 * (len(self.layers) + 16)

    def epsilon(self, delta: float) -> float:
        """Least epsilon >= 0 with delta(epsilon) <= ``delta``, exact but for rounding.

        Raises NotApplicable if infinite losses alone are more likely than ``delta``.
        """
        certain = self.value(np.isposinf)
        if certain > delta:
            raise NotApplicable(
                f"no finite epsilon has delta {delta:g}: infinite losses alone have {certain:g}"
            )
        if self.delta(0.0) <= delta:
            return 0.0
        law, atoms = self.law(), self.signed

        def gap(epsilon: float) -> float:
            return float(law @ excess(atoms, epsilon)) - delta

        largest = float(atoms[np.isfinite(atoms)].max())
        if gap(largest) >= 0.0:  # delta is that of the infinite losses, to the last digit
            return largest
        return crossing(gap, 0.0, largest, xtol=1e-12, rtol=1e-14)

    def law(self) -> np.ndarray:
        """The probability of each of ``signed``, by the forward recursion: a second witness."""
        reached = self.start
        sizes = [layer.nodes for layer in self.layers[1:]] + [len(self.signed)]
        for layer, size in zip(self.layers, sizes):
            flow = reached[layer.source] * layer.mass
            reached = np.bincount(layer.follow, flow, minlength=size)
        return reached


def places_of(sums: np.ndarray, unit: float) -> np.ndarray:
    """The rank of each sum; neighbours that differ by at most ``unit`` share one.

    The unit is the tolerance of a tail at threshold 0, so no threshold separates merged losses.
    """
    values, place = np.unique(sums, return_inverse=True)
    with np.errstate(invalid="ignore"):  # one infinity from the other
        apart = np.diff(values) > unit
    return np.concatenate(([0], np.cumsum(apart)))[place]


def enumerate_states(specification: Specification, b: int, nodes: int = NODES) -> StateGraph:
    """Enumerate all plays of experiment ``b``, with at most ``nodes`` nodes.

    Raises NotApplicable for an adversary whose states cannot be enumerated, a mechanism with
    infinitely many answers, or too many nodes.
    """
    s = specification
    automaton = covering_engine(s, b).moments.automaton
    if not automaton.discrete:
        raise NotApplicable("a mechanism of the menu has infinitely many answers")
    unit = tolerance(0.0, s.rounds)
    state, chances = automaton.start
    middle, low, high = np.zeros((3, len(state)))
    layers: list[Layer] = []
    seen = 0
    for i in in_stages(range(s.rounds), "walking through the states"):
        seen += len(state)
        leaves = automaton.segments[automaton.segment_of[i]]
        counts = leaves.starts[state + 1] - leaves.starts[state]
        # nodes of a walk on a line grow as the square of the rounds: stop early
        hopeless = i in (64, 256, 1024) and seen * (s.rounds / (i + 1)) ** 1.9 > 2 * nodes
        if seen > nodes or hopeless or int(counts.sum()) > 8 * nodes:
            raise NotApplicable(
                f"more than {nodes} states within {i + 1} of {count_of(s.rounds, 'round')} are too "
                "many for the recursion"
            )
        source = np.repeat(np.arange(len(state)), counts)
        first = np.concatenate(([0], np.cumsum(counts)))[:-1]
        leaf = np.arange(len(source)) - np.repeat(first - leaves.starts[state], counts)
        gained = leaves.loss[leaf]
        after = leaves.follow[leaf] if i + 1 < s.rounds else np.zeros(len(leaf), dtype=np.int64)
        sums = middle[source] + gained
        place = places_of(sums, unit)
        key = after * (int(place.max()) + 1) + place
        _, one, follow = np.unique(key, return_index=True, return_inverse=True)
        layers.append(Layer(source, leaves.mass[leaf], follow, len(state)))
        lowest, highest = np.full(len(one), np.inf), np.full(len(one), -np.inf)
        np.minimum.at(lowest, follow, low[source] + gained)
        np.maximum.at(highest, follow, high[source] + gained)
        state, middle, low, high = after[one], sums[one], lowest, highest
    finite = np.isfinite(middle)
    spread = float((high[finite] - low[finite]).max(initial=0.0))
    return StateGraph(chances, tuple(layers), middle, spread)


@dataclass(frozen=True, kw_only=True)
class Recursion(RarePlay):
    """The exact answer, from all plays."""

    graph: StateGraph

    @classmethod
    def of(cls, graph: StateGraph, choice: RareChoice) -> Recursion:
        """The answer to a question; raises NotApplicable if no finite epsilon has its delta."""
        point, delta = choice.question.epsilon, choice.question.delta
        if delta is not None:
            point = graph.epsilon(delta)
        assert point is not None
        return cls(choice=choice, point=point, method="doob", graph=graph)

    def at_delta(self, confidence: float) -> Estimate | None:
        """The epsilon of the question's delta, if it has one."""
        graph, delta = self.graph, self.choice.question.delta
        if delta is None:
            return None
        low, high = (
            graph.epsilon(delta * (1.0 + sign * graph.rounding)) - sign * graph.spread
            for sign in (1.0, -1.0)
        )
        slack = tolerance(high, len(graph.layers)) + 1e-12
        return exact(self.point, (max(0.0, low - slack), high + slack), confidence, EXACT)

    def at(self, epsilon: float, confidence: float) -> tuple[Estimate, Estimate]:
        """The tail and the divergence at any epsilon."""
        graph = self.graph
        return (
            exact(graph.tail(epsilon), graph.tail_ends(epsilon), confidence, EXACT),
            exact(graph.delta(epsilon), graph.delta_ends(epsilon), confidence, EXACT),
        )
