"""Doob's transform: the zero-variance measure, by recursion over everything that can happen.

Where every mechanism of a rule's menu has finitely many answers and the rule tosses no coins, the
rule's state and the loss so far take finitely many values. With V_i the expected value of the
estimator from such a node on, the law q(y) proportional to p_b(y) V_{i+1}(node after y) is the
experiment conditioned on the event, every path weighs the same, and V_0 is the exact answer
(Asmussen and Glynn 2007, chapter VI).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from simulator.adversaries.contract import Rule
from simulator.errors import NotApplicable
from simulator.estimation.inversion import excess
from simulator.play.menu import Menu
from simulator.play.plain_kernel import no_filter
from simulator.play.specification import Specification
from simulator.ties import beyond

NODES = 2_000_000
DIGITS = 9
"""Losses that agree to so many decimals of the largest round loss are one node."""


class NoCoins:
    """Stands for the coins of a rule that must not toss any."""

    def __getattr__(self, name: str) -> Any:
        raise NotApplicable("the rule tosses coins: Doob's transform needs one that does not")


@dataclass(frozen=True)
class Layer:
    """The nodes before one round, and where their answers lead.

    Attributes
    ----------
    masses : float64, shape (nodes, outcomes): p_b of each answer; 0 pads.
    follow : int64, shape (nodes, outcomes): the node of the next layer.
    """

    masses: np.ndarray
    follow: np.ndarray


@dataclass(frozen=True)
class StateGraph:
    """Everything that can happen in experiment b.

    Attributes
    ----------
    layers : one for each round.
    signed : the signed losses of the nodes after the last round, shape (last nodes,).
    """

    layers: tuple[Layer, ...]
    signed: np.ndarray

    def value(self, of: Callable[[np.ndarray], np.ndarray]) -> float:
        """Exact expectation of a function of the signed loss in experiment b."""
        return float(self.backward(of)[0][0])

    def tail(self, threshold: float) -> float:
        """Exact Pr_b[signed loss > threshold]; equal to it but for rounding is not above it."""
        return self.value(lambda s: (s > beyond(threshold, len(self.layers))).astype(float))

    def delta(self, epsilon: float) -> float:
        """Exact hockey-stick divergence at ``epsilon``."""
        return self.value(lambda s: excess(s, epsilon))

    def epsilon(self, delta: float) -> float:
        """Least epsilon >= 0 with delta(epsilon) <= ``delta``, exact but for rounding.

        Raises NotApplicable where infinite losses alone are more likely than ``delta``.
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
        return float(brentq(gap, 0.0, largest, xtol=1e-12))

    def law(self) -> np.ndarray:
        """The probability of each of ``signed``, by the forward recursion: a second witness."""
        reached: NDArray[Any] = np.ones(1)
        sizes = [len(layer.masses) for layer in self.layers[1:]] + [len(self.signed)]
        for layer, size in zip(self.layers, sizes):
            flow = (reached[:, None] * layer.masses).ravel()
            reached = np.bincount(layer.follow.ravel(), flow, minlength=size)
        return reached

    def backward(self, of: Callable[[np.ndarray], np.ndarray]) -> list[np.ndarray]:
        """V before every round and after the last, one array per layer."""
        values = [of(self.signed)]
        for layer in reversed(self.layers):
            values.append((layer.masses * values[-1][layer.follow]).sum(axis=1))
        return values[::-1]

    def sample(
        self, epsilon: float, trials: int, noise: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw paths from Doob's transform for delta(``epsilon``).

        Returns the signed losses and log-weights ln dP_b/dQ, shape (trials,) each. Raises
        NotApplicable where the event is impossible.
        """
        values = self.backward(lambda s: excess(s, epsilon))
        if values[0][0] <= 0.0:
            raise NotApplicable(f"no play of this adversary loses more than {epsilon:g}")
        place: NDArray[np.int64] = np.zeros(trials, dtype=np.int64)
        log_weights = np.zeros(trials)
        for layer, after in zip(self.layers, values[1:]):
            masses, follow = layer.masses[place], layer.follow[place]
            wanted = masses * after[follow]
            total = wanted.sum(axis=1)
            cumulated = np.cumsum(wanted, axis=1)
            u = noise.random(trials) * cumulated[:, -1]
            chosen = (cumulated > u[:, None]).argmax(axis=1)
            rows = np.arange(trials)
            log_weights += np.log(total) - np.log(after[follow[rows, chosen]])
            place = follow[rows, chosen]
        return self.signed[place], log_weights


def enumerate_states(specification: Specification, b: int, nodes: int = NODES) -> StateGraph:
    """List all that can happen in experiment ``b``, at most ``nodes`` nodes.

    Raises NotApplicable for a generator, a rule that tosses coins or leaves a parameter free, a
    mechanism with infinitely many answers, and when there are too many nodes.
    """
    s = specification
    if not isinstance(s.adversary, Rule):
        raise NotApplicable("Doob's transform needs a rule over a menu, not a generator")
    step = s.adversary.step
    menu = Menu.of(s.adversary, s.family, s.relation, s.filter, exchanged=bool(b))
    moves = [outcomes(menu, entry) for entry in range(len(menu.kind))]
    finite = (abs(loss) for move in moves for _, _, loss in move if math.isfinite(loss))
    largest = max(finite, default=0.0)
    unit = max(largest, 1e-300) * 10.0**-DIGITS
    admit = no_filter if s.filter is None else type(s.filter).step
    purse: Any = (0.0,) if s.filter is None else s.filter.initial
    width = max(map(len, moves))

    def arrive(state: Any, i: int, answer: float, spent: Any) -> tuple[Any, int, Any]:
        """Let the rule make its move: a node is what it remembers, its move, what is spent."""
        state, move = step(state, i, answer, NO_COINS)[:2]
        return state, int(move), spent

    here: dict[Any, float] = {(*arrive(s.adversary.state, 0, math.nan, purse), 0.0): 0.0}
    layers: list[Layer] = []
    seen = 0
    for i in range(s.rounds):
        seen += len(here)
        if seen > nodes:
            raise NotApplicable(
                f"more than {nodes} states within {i + 1} of {s.rounds} rounds are too many for "
                'Doob\'s transform: use method="steered" or "tilted"'
            )
        last = i + 1 == s.rounds
        numbers: dict[Any, int] = {}
        losses: dict[Any, float] = {}
        masses = np.zeros((len(here), width))
        follow = np.zeros((len(here), width), dtype=np.int64)
        for row, ((state, entry, spent, _), loss) in enumerate(here.items()):
            admitted, spent_now = admit(spent, *menu.prices[entry])
            for column, (answer, mass, round_loss) in enumerate(
                moves[entry] if admitted else REFUSED
            ):
                total = loss + round_loss
                node = () if last else arrive(state, i + 1, answer, spent_now)
                key = (*node, place_of(total, unit))
                if key not in numbers:
                    numbers[key] = len(numbers)
                    losses[key] = total
                masses[row, column] = mass
                follow[row, column] = numbers[key]
        layers.append(Layer(masses, follow))
        here = losses
    return StateGraph(tuple(layers), np.array(list(here.values())))


NO_COINS: Any = NoCoins()
REFUSED = [(math.nan, 1.0, 0.0)]
"""What a refused query leads to: no answer, no loss."""


def place_of(loss: float, unit: float) -> float:
    """The loss in whole units, so that sums that differ by rounding are one."""
    return float(round(loss / unit)) if math.isfinite(loss) else loss


def outcomes(menu: Menu, entry: int) -> list[tuple[float, float, float]]:
    """(answer, p_b, signed loss) of every possible answer; raises NotApplicable."""
    kind, params = menu.kinds[menu.kind[entry]], tuple(menu.params[entry].tolist())
    if not math.isnan(menu.low[entry]):
        raise NotApplicable('a menu entry leaves its parameter free: use method="steered"')
    if kind.outcomes is None or kind.mass is None:
        raise NotApplicable(
            f"the {kind.name} mechanism has infinitely many answers: use "
            'method="steered" or "tilted"'
        )
    listed = []
    for answer in kind.outcomes(params):
        mass = kind.mass(params, 0, answer)
        if mass > 0.0:
            listed.append((answer, mass, kind.loss(params, answer)))
    return listed
