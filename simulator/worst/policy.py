"""The policy of a search: a table that defines an adversary, with its value and its file.

The adversary remembers a node of the game and the grid point nearest to its loss, and plays the
table's option there. Where the table has none it stops: it sends two equal databases in all further
rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, Rule
from simulator.data.alice import ALICE, EVERYONE
from simulator.data.databases import Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.files import write_new
from simulator.foundations.validation import experiment_number
from simulator.mechanisms import (
    Gaussian,
    PoissonSubsampled,
    RandomizedResponse,
    ScalarMechanism,
)
from simulator.mechanisms.base import ScalarPair
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.worst.grid import Grid, nearest_layout, nearest_place
from simulator.worst.menu import as_neighbours
from simulator.worst.policy_files import (
    ChallengeText,
    challenge_text,
    new_python_file,
    packed,
    policy_program,
    read,
    relation_named,
    unpacked,
)
from simulator.worst.policy_probabilities import PolicyProbabilities
from simulator.worst.policy_table import PolicyTable

IDLE = Challenge(EVERYONE, EVERYONE, RandomizedResponse(ALICE, 1e-3))
"""The challenge after a policy has stopped: two equal databases, of loss zero."""


@dataclass(frozen=True)
class GridMoves:
    """The moves of a policy on its grid after one option's answers.

    Attributes
    ----------
    shifts : steps for the answers 0, 1, ...; empty for a mechanism with infinitely many.
    low, high : between these answers the loss is linear, beyond them constant.
    at_low, slope : of the linear part, in steps; in nats where ``scale`` is not 0.
    rate, scale : of a Gaussian on a sample, where the linear part is the loss m without the
        sample: the steps are scale ln(1 - rate + rate e^m).
    """

    shifts: tuple[int, ...]
    low: float = 0.0
    high: float = 0.0
    at_low: float = 0.0
    slope: float = 0.0
    _: KW_ONLY
    rate: float = 1.0
    scale: float = 0.0


FAR = 1 << 40
"""Number of steps that stands for an infinite loss."""


def grid_moves(challenge: Challenge, relation: Relation, step: float, sign: float) -> GridMoves:
    """The moves of a challenge's answers; ``sign`` is -1 in experiment 1.

    Raises NotApplicable for a mechanism whose loss is neither a table nor a clipped linear
    function.
    """
    mechanism = challenge.mechanism
    assert isinstance(mechanism, ScalarMechanism)
    if isinstance(mechanism, PoissonSubsampled) and isinstance(mechanism.mechanism, Gaussian):
        return _sampled_moves(challenge, relation, sign / step)
    pair = mechanism.pair(challenge.database_0, challenge.database_1, relation)
    assert isinstance(pair, ScalarPair)

    def place(loss: float) -> int:
        signed = sign * loss
        return (
            nearest_place(signed, step)
            if math.isfinite(signed)
            else int(math.copysign(FAR, signed))
        )

    if mechanism.scalars.outcomes is not None:
        return GridMoves(
            tuple(place(pair.loss(a)) for a in mechanism.scalars.outcomes(pair.params))
        )
    ends = (float(mechanism.query(d)) for d in (challenge.database_0, challenge.database_1))
    low, high = sorted(ends)
    if low == high:
        return GridMoves((), low, high, 0.0, 0.0)
    at_low, at_high = sign * pair.loss(low), sign * pair.loss(high)
    slope = (at_high - at_low) / (high - low)
    flat = sign * pair.loss(low - (high - low)) == at_low
    middle = sign * pair.loss(0.5 * (low + high)) if not mechanism.scalars.whole else None
    if middle is not None and abs(middle - 0.5 * (at_low + at_high)) > 1e-9 * abs(at_high):
        raise NotApplicable(
            f"the loss of {mechanism!r} is not linear in the answer, so no policy can follow it"
        )
    if flat:
        return GridMoves((), low, high, at_low / step, slope / step)
    far = 1e6 * (high - low)
    return GridMoves((), low - far, high + far, (at_low - slope * far) / step, slope / step)


def _sampled_moves(challenge: Challenge, relation: Relation, steps: float) -> GridMoves:
    """Return the moves of a Gaussian on a sample, ``steps`` being those of one nat."""
    database_0, database_1, mechanism = challenge
    assert isinstance(mechanism, PoissonSubsampled)
    law = mechanism.law(database_0, database_1, relation)
    assert isinstance(law, PoissonSubsampledLaw)
    value_0, value_1 = (float(mechanism.query(each)) for each in (database_0, database_1))
    known, other = (value_1, value_0) if law.exchanged else (value_0, value_1)
    slope = (other - known) / mechanism.mechanism.fixed_parameter() ** 2
    middle, far = 0.5 * (known + other), 600.0 / abs(slope)
    scale = steps if law.exchanged else -steps
    low = middle - far
    return GridMoves((), low, middle + far, -far * slope, slope, rate=mechanism.rate, scale=scale)


def family_of(challenges: Sequence[Challenge], relation: Relation) -> Guarantee:
    """A family to which every mechanism of the challenges belongs, and that of IDLE."""
    promises = [c.mechanism.guarantee(relation) for c in (*challenges, IDLE)]
    bounded = [p.core.pure_epsilon for p in promises if math.isfinite(p.core.pure_epsilon)]
    epsilon = max(bounded)
    delta = max(p.hockey_stick(epsilon) for p in promises)
    return ApproxDP(epsilon, min(delta * (1.0 + 1e-9), 0.5)) if delta else ApproxDP(epsilon, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Policy(PolicyTable):
    """A policy over a menu: the table, and the challenges of its options.

    Attributes
    ----------
    menu, labels : the challenges and their names, shape (options,).
    relation, experiment : of the search.

    >>> from simulator.worst import worst_case
    >>> policy = worst_case("randomized-response:0.5", epsilon=1.0, rounds=3).policy
    >>> policy.rounds, policy.labels
    (3, ('randomized-response:0.5',))
    """

    menu: tuple[Challenge, ...]
    labels: tuple[str, ...]
    relation: Relation
    experiment: int

    def __post_init__(self) -> None:
        challenges = tuple(as_neighbours(challenge, self.relation) for challenge in self.menu)
        object.__setattr__(self, "menu", challenges)

    @cached_property
    def family(self) -> Guarantee:
        """A family to which every mechanism of the menu belongs."""
        return family_of(self.menu, self.relation)

    def law(self, option: int) -> PrivacyLossLaw:
        """The law of an option's loss, in the experiment that was searched.

        >>> from simulator.worst import worst_case
        >>> found = worst_case("randomized-response:0.5", rounds=3, epsilon=0.5)
        >>> found.policy.law(0).losses
        array([-0.5,  0.5])
        """
        database_0, database_1, mechanism = self.menu[option]
        law = mechanism.law(database_0, database_1, self.relation)
        return law.reversed() if self.experiment else law

    def moves_of(self, option: int) -> GridMoves:
        """The moves of the policy on its grid after the option's answers."""
        sign = -1.0 if self.experiment else 1.0
        return grid_moves(self.menu[option], self.relation, self.grid.step, sign)

    @cached_property
    def adversary(self) -> Rule:
        """The policy as a rule over a menu."""
        grid_moves_of = [self.moves_of(option) for option in range(len(self.menu))]
        return Rule(
            rule_step(self, grid_moves_of), (*self.menu, IDLE), (*self.start, -1), name="worst-case"
        )

    @cached_property
    def probabilities(self) -> PolicyProbabilities:
        """The probabilities of its states, and of winning from each of them."""
        return PolicyProbabilities(self)

    @property
    def value(self) -> float:
        """Its delta(epsilon), from the probabilities of its states; a witness of the search."""
        ended = self.probabilities.forward[1]
        return float(ended[0, 1] - math.exp(self.epsilon) * ended[1, 1])

    def save(self, path: str | Path, header: Sequence[str] = ()) -> Path:
        """Write a new Python file that defines the policy as the rule ``worst_case``.

        Parameters
        ----------
        header : lines of a comment at its top.

        Raises
        ------
        InvalidInput : the file exists, cannot be written, or does not end in ``.py``.
        NotApplicable : a mechanism of the menu that has no name in a menu's text.

        >>> import tempfile
        >>> from simulator.worst import worst_case
        >>> found = worst_case("randomized-response:0.5", rounds=3, epsilon=0.5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.policy.save(folder + "/worst.py").name
        'worst.py'
        """
        target = new_python_file(path)
        values: list[tuple[str, Any]] = [
            ("menu", tuple(challenge_text(challenge, self.relation) for challenge in self.menu)),
            ("labels", self.labels),
            ("relation", str(self.relation)),
            ("experiment", self.experiment),
            ("epsilon", self.epsilon),
            ("grid", (self.grid.step, self.grid.first, self.grid.points, self.grid.offset)),
            ("follow", packed(self.follow)),
            ("table", packed(self.table)),
        ]
        if self.thresholds.any():
            values.append(("thresholds", tuple(float(x) for x in self.thresholds)))
        header = header or (f"A policy over {len(self.labels)} mechanisms.",)
        write_new(target, policy_program(header, values))
        return target

    @classmethod
    def read(
        cls,
        *,
        menu: Sequence[ChallengeText],
        labels: Sequence[str],
        relation: str,
        experiment: int,
        epsilon: float,
        grid: tuple[float, int, int, float],
        follow: str,
        table: str,
        thresholds: Sequence[float] | None = None,
    ) -> Policy:
        """The policy that :meth:`save` has written.

        ``thresholds`` is left out where all are zero. Raises InvalidInput for inconsistent values.
        """
        neighbours, points, ways = relation_named(relation), Grid(*grid), unpacked(follow)
        challenges = tuple(read(entry, neighbours) for entry in menu)
        moves = unpacked(table).astype(np.int16)
        nodes = len(ways)
        shapes = (nodes, points.points), (nodes, len(challenges)), (nodes,)
        compared_with = np.zeros(nodes) if thresholds is None else np.array(thresholds)
        if (moves.shape, ways.shape, compared_with.shape) != shapes or len(labels) != len(menu):
            raise InvalidInput("the saved policy is damaged: its tables do not fit its menu")
        layouts = []
        for database_0, database_1, mechanism in challenges:
            law = mechanism.law(database_0, database_1, neighbours)
            layouts.append(nearest_layout(law.reversed() if experiment else law, points.step))
        return cls(
            menu=challenges,
            labels=tuple(labels),
            relation=neighbours,
            experiment=experiment_number(experiment),
            epsilon=epsilon,
            grid=points,
            follow=ways,
            table=moves,
            layouts=tuple(layouts),
            thresholds=compared_with,
        )


