"""What a game is: a function with knobs that yields rows, with its sources and its text."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.knobs import Knob, checked_values, parsed_values
from simulator.teaching.games.outcome import GameOutcome, outcome_of
from simulator.teaching.games.rows import GameRow

Ranges = Mapping[str, tuple[str, float, float]]
"""By the name of a parameter: what it means, and the least and the largest value."""

Choices = Mapping[str, tuple[str, Sequence[str]]]
"""By the name of a parameter: what it means, and the words that it may be."""


@dataclass(frozen=True)
class Variant:
    """A variant of the composition experiment.

    Attributes
    ----------
    name : as ``dpcompose game NAME`` takes it.
    title : one line.
    sources : papers and theorems.
    function : keyword parameters with defaults to rows; its docstring is the text for readers.
    ranges : of the parameters that are numbers.
    choices : the values of a parameter that is one of several words.
    sweep : the knob along which :meth:`along` plays by default, and its values.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    function: Callable[..., Iterator[GameRow]]
    _: KW_ONLY
    ranges: Ranges = field(default_factory=dict, hash=False)
    choices: Choices = field(default_factory=dict, hash=False)
    sweep: tuple[str, tuple[Any, ...]] = ("", ())

    @property
    def text(self) -> str:
        """What the game is, what is known of it, and what to look at."""
        return inspect.getdoc(self.function) or ""

    @property
    def knobs(self) -> dict[str, Knob]:
        """The parameters, by name."""
        found = {}
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name in self.choices:
                meaning, words = self.choices[name]
                noun = f"one of {', '.join(words)}"
                named = {word: word for word in words}
                found[name] = Knob(name, parameter.default, meaning, choices=named, noun=noun)
            else:
                meaning, low, high = self.ranges.get(name, ("see the text", -math.inf, math.inf))
                found[name] = Knob(name, parameter.default, meaning, low, high)
        return found

    def play(self, **changes: Any) -> GameOutcome:
        """Play with other values of some knobs; raises InvalidInput for a value not allowed."""
        values = checked_values(f"game {self.name}", self.knobs, changes)
        changed = any(values[name] != knob.default for name, knob in self.knobs.items())
        return outcome_of(self.name, values, self.function(**values), changed)

    def read(self, settings: Sequence[str]) -> dict[str, Any]:
        """The changes that texts like ``epsilon=0.5`` stand for; raises InvalidInput."""
        return parsed_values(f"game {self.name}", self.knobs, settings)

    def along(self, **changes: Any) -> list[tuple[Any, GameOutcome]]:
        """The outcomes along the knob of :attr:`sweep`; raises InvalidInput where there is none."""
        knob, values = self.sweep
        if not knob:
            raise InvalidInput(f"the game {self.name} has no knob to sweep")
        if knob in changes:
            raise InvalidInput(f"{knob} is swept: set another knob")
        return [(value, self.play(**changes, **{knob: value})) for value in values]


def game(
    name: str,
    title: str,
    *,
    sources: Sequence[str],
    ranges: Ranges | None = None,
    choices: Choices | None = None,
    sweep: tuple[str, Sequence[Any]] = ("", ()),
) -> Callable[[Callable[..., Iterator[GameRow]]], Variant]:
    """Make a :class:`Variant` of the decorated function.

    Raises InvalidInput for a parameter without a default, a range, choice or sweep of none
    of the parameters, a default that is none of the choices, and a function without a text.
    """

    def decorate(function: Callable[..., Iterator[GameRow]]) -> Variant:
        made = Variant(
            name,
            title,
            tuple(sources),
            function,
            ranges=dict(ranges or {}),
            choices=dict(choices or {}),
            sweep=(sweep[0], tuple(sweep[1])),
        )
        parameters = inspect.signature(function).parameters
        for parameter in parameters.values():
            if parameter.default is inspect.Parameter.empty:
                raise InvalidInput(f"the game {name} needs a default for {parameter.name}")
        unknown = {*made.ranges, *made.choices, *([sweep[0]] if sweep[0] else [])} - {*parameters}
        if unknown:
            raise InvalidInput(f"the game {name} has no parameter {', '.join(sorted(unknown))}")
        for each, (_, words) in made.choices.items():
            if parameters[each].default not in words:
                raise InvalidInput(f"the default of {each} is none of its choices")
        if not made.text:
            raise InvalidInput(f"the game {name} needs a docstring, which is its text")
        return made

    return decorate
