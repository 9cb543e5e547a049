"""What a game is: a function with knobs that yields rows, with its sources and its text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.knobs import Knob, checked_values, knob_named, knobs_of, parsed_values
from simulator.teaching.games.outcome import GameOutcome, outcome_of
from simulator.teaching.games.rows import GameRow


@dataclass(frozen=True)
class Variant:
    """A variant of the composition experiment.

    Attributes
    ----------
    name : as ``dpcompose game NAME`` takes it.
    title : one line.
    sources : papers and theorems.
    function : keyword parameters with defaults to rows. Its docstring is the text for readers; the
        annotations say what the parameters mean, and their ranges.
    sweep : the knob along which :meth:`along` plays by default, and its values.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    function: Callable[..., Iterator[GameRow]]
    _: KW_ONLY
    sweep: tuple[str, tuple[Any, ...]] = ("", ())

    @property
    def text(self) -> str:
        """What the game is, what is known of it, and what to look at."""
        return inspect.getdoc(self.function) or ""

    @property
    def knobs(self) -> dict[str, Knob]:
        """The parameters, by name."""
        return knobs_of(self.function)

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
    sweep: tuple[str, Sequence[Any]] = ("", ()),
) -> Callable[[Callable[..., Iterator[GameRow]]], Variant]:
    """Make a :class:`Variant` of the decorated function.

    Raises InvalidInput for a parameter without a default, a default that is not allowed, a sweep of
    none of the parameters, and a function without a text.
    """

    def decorate(function: Callable[..., Iterator[GameRow]]) -> Variant:
        made = Variant(name, title, tuple(sources), function, sweep=(sweep[0], tuple(sweep[1])))
        knobs = made.knobs
        for knob in knobs.values():
            knob.checked(knob.default)
        if sweep[0]:
            knob_named(f"the game {name}", knobs, sweep[0])
        if not made.text:
            raise InvalidInput(f"the game {name} needs a docstring, which is its text")
        return made

    return decorate