def rule_step(policy: Policy, grid_moves_of: list[GridMoves]) -> Callable[..., Any]:
    """The policy as a rule's step, over arrays that are constants of its program."""
    table, follow = policy.table, policy.follow.astype(np.int64)
    points, idle = table.shape[1], len(policy.menu)
    changes = np.diff(table, axis=1, prepend=np.int16(-2)) != 0
    changes[:, 0] = True
    node_of, places = np.nonzero(changes)
    moves = table[node_of, places].astype(np.int64)
    places = places.astype(np.int64)
    begins = np.searchsorted(node_of, np.arange(len(table) + 1)).astype(np.int64)
    width = max([len(r.shifts) for r in grid_moves_of] + [1])
    shifts = np.zeros((len(grid_moves_of), width), dtype=np.int64)
    for row, r in zip(shifts, grid_moves_of):
        row[: len(r.shifts)] = r.shifts
    listed = np.array([bool(r.shifts) for r in grid_moves_of])
    lines = np.array([(r.low, r.high, r.at_low, r.slope, r.rate, r.scale) for r in grid_moves_of])

    def worst_case(state, i, answer, coins):  # type: ignore[no-untyped-def]
        node, place, last = state
        if last >= 0:
            if listed[last]:
                place += shifts[last, int(answer)]
            else:
                inside = min(max(answer, lines[last, 0]), lines[last, 1])
                steps = lines[last, 2] + (inside - lines[last, 0]) * lines[last, 3]
                if lines[last, 5] != 0.0:
                    rate, scale = lines[last, 4], lines[last, 5]
                    steps = scale * math.log1p(rate * math.expm1(steps))
                place += math.floor(steps + 0.5)
            node = follow[node, last]
            last = -1
        if 0 <= place < points:
            low, high = begins[node], begins[node + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if places[middle] <= place:
                    low = middle
                else:
                    high = middle
            last = moves[low]
            if last >= 0:
                return (node, place, last), last
        return (node, points if place > 0 else -1, -1), idle

    return worst_case
