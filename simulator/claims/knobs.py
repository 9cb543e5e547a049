"""The parameters of a check that may be set: their types, ranges and meanings, and sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Relation
from simulator.errors import InvalidInput

if TYPE_CHECKING:
    from simulator.claims.model import Claim, Finding

#: Of a parameter's name: what it means, and its least and largest value.
_KNOWN: dict[str, tuple[str, float, float]] = {
    "epsilon": ("privacy parameter ε, of a round where there are several", 0.0, 50.0),
    "delta": ("privacy parameter δ, a probability", 0.0, 1.0),
    "leak": ("the δ of every round, a probability", 0.0, 1.0),
    "share": ("the claimed bound is multiplied by it", 0.0, 1e6),
    "factor": ("the claimed bound is multiplied by it", 0.0, 1e6),
    "rounds": ("rounds k", 1, 1e7),
    "seed": ("the root seed of the draws", 0, 2**32),
    "trials": ("plays of each experiment", 1, 1e6),
    "people": ("people in the database", 1, 1e6),
    "pairs": ("random pairs of laws that are tried", 1, 1e5),
    "noise": ("the noise is multiplied by it", 1e-9, 1e9),
    "denominator": ("the number below the line", 1.0, 1e9),
    "log_delta": ("ln δ", -700.0, -1e-9),
    "constant": ("the constant in the claimed bound", 0.0, 1e9),
    "exponent": ("a power", -10.0, 10.0),
    "power": ("a power", -10.0, 10.0),
    "patients": ("patients of the study", 1, 2000),
    "largest": ("the largest value that is claimed for", 1e-12, 1e12),
    "s": ("2^s databases are told apart", 1, 2),
    "offset": ("what is taken off", -1e6, 1e6),
    "beta": ("how fast smooth sensitivity decays", 1e-9, 100.0),
    "top": ("the end of the range of values", 1, 1e3),
}
#: Whole numbers of things of which every combination is listed: two more take long enough.
_LISTED = frozenset({
    "n", "s", "m", "bits", "nodes", "cells", "parties", "outcomes", "dimensions", "databases",
    "candidates", "top",
})  # fmt: skip
_SHORT = 12  # rounds up to here are listed, not computed


@dataclass(frozen=True)
class Knob:
    """One parameter of a claim: its value in the claim, and what it may be instead.

    ``low`` and ``high`` are both allowed; they are infinite where nothing is known.
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
            raise InvalidInput(f"{self.name} must be {self.kind}, not {text!r}") from None
        return self.checked(value)

    def _parsed(self, text: str) -> Any:
        default = self.default
        if isinstance(default, bool):
            return _named(text.lower(), {"yes": True, "true": True, "no": False, "false": False})
        if isinstance(default, Relation):
            return _named(text, {str(way): way for way in (ADD_REMOVE, REPLACE_ONE)})
        if isinstance(default, int | float):
            return type(default)(text)
        if isinstance(default, tuple):
            whole = bool(default) and all(isinstance(entry, int) for entry in default)
            return tuple((int if whole else float)(part) for part in text.split(","))
        return float(text) if default is None else text

    def checked(self, value: Any) -> Any:
        """``value`` if it is of the right type and range; raises InvalidInput."""
        default = self.default
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
            raise InvalidInput(f"{self.name} goes {self.range}, not {value!r}: {self.meaning}")
        return value


def _named(text: str, values: Mapping[str, Any]) -> Any:
    if text not in values:
        raise ValueError(text)
    return values[text]


def knobs_of(claim: Claim) -> dict[str, Knob]:
    """The claim's parameters by name, as knobs."""
    return {name: _knob(name, value) for name, value in claim.parameters.items()}


def _knob(name: str, default: Any) -> Knob:
    meaning, low, high = _KNOWN.get(name, ("", -math.inf, math.inf))
    if isinstance(default, int) and not isinstance(default, bool):
        low = low if name in _KNOWN else 0.0
        high = high if name in _KNOWN else min(max(100.0 * default, 1000.0), 1e7)
        if name == "people":  # a linear program of so many rows, or a law of so many answers
            high = max(1000.0, default)
        if name in _LISTED or (name == "rounds" and default <= _SHORT):
            high = min(high, default + 2)
            meaning = f"{meaning or 'a size'} (all combinations are listed)"
    elif not isinstance(default, float) or isinstance(default, bool):
        return Knob(name, default, "" if name == "noise" else meaning)
    return Knob(name, default, meaning or "see the check", low, high)


def chosen_values(claim: Claim, changes: Mapping[str, Any]) -> dict[str, Any]:
    """All values of the check's parameters, with ``changes`` checked; raises InvalidInput."""
    checked = {name: _knob_of(claim, name).checked(value) for name, value in changes.items()}
    return claim.parameters | checked


def read_settings(claim: Claim, settings: Sequence[str]) -> dict[str, Any]:
    """The changes that texts like ``denominator=813`` stand for; raises InvalidInput."""
    changes = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidInput(f"give a knob and its value as name=value, not {setting!r}")
        changes[name.strip()] = _knob_of(claim, name.strip()).read(text)
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
