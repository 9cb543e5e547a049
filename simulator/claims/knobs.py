"""The parameters of a check that may be set: their types, ranges and meanings, and sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.claims.meanings import CHOICES, MEANINGS
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import numeral

if TYPE_CHECKING:
    from simulator.claims.model import Claim, Finding

#: Whole numbers of things of which every combination is listed: two more take long enough.
_LISTED = frozenset({
    "n", "s", "m", "bits", "nodes", "cells", "parties", "outcomes", "dimensions", "databases",
    "top", "rounds", "answers",
})  # fmt: skip
#: Whole numbers of things that are played one by one.
_PLAYED = frozenset({"trials", "rounds"})
_MORE = 5.0  # times the default takes some five seconds at most
_SHORT = 12  # larger defaults are computed, not listed


@dataclass(frozen=True)
class Knob:
    """One parameter of a claim: its value in the claim, and what it may be instead.

    ``low`` and ``high`` are both allowed; they are infinite where it is no number.
    """

    name: str
    default: Any
    meaning: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def kind(self) -> str:
        """The type, in words."""
        if isinstance(self.default, Relation):
            return "a relation"
        if self.default is None:
            return "a number"
        kinds = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}
        return kinds.get(type(self.default), "numbers with commas")

    @property
    def range(self) -> str:
        """The range, in words; empty where there is none."""
        if isinstance(self.default, bool | str) or not math.isfinite(self.low):
            return ""
        return f"from {self.low:g} to {self.high:g}"

    def read(self, text: str) -> Any:
        """The value that ``text`` stands for; raises InvalidInput for another type or range."""
        try:
            value = self._parsed(text.strip())
        except (ValueError, OverflowError):
            raise InvalidInput(f"{self.name} must be {self.kind}, not {text!r:.80}") from None
        return self.checked(value)

    def _parsed(self, text: str) -> Any:
        default = self.default
        if isinstance(default, bool):
            return _named(text.lower(), {"yes": True, "true": True, "no": False, "false": False})
        if isinstance(default, Relation):
            return _named(text, {str(way): way for way in (ADD_REMOVE, REPLACE_ONE)})
        if isinstance(default, int | float):
            return int(_plain(text)) if isinstance(default, int) else numeral(text)
        if isinstance(default, tuple):
            whole = bool(default) and all(isinstance(entry, int) for entry in default)
            return tuple((int(_plain(p)) if whole else numeral(p)) for p in text.split(","))
        return numeral(text) if default is None else text

    def checked(self, value: Any) -> Any:
        """``value`` if it is of the right type and range; raises InvalidInput."""
        default = self.default
        if isinstance(value, np.generic):  # an element of an array is the number it holds
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


def knobs_of(claim: Claim) -> dict[str, Knob]:
    """The claim's parameters by name, as knobs."""
    played = "trials" in claim.parameters
    return {name: _knob(name, value, played) for name, value in claim.parameters.items()}


def _knob(name: str, default: Any, played: bool) -> Knob:
    if isinstance(default, bool) or not isinstance(default, int | float | None):
        return Knob(name, default, CHOICES.get(name, "see the check"))
    meaning, low, high = MEANINGS.get(name, ("see the check", -math.inf, math.inf))
    if isinstance(default, int):
        if name == "people":  # a linear program of so many rows, or a law of so many answers
            high = max(300.0, default)
        if name == "pairs" or (played and name in _PLAYED):  # each takes its time
            high = min(high, _MORE * default)
        if name in _LISTED and default <= _SHORT:
            high = min(high, default + 2)
            meaning += " (all combinations are listed)"
    return Knob(name, default, meaning, low, high)


def chosen_values(claim: Claim, changes: Mapping[str, Any]) -> dict[str, Any]:
    """All values of the check's parameters, with ``changes`` checked; raises InvalidInput."""
    checked = {name: _knob_of(claim, name).checked(value) for name, value in changes.items()}
    return claim.parameters | checked


