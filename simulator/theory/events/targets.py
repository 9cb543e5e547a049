"""A target for all rounds, and what is stated of the parameter that meets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

from simulator.foundations.wording import exactly
from simulator.theory.bounds.certified_calibration import Calibrated, ParameterScale
from simulator.theory.bracket import Bracket


class FoundValue(NamedTuple):
    """A value of the parameter, with the ends of what all rounds lose at it.

    ``key`` is its name in JSON, ``label`` that in a table. An estimate has a ``text`` that is
    printed for the ends, and stands in JSON under the name of its ``quantity``.
    """

    key: str
    label: str
    value: float
    ends: Bracket
    text: str = ""
    quantity: str = ""


@dataclass(frozen=True)
class FoundParameter:
    """A parameter that meets a target over all rounds.

    Attributes
    ----------
    parameter : its name.
    how : by what it is known to meet the target.
    rows : the value that meets it, and the next one.
    quantity : what the ends are of.
    facts : more, for JSON.
    note : a line below the table; empty if there is none.
    """

    parameter: str
    how: str
    rows: tuple[FoundValue, ...]
    _: KW_ONLY
    quantity: str = "total epsilon"
    facts: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


class Target(NamedTuple):
    """What all rounds together may lose, and how a parameter is searched for.

    ``digits`` are the significant digits of the parameter, ``any_direction`` says whether the
    adversary may exchange the databases in every round.
    """

    epsilon: float
    delta: float
    digits: int = 5
    any_direction: bool = False


_ADVERSARIES = {
    False: "one pair of databases in all rounds",
    True: "the direction chosen in every round",
}


def stated(
    found: Calibrated, scale: ParameterScale, target: Target, *, exact: bool
) -> FoundParameter:
    """What is stated of a parameter that was found by the certified laws of all rounds.

    Where the laws are not ``exact`` only upper ends are certain: the next value is not known to
    miss the target.
    """
    rows = [("meets", "meets the target", found.value, found.epsilon)]
    if found.beyond is not None and found.beyond_epsilon is not None:
        names = ("misses", "does not") if exact else ("unknown", "is not known to")
        rows.append((*names, found.beyond, found.beyond_epsilon))
    of = "number of " if scale.digits == 0 else ""
    every = f"every {'larger' if scale.grows else 'smaller'} {of}{found.name} meets it too"
    return FoundParameter(
        found.name,
        f"certified at delta = {exactly(target.delta)}, {_ADVERSARIES[found.any_direction]}",
        tuple(
            FoundValue(
                key,
                label,
                int(value) if scale.digits == 0 else value,
                ends if exact else Bracket(0.0, ends.upper),
            )
            for key, label, value, ends in rows
        ),
        facts={"direction": "any" if found.any_direction else "fixed"},
        note=every if len(rows) == 1 else "",
    )
