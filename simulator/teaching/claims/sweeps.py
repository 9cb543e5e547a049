"""A claim at many values of one knob, and the values between which its verdict changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from simulator.foundations.curves import spans_decades
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import instance
from simulator.teaching.claims.model import Claim, Finding


@dataclass(frozen=True)
class Stretch:
    """A range of a knob with one verdict, and the finding at its first value.

    ``tried`` has every value that was checked in it, in ascending order, with its finding.
    """

    first: float
    last: float
    finding: Finding
    tried: tuple[tuple[float, Finding], ...] = ()


def sweep(claim: Claim, name: str, low: float, high: float, points: int = 17) -> list[Stretch]:
    """Check the claim at ``points`` values of one number, and bisect to where its verdict changes.

    Returns the stretches of one verdict in ascending order; the verdict changes between them, to a
    millionth of the whole range, or from one whole number to the next. A stretch shorter than the
    distance of two points may be missed. Where the range spans decades the points are evenly spaced
    on a logarithmic axis, and a change is found to a millionth of its value.

    Raises InvalidInput for a knob that is not a number, an empty range, or a value out of range.
    """
    knob = instance("claim", claim, Claim).knob(name)
    if isinstance(knob.default, bool) or not isinstance(knob.default, int | float):
        raise InvalidInput(f"{name} is {knob.kind}, and only numbers can be swept")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(f"a sweep goes from a smaller to a larger number, not {low:g}..{high:g}")
    whole = isinstance(knob.default, int)

    checked: dict[float, Finding] = {}

    def at(value: float) -> tuple[float, Finding]:
        checked[value] = claim.check(**{name: round(value) if whole else value})
        return value, checked[value]

    logarithmic = spans_decades(low, high)
    spaced = np.geomspace if logarithmic else np.linspace
    places = [low, *spaced(low, high, points).tolist()[1:-1], high]
    values: Sequence[float] = sorted({float(round(p)) for p in places}) if whole else places
    found = [at(value) for value in values]
    stretches = [Stretch(found[0][0], *found[0])]
    for here, end in pairwise(found):
        while here[1].verdict is not end[1].verdict:
            before, after = here, end
            step = 1.0 if whole else 1e-6 * (before[0] if logarithmic else high - low)
            while after[0] - before[0] > step:
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
    """A number that the altered variant changes, with a range around its value in the claim.

    The range is from the altered value to a third of the distance beyond the claim. None if the
    variant changes no number.
    """
    for name, altered in claim.wrong.items():
        knob = claim.knob(name)
        default = knob.default
        if isinstance(default, int | float) and not isinstance(default, bool):
            beyond = default + (default - altered) / 3.0
            if isinstance(default, int):
                beyond = round(beyond)
            ends = sorted((float(altered), min(max(beyond, knob.low), knob.high)))
            return name, ends[0], ends[1]
    return None
