"""Enumeration of the reachable states of a rule over a menu.

A rule is followed from its first state through every answer and every coin. Where its step does not
depend on the round, one node stands for all rounds.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.adversaries.program.rules import ProgramRule
from simulator.engine.compiled.menu import Menu, no_filter
from simulator.engine.enumerated.automaton import Automaton, Leaves, Out, leaves_of
from simulator.engine.enumerated.known_numbers import key_of_state
from simulator.engine.enumerated.programs import FollowedProgram, RoundMatters, Way
from simulator.engine.enumerated.state_count import INSTEAD, Census
from simulator.foundations.errors import Breach, NotApplicable
from simulator.foundations.stages import in_stages
from simulator.mechanisms import Scalars
from simulator.theory.filters.interface import Price

MOST_WAYS = 3_000_000

Answers = list[tuple[float, float, float]]
"""(answer, its probability, its signed loss) of a mechanism with finitely many answers."""


def automaton_of(menu: Menu, rounds: int) -> Automaton:
    """The automaton of the menu's rule over ``rounds`` rounds.

    Raises NotApplicable where it cannot be enumerated: the rule keeps a continuous answer or coin
    as a number, or has too many states, or a mechanism has infinitely many answers whose
    probability between two thresholds is unknown. Raises Breach where some play makes a move that
    is not on the menu.
    """
    try:
        return _Enumeration(menu, rounds).across_rounds()
    except RoundMatters:
        return _Enumeration(menu, rounds).round_by_round()


def refusals_of(menu: Menu, rounds: int) -> list[str]:
    """All reasons for which the rule over ``rounds`` rounds is not enumerated, each with its line.

    What cannot be followed is taken as unknown, and both ways on from it are followed once, so a
    reason that only a refused construct leads to may be among them.
    """
    search = _Enumeration(menu, rounds, collect=True)
    refusals = search.program.refusals
    assert refusals is not None
    try:
        search.round_by_round()
    except (NotApplicable, Breach) as refused:
        refusals[str(refused)] = None
    return list(refusals)


class _Enumeration:
    """The search for the reachable states of a rule."""

    def __init__(self, menu: Menu, rounds: int, *, collect: bool = False) -> None:
        self.menu, self.rounds, filter_ = menu, rounds, menu.filter_
        self.admit = no_filter if filter_ is None else type(filter_).step
        self.unspent: Any = (0.0,) if filter_ is None else filter_.initial
        self.observes = filter_ is not None and filter_.observes
        self.entries: dict[tuple[int, float], int] = {}
        self.kind: list[int] = []
        self.params: list[np.ndarray] = []
        self.prices: list[Price] = []
        self.answers: list[Answers] = []
        self.ways_seen = 0
        self.census = Census(rounds)
        self.off_menu: list[tuple[int, Way, str]] = []
        rule = menu.rule
        self.program = FollowedProgram(
            rule.machine if isinstance(rule, ProgramRule) else machine_of(read(rule)),
            collect=collect,
        )

    def across_rounds(self) -> Automaton:
        """The automaton with one node per state for all rounds, in order of the first round."""
        last = self.rounds - 1
        numbers: dict[Any, int] = {}
        first_round: list[int] = []
        pending: list[tuple[int, int, Any]] = []
        outs: list[Out] = []

        def arrive(way: Way, spent: Any, i: int) -> int:
            key = way.state, self._entry(way.move, way.parameter), spent
            node = numbers.setdefault(key_of_state(key), len(numbers))
            self.census.count(i, node == len(first_round))
            if node == len(first_round):
                first_round.append(self.rounds)
            if i < first_round[node]:
                first_round[node] = i
                heapq.heappush(pending, (i, node, key))
            return node

        start = self._start(lambda way: arrive(way, self.unspent, 0))
        done: dict[int, list[Out]] = {}
        while pending:
            i, node, (state, entry, spent) = heapq.heappop(pending)
            if node in done:
                continue
            entry, spent, answers = self._answered(entry, spent)
            done[node] = [
                Out(node, 0, last, 0, entry, loss, mass, -math.inf, math.inf)
                for _, mass, loss in answers
            ]
            for answer, mass, loss in answers if i < last else ():
                handed = self._handed(entry, answer, loss)
                seen = self._observed(entry, spent, loss)
                for way in self._ways(state, i + 1, last, handed, node=node):
                    follow = arrive(way, seen, way.first)
                    # a node is not reached before its first round, so its transitions need no cut
                    # there
                    first = way.first if way.first > i + 1 else 1
                    outs.append(
                        Out(node, first, way.last, follow, entry, loss,
                            mass * way.probability, way.low, way.high)
                    )  # fmt: skip
        nodes = len(numbers)
        outs.sort(key=lambda out: out.node)
        if self.off_menu:
            self._raise_if_played(start[0].tolist(), outs)
        first, until = np.array([(o.first, o.last) for o in outs] or [(1, last)]).T
        edges = sorted({0, last} | {f - 1 for f in first.tolist()} | set(until.tolist()))
        segments = []
        for a, b in itertools.pairwise(edge for edge in edges if 0 <= edge <= last):
            held = np.flatnonzero((first <= a + 1) & (until >= b)) if outs else ()
            segments.append(leaves_of([outs[place] for place in held], nodes))
        segments.append(leaves_of([end for node in range(nodes) for end in done[node]], nodes))
        segment_of = np.searchsorted(edges, np.arange(self.rounds), side="right") - 1
        segment_of[-1] = len(segments) - 1
        return self._automaton(start, segment_of, segments)

    def round_by_round(self) -> Automaton:
        """The automaton with separate nodes for every round, if the rule uses its number."""
        here: dict[Any, tuple[int, Any]] = {}

        def arrive(way: Way, spent: Any, i: int) -> int:
            key = way.state, self._entry(way.move, way.parameter), spent
            signed = key_of_state(key)
            self.census.count(i, signed not in here)
            here.setdefault(signed, (len(here), key))
            return here[signed][0]

        start = self._start(lambda way: arrive(way, self.unspent, 0))
        segments = []
        for i in in_stages(range(self.rounds), "enumerating states"):
            before, here, outs = here, {}, []
            for node, (state, entry, spent) in before.values():
                entry, spent, answers = self._answered(entry, spent)
                for answer, mass, loss in answers:
                    if i + 1 == self.rounds:
                        outs.append(Out(node, i, i, 0, entry, loss, mass, -math.inf, math.inf))
                        continue
                    handed = self._handed(entry, answer, loss)
                    seen = self._observed(entry, spent, loss)
                    for way in self._ways(state, i + 1, i + 1, handed):
                        outs.append(
                            Out(node, i, i, arrive(way, seen, i + 1), entry, loss,
                                mass * way.probability, way.low, way.high)
                        )  # fmt: skip
            segments.append(leaves_of(outs, len(before)))
        return self._automaton(start, np.arange(self.rounds), segments)

    def _start(self, arrive: Callable[[Way], int]) -> tuple[np.ndarray, np.ndarray]:
        probabilities: dict[int, float] = {}
        for way in self._ways((0,), 0, 0, math.nan):
            node = arrive(way)
            probabilities[node] = probabilities.get(node, 0.0) + way.probability
        return np.array(list(probabilities), dtype=np.int64), np.array(list(probabilities.values()))

    def _automaton(
        self, start: tuple[np.ndarray, np.ndarray], segment_of: np.ndarray, segments: list[Leaves]
    ) -> Automaton:
        kinds, kind, params = self.menu.kinds, np.array(self.kind), np.array(self.params)
        return Automaton(
            kinds=kinds,
            kind=kind,
            params=params,
            rounds=self.rounds,
            start=start,
            segment_of=segment_of,
            segments=tuple(segments),
        )

    def _answered(self, entry: int, spent: Any) -> tuple[int, Any, Answers]:
        """(Entry or -1 where refused, the filter's state, the answers) of a node's move."""
        admitted, spent = self.admit(spent, *self.prices[entry])
        if not admitted:
            return -1, spent, [(math.nan, 1.0, 0.0)]
        return entry, spent, self.answers[entry]

    def _observed(self, entry: int, spent: Any, loss: float) -> Any:
        """The filter's state after an answer. Raises NotApplicable where its loss is not one."""
        if not self.observes or entry < 0:
            return spent
        if math.isnan(loss):
            raise NotApplicable(
                "the filter depends on the realised losses, which here are a continuum: play it"
            )
        return self.menu.observe(spent, -loss if self.menu.exchanged else loss)

    def _handed(self, entry: int, answer: float, loss: float) -> float | tuple[float, float]:
        """The answer in the form that :func:`ways` takes."""
        if not math.isnan(loss):
            return answer
        kind = self.menu.kinds[self.kind[entry]]
        return (1.0, float(self.params[entry][0])) if kind.whole else (0.0, 0.0)

    def _ways(
        self, state: Any, first: int, last: int, answer: Any, *, node: int | None = None
    ) -> Iterator[Way]:
        """Yield the ways from a state; store those of a ``node`` that are off the menu instead.

        Raises Breach for such a way without a node, which every play may take.
        """
        for way in self.program.ways(state, (first, last), answer):
            self.ways_seen += 1
            if self.ways_seen > MOST_WAYS:
                raise NotApplicable(
                    f"the rule has more than {MOST_WAYS} ways through its step: {INSTEAD}"
                )
            complaint = self.menu.complaint(way.move, way.parameter)
            if not complaint:
                yield way
                continue
            complaint += after(state, way, answer)
            if node is None:
                raise Breach(f"round {way.first + 1}: {complaint}")
            self.off_menu.append((node, way, complaint))

    def _raise_if_played(self, live: Iterable[int], outs: list[Out]) -> None:
        """Raise Breach for the first way off the menu that some play takes.

        A node stands for its state in every round, including rounds in which no play reaches it.
        """
        ways_of: dict[int, list[Out]] = {}
        for out in outs:
            ways_of.setdefault(out.node, []).append(out)
        for i in range(1, self.rounds):
            live = set(live)
            for node, way, complaint in self.off_menu:
                if node in live and way.first <= i <= way.last:
                    raise Breach(f"round {i + 1}: {complaint}")
            live = {
                out.follow
                for node in live
                for out in ways_of.get(node, ())
                if out.first <= i <= out.last
            }

    def _entry(self, move: float, parameter: float) -> int:
        """The number of a move and its parameter for a free entry."""
        menu, move = self.menu, int(move)
        free = menu.is_free(move)
        key = move, parameter if free else 0.0
        if key not in self.entries:
            kind, params = menu.kinds[menu.kind[move]], menu.params[move].copy()
            price = menu.prices[move]
            if free:
                kind.prepare(menu.rows[move], parameter, params)
                price = parameter, price[1]
            self.entries[key] = len(self.kind)
            self.kind.append(int(menu.kind[move]))
            self.params.append(params)
            self.prices.append(price)
            self.answers.append(answers_of(kind, tuple(params.tolist())))
        return self.entries[key]


def after(state: Any, way: Way, answer: float | tuple[float, float]) -> str:
    """What is kept, and the answer, where a way was taken, for an error."""
    state = state[1] if len(state) == 2 else state[1:]
    if isinstance(answer, tuple):
        return f", in the state {state!r} after an answer between {way.low:g} and {way.high:g}"
    return f", in the state {state!r}" + ("" if math.isnan(answer) else f" after {answer:g}")


def answers_of(kind: Scalars, params: tuple[float, ...]) -> Answers:
    """The possible answers of a mechanism; one row with loss NaN if its law is cut into pieces.

    Raises NotApplicable where neither is known.
    """
    if kind.outcomes is not None and kind.mass is not None:
        masses = [(float(answer), kind.mass(params, 0, answer)) for answer in kind.outcomes(params)]
        return [(answer, mass, kind.loss(params, answer)) for answer, mass in masses if mass > 0.0]
    if kind.piece is None:
        raise NotApplicable(
            f"the {kind.name} mechanism has infinitely many answers, of unknown probability "
            "between two thresholds"
        )
    return [(math.nan, 1.0, math.nan)]
