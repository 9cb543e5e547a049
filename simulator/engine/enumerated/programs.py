"""All ways through a step of a program: intervals of answers and coins, pushed through its form.

An operation on known numbers is Python's. On an answer or a coin, of which an interval is known,
the operations of :mod:`simulator.engine.enumerated.linear` have outcomes, and each is followed.
Every other operation is refused with its line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from simulator.adversaries.program.forms import (
    Branch,
    Do,
    Machine,
    Operand,
    Place,
    Slot,
    Wait,
)
from simulator.engine.enumerated.intervals import BETWEEN, Line
from simulator.engine.enumerated.known_numbers import Ends, numbers_of, on_known
from simulator.engine.enumerated.linear import (
    MOST_CELLS,
    OF_THE_ROUND,
    OPERATIONS,
    LinearNumber,
    Lines,
    NotFollowed,
    Outcomes,
    added,
    compared,
    multiplied,
    with_line,
)
from simulator.foundations.errors import NotApplicable

MOST_SEGMENTS, MOST_OUTCOMES, MOST_WAYS = 10_000, 200, 20_000
"""Most segments, and most operations with several outcomes, of one way; most ways of one step."""

ANSWER, ROUND = 0, 1
"""The places of the answer and of the round among the lines; coins come after."""


class Unknown:
    """A value that could not be followed, while all refusals are collected."""


UNKNOWN = Unknown()
_WHOLE_DRAWS = ("coins.integers", "coins.choice")


class RoundMatters(Exception):
    """What a step does depends on the number of the round in more than comparisons."""


class Way(NamedTuple):
    """One way through a step.

    Attributes
    ----------
    state : the number of the point where the program goes on, from 1, and what it keeps there.
    move, parameter : what it sends; the parameter is NaN where there is none. The move is an int
        where it is whole.
    first, last : the rounds in which the step takes this way, both included.
    low, high : the interval of the answer; infinite where it was not compared.
    probability : of the adversary's coins.
    """

    state: tuple[Any, ...]
    move: float
    parameter: float
    first: int
    last: int
    low: float
    high: float
    probability: float


class StepPath(NamedTuple):
    """A place on a way through a step: the next operation, and what is known there."""

    segment: int
    place: int
    known: dict[int, Any]
    lines: Lines
    factor: float
    outcomes: int


class FollowedProgram:
    """A machine whose steps are followed.

    Attributes
    ----------
    functions : of operations, by their ids, the function of known numbers.
    slots : the number of each slot, under which a path holds its value.
    segments : of each segment its operations: the target, and the operands, each the number of a
        slot, or -1 and a constant.
    refusals : what was refused so far, where all of it is collected; else None, and the first is
        raised.
    """

    def __init__(self, machine: Machine, *, collect: bool = False) -> None:
        self.machine, self.points = machine, machine.points
        self.refusals: dict[str, None] | None = {} if collect else None
        self._split: set[int] = set()  # branches on an unknown value, both of which were followed
        self.number_of = {point: 1 + number for number, point in enumerate(self.points)}
        self.functions: dict[int, Callable[..., Any]] = {}
        self.slots: dict[Slot, int] = {}
        self.segments = [[self._prepared(do) for do in each.does] for each in machine.segments]

    def _prepared(self, do: Do) -> tuple[int, tuple[tuple[int, Any], ...], Do]:
        operands = [(self._slot(each), None) if isinstance(each, Slot) else (-1, each)
                    for each in do.operands]  # fmt: skip
        return self._slot(do.target), tuple(operands), do

    def _slot(self, slot: Slot) -> int:
        return self.slots.setdefault(slot, len(self.slots))

    def ways(
        self, state: tuple[Any, ...], rounds: tuple[int, int], answer: float | tuple[float, float]
    ) -> Iterator[Way]:
        """Every way from ``state``, (0,) before the first round, in the rounds from first to last.

        ``answer`` is a number, or for an unknown one (spacing of its atoms, one of them), with
        spacing 0 where it is continuous. Raises RoundMatters where there are several rounds and
        they cannot be followed together, NotApplicable where the ways cannot be enumerated or the
        program may stop.
        """
        number, slot, known = 0, None, {}
        if state[0]:
            number, slot, live = self.points[state[0] - 1]
            known = dict(zip(live, state[1:]))
        try:
            yield from self.ways_on(number, known, slot, rounds, answer)
        except NotApplicable:
            if rounds[1] > rounds[0]:  # it may concern rounds that are not played from this state
                raise RoundMatters from None
            raise

    def ways_on(
        self, segment: int, known: dict[Slot, Any], slot: Slot | None, rounds: tuple[int, int],
        answer: float | tuple[float, float],
    ) -> Iterator[Way]:  # fmt: skip
        """Every way on from a segment with known numbers, the answer in ``slot``."""
        first, last = rounds
        spacing, origin = answer if isinstance(answer, tuple) else (0.0, 0.0)
        lines = (
            Line("answer", -math.inf, math.inf, spacing=spacing, origin=origin),
            Line("round", first - 0.5, last + 0.5, spacing=1.0, origin=float(first)),
        )
        held = {self._slot(each): value for each, value in known.items()}
        if slot is not None:
            held[self._slot(slot)] = LinearNumber(ANSWER) if isinstance(answer, tuple) else answer
        todo, count = [StepPath(segment, 0, held, lines, 1.0, 0)], 0
        while todo:
            found = self._followed_or_refused(todo.pop(), todo, rounds)
            if found is not None:
                count += 1
                if count > MOST_WAYS:
                    raise NotApplicable(f"one step has more than {MOST_WAYS} ways")
                yield found

    def _followed_or_refused(
        self, path: StepPath, todo: list[StepPath], rounds: tuple[int, int]
    ) -> Way | None:
        """Follow a path; where refusals are collected, one that is refused is left."""
        try:
            return self._followed(path, todo, rounds)
        except NotApplicable as refused:
            self._refused(refused)
            return None

    def _refused(self, refused: NotApplicable) -> None:
        """Collect a refusal; raise it where they are not collected."""
        if self.refusals is None:
            raise refused
        self.refusals[str(refused)] = None

    def _followed(
        self, path: StepPath, todo: list[StepPath], rounds: tuple[int, int]
    ) -> Way | None:
        """Follow a path up to a round; put on ``todo`` what else it may do.

        Returns None where it has no probability.
        """
        number, at, known, lines, factor, outcomes = path
        for _ in range(MOST_SEGMENTS):
            segment, does = self.machine.segments[number], self.segments[number]
            place = segment.place
            while at < len(does):
                target, parts, do = does[at]
                at += 1
                operands = [known[n] if n >= 0 else constant for n, constant in parts]
                if do.operation == "copy":
                    known[target] = operands[0]
                    continue
                if any(each is UNKNOWN for each in operands):
                    known[target] = UNKNOWN
                    continue
                try:
                    found = self._done(do, operands, lines, rounds)
                except Ends:
                    if math.prod((line.probability for line in lines), start=factor) <= 0.0:
                        return None
                    raise _may_stop(do.place) from None
                except NotFollowed as refused:
                    if lines[refused.line].name == "round":
                        raise RoundMatters from None
                    self._refused(_refusal(do.place, f"{refused} ({lines[refused.line].name})"))
                    found = UNKNOWN
                except NotApplicable as refused:
                    self._refused(_refusal(do.place, str(refused)))
                    found = UNKNOWN
                if not isinstance(found, list):
                    known[target] = found
                    continue
                if len(found) > 1:
                    outcomes += 1
                    if outcomes > MOST_OUTCOMES:
                        what = f"more than {MOST_OUTCOMES} decisions in one step"
                        raise _refusal(do.place, what)
                whole = do.operation in _WHOLE_DRAWS
                share = factor / len(found) if whole else factor
                for value, part in found[1:]:
                    todo.append(
                        StepPath(number, at, {**known, target: value}, part, share, outcomes)
                    )
                (known[target], lines), factor = found[0], share
            end = segment.end
            if isinstance(end, Wait):
                return self._way(end, known, lines, factor, place)
            if end is None:
                break
            if isinstance(end, Branch):
                test = known[self.slots[end.test]]
                if test is UNKNOWN:
                    test = number in self._split
                    if not test:
                        self._split.add(number)
                        todo.append(StepPath(end.then, 0, {**known}, lines, factor, outcomes))
                number = end.then if test else end.otherwise
            else:
                number = end
            at = 0
        if math.prod((line.probability for line in lines), start=factor) <= 0.0:
            return None
        if any(each is UNKNOWN for each in known.values()):
            return None
        raise _may_stop(place)

    def _way(
        self, wait: Wait, known: dict[int, Any], lines: Lines, factor: float, place: Place
    ) -> Way | None:
        probability = math.prod((line.probability for line in lines), start=factor)
        if probability <= 0.0:
            return None

        def settled(operand: Operand, what: str) -> Any:
            value = known[self.slots[operand]] if isinstance(operand, Slot) else operand
            if isinstance(value, LinearNumber):
                name = lines[value.line].name
                if name == "round":
                    raise RoundMatters
                raise _refusal(place, f"{what} is a function of the {name}")
            return value

        def remembered(slot: Slot) -> Any:
            value = known[self.slots[slot]]
            if isinstance(value, LinearNumber) and value.line != ROUND:
                refused = NotApplicable(
                    f"{place[0]}:{place[1]}: {slot.name} keeps the {lines[value.line].name} as a "
                    "number in its state, which then takes infinitely many values: keep what was "
                    "decided by it instead, such as a count"
                )
                self._refused(refused)
                return UNKNOWN
            return settled(slot, slot.name)

        kept = tuple(map(remembered, wait.live))
        parameter = math.nan
        if wait.parameter is not None:
            parameter = settled(wait.parameter, "the parameter")
        move = settled(wait.entry, "the move")
        if move is UNKNOWN or parameter is UNKNOWN:
            return None
        if isinstance(move, float) and math.isfinite(move) and move == math.floor(move):
            move = int(move)
        rounds, answers = lines[ROUND], lines[ANSWER]
        number = self.number_of[wait.resume, wait.answer, wait.live]
        return Way(
            (number, *kept), move, parameter, math.ceil(rounds.low), math.floor(rounds.high),
            answers.low, answers.high, probability,
        )  # fmt: skip

    def _done(self, do: Do, operands: list[Any], lines: Lines, rounds: tuple[int, int]) -> Any:
        """The result of an operation, or a list of outcomes; raises Ends, NotFollowed."""
        operation = do.operation
        if operation == "the round":
            return LinearNumber(ROUND) if rounds[1] > rounds[0] else rounds[0]
        linear = [each for each in operands if isinstance(each, LinearNumber)]
        if operation.startswith("coins."):
            if linear:
                raise NotFollowed(linear[0].line, "a coin by a number that is not known in advance")
            return self._drawn(do, operands, lines)
        if not linear:
            return self._function(do)(*operands)
        if any(each.line == ROUND for each in linear) and operation not in (*OF_THE_ROUND, "among"):
            raise NotFollowed(ROUND, "arithmetic with the round")
        try:
            return self._outcomes(do, operands, lines)
        except NotFollowed as refused:
            return self._by_atoms(do, operands, lines, refused)

    def _outcomes(self, do: Do, operands: list[Any], lines: Lines) -> Outcomes:
        operation = do.operation
        if operation == "within":
            for sign, end in zip((">=", "<="), numbers_of(do)):
                if any(not inside for inside, _ in compared(sign, operands[0], end, lines)):
                    raise Ends
            return [(operands[0], lines)]
        if operation == "among":
            found, rest = [], [lines]
            for number in sorted(set(numbers_of(do))):
                parts = [
                    each for part in rest for each in compared("==", operands[0], number, part)
                ]
                found += [(True, part) for is_equal, part in parts if is_equal]
                rest = [part for is_equal, part in parts if not is_equal]
            return [*found, *((False, part) for part in rest)]
        if operation not in OPERATIONS:
            line = next(each.line for each in operands if isinstance(each, LinearNumber))
            raise NotFollowed(line, f"{operation} of a number that is not known in advance")
        if operation in ("/", "//") and operands[1] == 0.0:
            raise Ends
        return OPERATIONS[operation](*operands, lines)

    def _by_atoms(
        self, do: Do, operands: list[Any], lines: Lines, refused: NotFollowed
    ) -> Outcomes:
        """The outcomes for each atom of a number, where these are few."""
        line = refused.line
        atoms = None if line == ROUND else lines[line].atoms(MOST_CELLS)
        if atoms is None:
            raise refused
        found: Outcomes = []
        for atom, part in atoms:
            here = with_line(lines, line, part)
            at = [each.at(atom) if isinstance(each, LinearNumber) and each.line == line else each
                  for each in operands]  # fmt: skip
            if any(isinstance(each, LinearNumber) for each in at):
                found += self._outcomes(do, at, here)
            else:
                found.append((self._function(do)(*at), here))
        return found

    def _function(self, do: Do) -> Callable[..., Any]:
        if id(do) not in self.functions:
            self.functions[id(do)] = on_known(do)
        return self.functions[id(do)]

    def _drawn(self, do: Do, operands: list[Any], lines: Lines) -> Outcomes:
        """A coin: a new line, or each of a few whole numbers."""
        method = do.operation.removeprefix("coins.")
        self._function(do)(*operands)  # raises Ends where the draw would stop the program
        if do.operation in _WHOLE_DRAWS:
            low, high = operands if len(operands) == 2 else (0, *operands)
            if high - low > MOST_CELLS:
                what = f"a coin that is one of {high - low} whole numbers, more than {MOST_CELLS}"
                raise NotApplicable(what)
            return [(each, lines) for each in range(low, high)]
        coin: Any = LinearNumber(len(lines))
        if method in ("random", "uniform"):
            law = BETWEEN["uniform"]
            line = Line("coin", 0.0, 1.0, spacing=2.0**-53, lattice=True, between=law)
        elif method in ("standard_exponential", "exponential"):
            line = Line("coin", 0.0, math.inf, between=BETWEEN["exponential"])
        elif method in ("standard_normal", "normal"):
            line = Line("coin", -math.inf, math.inf, between=BETWEEN["normal"])
        else:
            raise NotApplicable(f"a coin by coins.{method}")
        if method == "uniform":
            coin = added(operands[0], multiplied(operands[1] - operands[0], coin))
        elif method == "normal":
            coin = added(operands[0], multiplied(operands[1], coin))
        elif method == "exponential":
            coin = multiplied(operands[0], coin)
        return [(coin, (*lines, line))]


def _refusal(place: Place, construct: str) -> NotApplicable:
    return NotApplicable(f"{place[0]}:{place[1]}: {construct}: this cannot be enumerated")


def _may_stop(place: Place) -> NotApplicable:
    return _refusal(place, "the program may stop, raise an error, or compute a number not held")
