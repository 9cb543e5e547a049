"""Adjustable parameters of a claim or a game: their types, ranges and meanings.

Each stands in the annotation of the function's parameter::

    def check(*, epsilon: Annotated[float, "of one round", Within(0.0, 50.0)] = 0.3) -> Finding: ...
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, get_type_hints

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import numeral


@dataclass(frozen=True)
class Within:
    """The least and the largest value of a number; both are allowed."""

    low: float
    high: float


@dataclass(frozen=True)
class ByName:
    """The values of a parameter that is chosen by name, and what they are, in words."""

    values: Mapping[str, Any]
    noun: str


def one_of(*words: str) -> ByName:
    """The choice of one of several words."""
    return ByName({word: word for word in words}, f"one of {', '.join(words)}")


@dataclass(frozen=True)
class Knob:
    """One parameter: its default, and the values that are allowed.

    ``low`` and ``high`` are both allowed; they are infinite for a parameter that is not a number.
    ``choice`` has the values of one that is chosen by name.
    """

    name: str
    default: Any
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    _: KW_ONLY
    choice: ByName | None = None

    @property
    def kind(self) -> str:
        """The name of the type."""
        if self.choice is not None:
            return self.choice.noun
        if self.default is None:
            return "a number"
        kinds = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}
        return kinds.get(type(self.default), "numbers with commas")

    @property
    def range(self) -> str:
        """The range as text; empty where there is none."""
        if isinstance(self.default, bool | str) or not math.isfinite(self.low):
            return ""
        return f"from {self.low:g} to {self.high:g}"

    def parsed(self, text: str) -> Any:
        """Return the value of ``text``; raises InvalidInput for the wrong type or range."""
        try:
            value = self._converted(text.strip())
        except (ValueError, OverflowError):
            raise InvalidInput(f"{self.name} must be {self.kind}, not {text!r:.80}") from None
        return self.checked(value)

    def _converted(self, text: str) -> Any:
        default = self.default
        if isinstance(default, bool):
            return _named(text.lower(), {"yes": True, "true": True, "no": False, "false": False})
        if self.choice is not None:
            return _named(text, self.choice.values)
        if isinstance(default, int | float):
            return int(_plain(text)) if isinstance(default, int) else numeral(text)
        if isinstance(default, tuple):
            whole = bool(default) and all(isinstance(entry, int) for entry in default)
            return tuple((int(_plain(p)) if whole else numeral(p)) for p in text.split(","))
        return numeral(text) if default is None else text

    def checked(self, value: Any) -> Any:
        """``value`` if it is of the right type and range; raises InvalidInput."""
        default = self.default
        if isinstance(value, np.generic):  # an element of a numpy array
            value = value.item()
        if self.choice is not None:
            fits = value in self.choice.values.values()
        elif isinstance(default, bool) or isinstance(value, bool):
            fits = isinstance(default, bool) and isinstance(value, bool)
        elif isinstance(default, int):
            fits = isinstance(value, int)
        elif isinstance(default, float) or default is None:
            fits = isinstance(value, int | float) and math.isfinite(value)
        elif isinstance(default, tuple):
            fits = isinstance(value, tuple) and 0 < len(value) <= 9
            if not fits:
                raise InvalidInput(
                    f"{self.name} must be one to nine numbers, for every view is listed"
                )
        else:
            fits = isinstance(value, str)
        if not fits:
            raise InvalidInput(f"{self.name} must be {self.kind}, not {value!r}")
        if isinstance(value, int | float) and not self.low <= value <= self.high:
            raise InvalidInput(f"{self.name} goes {self.range}, not {value!r:.80}: {self.meaning}")
        return value


def _plain(text: str) -> str:
    """The text, where it has digits as :func:`numeral` reads them."""
    numeral(text)
    return text


def _named(text: str, values: Mapping[str, Any]) -> Any:
    if text not in values:
        raise ValueError(text)
    return values[text]


def knobs_of(function: Callable[..., Any]) -> dict[str, Knob]:
    """The parameters of a function as knobs, by name, from their annotations.

    Raises InvalidInput for a parameter without a default, and for annotations that cannot be read.
    """
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        raise InvalidInput(
            f"the annotations of {function.__name__} cannot be read: {error}"
        ) from None
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            raise InvalidInput(f"{function.__name__} needs a default for {name}")
        notes = {type(note): note for note in getattr(hints.get(name), "__metadata__", ())}
        ends = notes.get(Within, Within(-math.inf, math.inf))
        meaning, choice = notes.get(str, ""), notes.get(ByName)
        found[name] = Knob(name, parameter.default, meaning, ends.low, ends.high, choice=choice)
    return found


def checked_values(
    owner: str, knobs: Mapping[str, Knob], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The defaults with ``changes`` made; raises InvalidInput for a change that is not allowed.

    ``owner`` is what has the knobs, such as "claim roth2011-lemma-7".
    """
    return {name: knob.default for name, knob in knobs.items()} | {
        name: knob_named(owner, knobs, name).checked(value) for name, value in changes.items()
    }


def parsed_values(owner: str, knobs: Mapping[str, Knob], settings: Sequence[str]) -> dict[str, Any]:
    """The changes that texts like ``denominator=813`` stand for; raises InvalidInput."""
    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidInput(f"give a knob and its value as name=value, not {setting!r}")
        if (name := name.strip()) in changes:
            raise InvalidInput(f"give {name} once, not as {changes[name]!r} and as {text.strip()}")
        changes[name] = knob_named(owner, knobs, name).parsed(text)
    return changes


def knob_named(owner: str, knobs: Mapping[str, Knob], name: str) -> Knob:
    """The knob of that name; raises InvalidInput with the known names."""
    if name not in knobs:
        known = ", ".join(knobs) or "none"
        raise InvalidInput(f"{owner} has no knob {name!r}; it has {known}")
    return knobs[name]