def read_settings(claim: Claim, settings: Sequence[str]) -> dict[str, Any]:
    """The changes that texts like ``denominator=813`` stand for; raises InvalidInput."""
    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidInput(f"give a knob and its value as name=value, not {setting!r}")
        if (name := name.strip()) in changes:
            raise InvalidInput(f"give {name} once, not as {changes[name]!r} and as {text.strip()}")
        changes[name] = _knob_of(claim, name).read(text)
    return changes


def _knob_of(claim: Claim, name: str) -> Knob:
    knobs = knobs_of(claim)
    if name not in knobs:
        known = ", ".join(knobs) or "none at all"
        raise InvalidInput(f"claim {claim.id} has no knob {name!r}; it has {known}")
    return knobs[name]


@dataclass(frozen=True)
class Stretch:
    """Neighbouring values of a knob that come to one verdict, with the finding at the first.

    ``tried`` has every value that was checked in it, in ascending order, with its finding.
    """

    first: float
    last: float
    finding: Finding
    tried: tuple[tuple[float, Finding], ...] = ()


def sweep(claim: Claim, name: str, low: float, high: float, points: int = 17) -> list[Stretch]:
    """Check the claim at ``points`` values of one number, and close in on where its verdict flips.

    Returns the stretches of one verdict in ascending order; between two of them the verdict flips,
    to a millionth of the whole range, or from one whole number to the next. A stretch shorter than
    the distance of two points may be missed.

    Raises InvalidInput for a knob that is not a number, an empty range, or a value out of range.
    """
    knob = _knob_of(claim, name)
    if isinstance(knob.default, bool) or not isinstance(knob.default, int | float):
        raise InvalidInput(f"{name} is {knob.kind}, and only numbers can be swept")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(f"a sweep goes from a smaller to a larger number, not {low:g}..{high:g}")
    whole = isinstance(knob.default, int)

    checked: dict[float, Finding] = {}

    def at(value: float) -> tuple[float, Finding]:
        checked[value] = claim.check(**{name: round(value) if whole else value})
        return value, checked[value]

    places = [*(low + (high - low) * i / (points - 1) for i in range(points - 1)), high]
    values: Sequence[float] = sorted({float(round(p)) for p in places}) if whole else places
    found = [at(value) for value in values]
    stretches = [Stretch(found[0][0], *found[0])]
    for here, end in pairwise(found):
        while here[1].verdict is not end[1].verdict:
            before, after = here, end
            while after[0] - before[0] > (1.0 if whole else 1e-6 * (high - low)):
                between = (before[0] + after[0]) / 2.0
                middle = at(float(math.floor(between)) if whole else between)
                before, after = (
                    (middle, after) if middle[1].verdict is here[1].verdict else (before, middle)
                )
            stretches[-1] = Stretch(stretches[-1].first, before[0], stretches[-1].finding)
            stretches.append(Stretch(after[0], after[0], after[1]))
            here = after
        stretches[-1] = Stretch(stretches[-1].first, end[0], stretches[-1].finding)
    tried = sorted(checked.items(), key=lambda each: each[0])
    return [
        replace(s, tried=tuple((v, f) for v, f in tried if s.first <= v <= s.last))
        for s in stretches
    ]


def own_sweep(claim: Claim) -> tuple[str, float, float] | None:
    """A knob that the altered variant turns, from there to a third of the way beyond the claim.

    None where it turns no number.
    """
    for name, altered in claim.wrong.items():
        knob = knobs_of(claim)[name]
        default = knob.default
        if isinstance(default, int | float) and not isinstance(default, bool):
            beyond = default + (default - altered) / 3.0
            if isinstance(default, int):
                beyond = round(beyond)
            ends = sorted((float(altered), min(max(beyond, knob.low), knob.high)))
            return name, ends[0], ends[1]
    return None
