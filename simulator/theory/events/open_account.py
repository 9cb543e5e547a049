"""An event document with one unknown, written ``"?"``, to be calibrated."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.strangers import from_json
from simulator.theory.bounds.certified_calibration import (
    Calibrated,
    ParameterScale,
    Rounds,
    calibrate_certified,
)
from simulator.theory.events.accounting import Account
from simulator.theory.events.stored import EVENTS

UNKNOWN = "?"

_MORE_IS_SAFER = ("sigma", "scale", "threshold_scale", "query_scale")
_LESS_IS_SAFER = ("epsilon", "sensitivity")
_WHOLE = ("count", "positives")


def scale_of(name: str, digits: int = 5, kind: str | None = None) -> ParameterScale:
    """The scale of the member of that name; raises InvalidInput for one that cannot be calibrated.

    ``kind`` is the kind of the event: the sensitivity of discrete noise is a whole number.
    """
    event = EVENTS.classes.get(kind or "")
    if event and name in _LESS_IS_SAFER and get_type_hints(event).get(name) is int:
        return ParameterScale(name, 1.0, 1e9, start=1.0, grows=False, digits=0)
    if name == "rate":
        return ParameterScale(name, 1e-9, 1.0, start=0.01, grows=False, digits=digits)
    if name in _MORE_IS_SAFER:
        return ParameterScale(name, 1e-4, 1e6, start=1.0, grows=True, digits=digits)
    if name in _LESS_IS_SAFER:
        return ParameterScale(name, 1e-9, 1e4, start=0.1, grows=False, digits=digits)
    if name in _WHOLE:
        return ParameterScale(name, 1.0, 1e9, start=1.0, grows=False, digits=0)
    known = ", ".join((*_MORE_IS_SAFER, *_LESS_IS_SAFER, "rate", *_WHOLE))
    raise InvalidInput(f"{name} cannot be calibrated, only {known}")


@dataclass(frozen=True)
class OpenAccount:
    """An account with an unknown.

    Attributes
    ----------
    path : of the unknown in the document.
    scale : its candidates.
    at : the account with a number in place of the unknown.
    """

    path: str
    scale: ParameterScale
    at: Callable[[float], Account]

    @classmethod
    def from_json(cls, text: str, digits: int = 5) -> OpenAccount:
        """Read a document in which one member is "?"; raises InvalidInput with the path."""
        document = from_json(text, "event")
        found = list(_unknowns(document, "event"))
        if len(found) != 1:
            raise InvalidInput(
                f'event: one member must be "{UNKNOWN}" to be calibrated, not {len(found)}'
            )
        path, holder, name = found[0]
        kind = holder.get("kind")
        scale = scale_of(name, digits, kind if isinstance(kind, str) else None)

        def at(value: float) -> Account:
            holder[name] = int(value) if scale.digits == 0 else value
            return Account.from_json(json.dumps(document))

        at(scale.start)  # checks the rest of the document before any work
        return cls(path, scale, at)

    def calibrated(
        self, target_epsilon: float, target_delta: float, *, any_direction: bool = False
    ) -> Calibrated:
        """The largest or least value of the open number at which the account meets a target.

        As :func:`simulator.theory.bounds.certified_calibration.calibrate_certified` finds it.
        """

        def laws(value: float) -> Rounds:
            try:
                return self.at(value).laws
            except InvalidInput as error:  # this number is invalid; the document is not
                raise NotApplicable(str(error)) from None

        return calibrate_certified(
            laws, target_epsilon, target_delta, self.scale, any_direction=any_direction
        )


def _unknowns(value: Any, path: str) -> list[tuple[str, dict[str, Any], str]]:
    """(path, object, name) of every unknown member."""
    found, pending = [], [(value, path)]
    while pending:
        inner, at = pending.pop()
        if isinstance(inner, list):
            pending += [(item, f"{at}[{place}]") for place, item in enumerate(inner)]
        elif isinstance(inner, dict):
            for name, item in inner.items():
                if item == UNKNOWN:
                    found.append((f"{at}.{name}", inner, name))
                pending.append((item, f"{at}.{name}"))
    return found
