"""The adjustable parameters of a check: their types, ranges and meanings."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.databases import RELATIONS, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import numeral

_PARAMETERS = "simulator.claims.ledger.parameters"
"""The module with the meaning and the range of each parameter."""


@dataclass(frozen=True)
class Knob:
    """One parameter of a claim: its value in the claim, and the values that are allowed.

    ``low`` and ``high`` are both allowed; they are infinite for a parameter that is not a number.
    """

    name: str
    default: Any
    meaning: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def kind(self) -> str:
        """The name of the type."""
        if isinstance(self.default, Relation):
            return "a relation"
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
        if isinstance(default, Relation):
            return _named(text, RELATIONS)
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
        if isinstance(default, bool) or isinstance(value, bool):
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
            fits = isinstance(value, Relation if isinstance(default, Relation) else str)
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


def knobs_for(parameters: Mapping[str, Any]) -> dict[str, Knob]:
    """Return the parameters of a check as knobs, by name; the values are those of the claim."""
    found: dict[str, Knob] = importlib.import_module(_PARAMETERS).knobs(parameters)
    return found


def checked_values(
    claim_id: str, parameters: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters with ``changes`` made; raises InvalidInput for a change not allowed."""
    knobs = knobs_for(parameters)
    return {**parameters} | {
        name: knob_named(claim_id, knobs, name).checked(value) for name, value in changes.items()
    }


def parsed_values(
    claim_id: str, parameters: Mapping[str, Any], settings: Sequence[str]
) -> dict[str, Any]:
    """Return the changes that texts like ``denominator=813`` stand for; raises InvalidInput."""
    knobs = knobs_for(parameters)
    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidInput(f"give a knob and its value as name=value, not {setting!r}")
        if (name := name.strip()) in changes:
            raise InvalidInput(f"give {name} once, not as {changes[name]!r} and as {text.strip()}")
        changes[name] = knob_named(claim_id, knobs, name).parsed(text)
    return changes


def knob_named(claim_id: str, knobs: Mapping[str, Knob], name: str) -> Knob:
    """Return the knob of that name; raises InvalidInput with the known names."""
    if name not in knobs:
        known = ", ".join(knobs) or "none"
        raise InvalidInput(f"claim {claim_id} has no knob {name!r}; it has {known}")
    return knobs[name]
