"""The messages of failed assertions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from simulator.auditing.audits import AuditResult


def name_of(tested: Callable[..., Any]) -> str:
    """The name of the function, method or object under test."""
    name = getattr(tested, "__name__", None)
    owner = getattr(tested, "__self__", None)
    if name is not None and owner is not None and not inspect.ismodule(owner):
        return f"{type(owner).__qualname__}.{name}"
    return str(getattr(tested, "__qualname__", None) or type(tested).__qualname__)


class Wording(NamedTuple):
    """The words for the inputs or experiments, for one of them, and for one draw."""

    where: str
    place: str
    example: str


MECHANISM = Wording("inputs", "input_", "one answer")
COMPOSITION = Wording("played", "experiment ", "one view")


def explained(result: AuditResult, name: str, wording: Wording, replay: Sequence[str]) -> str:
    """The claim, what was found, the event with both counts, one answer in it, how to replay it."""
    rows = [
        (wording.where, result.pair),
        ("claimed", f"epsilon <= {result.at_epsilon:.6g} at delta = {result.at_delta:.6g}"),
        *_under("found", result.found),
        ("false alarm", f"with probability {1.0 - result.confidence:.3g} at most"),
    ]
    event = result.event
    if event is not None:
        rows += [
            ("event", event.words),
            (f"{wording.place}0", _counted(event.hits_0, event.draws, event.probability_0)),
            (f"{wording.place}1", _counted(event.hits_1, event.draws, event.probability_1)),
        ]
        rows += _under("divergence", [result.divergence] if result.divergence else [])
        rows += _under("note", result.advice())
        rows += _under(wording.example, _placed(result, f"of {wording.place}{event.favours}"))
    rows += _under("warning", result.warnings)
    rows += _under("replay", replay)
    if replay and not result.reproducible:
        rows.append(("", "(it draws from a generator of its own: a replay draws anew)"))
    return _listed(f"{name} does not keep {result.claimed}", rows)


def not_audited(result: AuditResult, name: str, wording: Wording, replay: Sequence[str]) -> str:
    """Why a test of a claim proves nothing, and what to do."""
    rows = [
        (wording.where, result.pair),
        ("draws", f"{result.samples:,} of each input"),
    ]
    return _listed(f"{name}: {result.unaudited}", [*rows, *_under("replay", replay)])


def with_replay(message: str, replay: Sequence[str]) -> str:
    """A message of one line, and the commands that replay it."""
    return _listed(message, _under("replay", replay))


def _listed(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """A title, and headed lines below it."""
    return "\n".join([title, *(f"  {head:<13}{text}" for head, text in rows)])


def _placed(result: AuditResult, place: str) -> Sequence[str]:
    """The transcript, with where it was drawn."""
    if len(result.transcript) == 1:
        return [f"{result.transcript[0]} ({place})"]
    return [place, *result.transcript] if result.transcript else []


def _under(head: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Lines below one another, the first beside the heading."""
    return [(head if i == 0 else "", line) for i, line in enumerate(lines)]


def _counted(hits: int, draws: int, probability: float) -> str:
    return f"{hits:,} of {draws:,} draws ({probability:.6g})"
