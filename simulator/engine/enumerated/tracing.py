"""All ways through a step function, found by running it on unknown numbers.

A step that uses its answer, its coins and the round only in comparisons has finitely many ways. It
is run on :class:`Unknown` numbers. Where it compares one, the comparison is decided both ways, one
run each, which narrows the number's interval. A :class:`Way` holds what the step returned, and the
intervals that lead there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from simulator.engine.enumerated.constructs import unmodelled
from simulator.engine.enumerated.decisions import RoundMatters, Script, every_run
from simulator.engine.enumerated.intervals import Line
from simulator.engine.enumerated.unknown_numbers import MOST_CELLS, Unknown
from simulator.foundations.errors import NotApplicable
from simulator.mechanisms.gaussian import log_normal_between

DRAWS, MOST_COMPARED = 4, 64
"""Numbers tried within each way, and most ways of one step that are tried."""


class TracedCoins:
    """Coins whose draws are decided by enumeration."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.drawn: list[tuple[Line, Callable[[float, float], float]]] = []
        self.factor = 1.0
        self.used = False

    @property
    def probability(self) -> float:
        """The probability of all decisions so far."""
        product = self.factor
        for line, between in self.drawn:
            product *= between(line.low, line.high)
        return product

    def _drawn(self, line: Line, between: Callable[[float, float], float]) -> Unknown:
        self.used = True
        self.drawn.append((line, between))
        return Unknown(line)

    def _line(self, low: float, high: float, between: Callable[[float, float], float]) -> Unknown:
        return self._drawn(Line(self.script, "coin", low, high), between)

    def random(self) -> Unknown:
        """Uniform on the multiples of 2^-53 in [0, 1), as numpy draws it."""
        line = Line(self.script, "coin", 0.0, 1.0, spacing=2.0**-53, lattice=True)
        return self._drawn(line, lambda low, high: high - low)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> Unknown:
        """Uniform on [low, high)."""
        self._require(high >= low)
        return low + (high - low) * self.random()

    def standard_normal(self) -> Unknown:
        """Standard normal."""
        return self._line(
            -math.inf, math.inf, lambda low, high: math.exp(log_normal_between(low, high))
        )

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> Unknown:
        """Normal."""
        self._require(scale >= 0.0)
        return loc + scale * self.standard_normal()

    def standard_exponential(self) -> Unknown:
        """Exponential of rate 1."""
        return self._line(0.0, math.inf, lambda low, high: -math.exp(-low) * math.expm1(low - high))

    def exponential(self, scale: float = 1.0) -> Unknown:
        """Exponential with mean ``scale``."""
        self._require(scale >= 0.0)
        return scale * self.standard_exponential()

    def integers(self, low: int, high: int | None = None) -> np.int64:
        """A whole number in [low, high), or in [0, low)."""
        first, last = (0, low) if high is None else (low, high)
        self._require({type(first), type(last)} <= {int, np.int64})
        if not 0 < last - first <= MOST_CELLS:
            raise self.script.refusal(
                NotApplicable(
                    f"the rule draws one of {last - first} whole numbers: up to {MOST_CELLS} can "
                    "be enumerated"
                )
            )
        self.used = True
        self.factor /= last - first
        return np.int64(first + self.script.choose(int(last - first)))

    def _require(self, holds: bool) -> None:
        """Refuse arguments of a draw at which numpy raises an error, or that it rounds."""
        if not holds:
            raise self.script.refusal(
                NotApplicable("the rule draws a coin by arguments that cannot be enumerated")
            )

    def __getattr__(self, name: str) -> NoReturn:
        raise self.script.refusal(
            NotApplicable(
                f"the rule draws its coins by {name}: random, uniform, normal, exponential and "
                "integers, one at a time, can be enumerated"
            )
        )


class Way(NamedTuple):
    """One way through a step.

    Attributes
    ----------
    state, move, parameter : returned by the step; the parameter is NaN where there is none. The
        move is an int where it is whole.
    first, last : the rounds in which the step takes this way, both included.
    low, high : the interval of the answer; infinite where it was not compared.
    probability : of the adversary's coins.
    """

    state: Any
    move: float
    parameter: float
    first: int
    last: int
    low: float
    high: float
    probability: float


def ways(
    step: Callable[..., tuple],
    state: Any,
    rounds: tuple[int, int],
    answer: float | tuple[float, float],
    *,
    check: np.random.Generator | None = None,
    unseen: str | None = None,
) -> Iterator[Way]:
    """Every way that the step takes from ``state`` in the rounds from first to last.

    ``answer`` is a number, or for an unknown one (spacing of its atoms, one of them), with spacing
    0 where it is continuous. With ``check`` the ways are compared with the step on numbers.
    ``unseen`` is what :func:`unmodelled` finds in the step, which is then run on known numbers
    alone. Raises RoundMatters where there are several rounds and the step computes with their
    number, NotApplicable where the ways cannot be enumerated.
    """
    first, last = rounds
    tosses = False
    unseen = unmodelled(step) if unseen is None else unseen
    refusal = NotApplicable(
        f"{unseen}, which could show that an answer or a coin is not known in advance: this cannot "
        "be enumerated"
    )
    if unseen and last > first:
        raise RoundMatters
    if unseen and isinstance(answer, tuple):
        raise refusal

    def run(script: Script) -> Way | None:
        nonlocal tosses
        number = Line(script, "round", first - 0.5, last + 0.5, spacing=1.0, origin=float(first))
        given = isinstance(answer, tuple)
        spacing, origin = answer if isinstance(answer, tuple) else (0.0, 0.0)
        line = Line(script, "answer", -math.inf, math.inf, spacing=spacing, origin=origin)
        traced, real = TracedCoins(script), np.random.PCG64(0)
        coins = np.random.Generator(real) if unseen else traced
        i: Any = Unknown(number) if last > first else first
        try:
            result = step(state, i, Unknown(line) if given else answer, coins)
            after, move, *rest = result
            parameter = float(rest[0]) if rest else math.nan
            move = plain_move(move)
        except (NotApplicable, RoundMatters, KeyboardInterrupt):
            raise
        except BaseException as error:  # raised by a user's step on unknown numbers
            if script.refused is not None or last > first:
                raise (script.refused or RoundMatters()) from error
            raise NotApplicable(
                f"the rule's step cannot be enumerated: it raised {type(error).__name__} "
                f"({error}) on a number that is not known in advance"
            ) from error
        if script.refused is not None:
            raise script.refused
        if unseen and real.state != np.random.PCG64(0).state:
            raise refusal
        tosses = tosses or traced.used
        probability = traced.probability
        if probability <= 0.0 or number.high - number.low < 0.5:
            return None
        return Way(
            plain_state(after),
            move,
            parameter,
            math.ceil(number.low),
            math.floor(number.high),
            line.low,
            line.high,
            probability,
        )

    found = [way for way in every_run(run) if way is not None]
    if check is not None:
        compare_with_numbers(step, state, found, answer, check, tosses=tosses)
    yield from found


def compare_with_numbers(
    step: Callable[..., tuple],
    state: Any,
    found: list[Way],
    answer: float | tuple[float, float],
    rng: np.random.Generator,
    *,
    tosses: bool,
) -> None:
    """Run the step on numbers within each way; raises NotApplicable where it takes another way.

    Comparisons of unknown numbers do not show effects of types, texts and rounding. One run is
    enough for a known answer where the step ``tosses`` no coins.
    """
    for way in found[:MOST_COMPARED]:
        for i in {way.first, way.last}:
            for value in numbers_within(way, answer, rng, DRAWS if tosses else 1):
                after, move, *rest = step(state, i, value, rng)
                parameter = float(rest[0]) if rest else math.nan
                went = plain_state(after), plain_move(move)
                if is_nan(went[0]):
                    continue
                if not any(
                    key_of_state(went) == key_of_state((other.state, other.move))
                    and (parameter == other.parameter or other.parameter != other.parameter)
                    and other.first <= i <= other.last
                    and (not isinstance(answer, tuple) or other.low <= value <= other.high)
                    for other in found
                ):
                    raise NotApplicable(
                        f"the rule's step goes another way at the answer {value!r} than its "
                        "comparisons say: what it does cannot be enumerated"
                    )


def key_of_state(state: Any) -> Any:
    """A key that differs where a step can tell: for 0.0 and -0.0, and for 1, 1.0 and True."""
    if isinstance(state, tuple):
        return tuple(map(key_of_state, state))
    return type(state), "-0.0" if state == 0 and math.copysign(1.0, state) < 0.0 else state


def is_nan(state: Any) -> bool:
    """Whether a state contains NaN."""
    return any(map(is_nan, state)) if isinstance(state, tuple) else bool(state != state)


def numbers_within(
    way: Way, answer: float | tuple[float, float], rng: np.random.Generator, tosses: int
) -> list[float]:
    """The answer, ``tosses`` times, or some numbers in the way's interval."""
    if not isinstance(answer, tuple):
        return [answer] * tosses
    spacing, origin = answer
    low, high = way.low, way.high
    drawn = []
    for scale in rng.exponential(1.0, DRAWS) * (0.1, 1.0, 1.0, 10.0):
        if math.isfinite(low) and math.isfinite(high):
            value = rng.uniform(low, high)
        elif math.isfinite(low) or math.isfinite(high):
            value = low + scale if math.isfinite(low) else high - scale
        else:
            value = scale if rng.random() < 0.5 else -scale
        if spacing:
            value = origin + spacing * round((value - origin) / spacing)
        if low < value < high:
            drawn.append(float(value))
    return drawn


def plain_move(move: Any) -> float:
    """The move as a plain number, an int where it is whole; raises NotApplicable if unknown."""
    if not isinstance(move, Unknown) and not math.isfinite(move):
        return float(move)
    number = math.floor(move)
    if number == move:
        return number
    if isinstance(move, Unknown):
        raise NotApplicable(
            f"the rule makes its {move.line.name} its move, which then takes infinitely many values"
        )
    return float(move)


def plain_state(state: Any) -> Any:
    """The state; raises NotApplicable if a number is unknown, or is none."""
    if isinstance(state, Unknown):
        raise NotApplicable(
            f"the rule keeps its {state.line.name} as a number in its state, which then takes "
            "infinitely many values: keep what was decided by it instead, such as a count"
        )
    if isinstance(state, tuple):
        return tuple(map(plain_state, state))
    if not isinstance(state, bool | int | float | np.bool_ | np.integer | np.floating):
        raise NotApplicable(f"the rule's state {state!r} is not a number or tuple of numbers")
    return state
