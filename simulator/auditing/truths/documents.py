"""The documents of true answers: ``compositions.json`` and ``games.json``, and their schema.

Numbers are written with all digits of a double; an infinite end is the string ``inf``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from simulator.auditing.truths.questions import Question, TrueAnswer, TrueComposition, TrueGame
from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import from_json, read_text
from simulator.theory import Bracket

VERSION = 1
COMPOSITIONS, GAMES, SCHEMA = "compositions.json", "games.json", "schema.json"
_CHECKOUT = Path(__file__).resolve().parents[3] / "results" / "truths"

_ROWS = {
    "type": "array",
    "items": {
        "type": "array",
        "prefixItems": [{"type": "number"}, {"$ref": "#/$defs/end"}, {"$ref": "#/$defs/end"}],
        "minItems": 3,
        "maxItems": 3,
    },
}
_MECHANISM = {
    "type": "object",
    "required": ["mechanism"],
    "properties": {
        "mechanism": {"type": "string"},
        "parameter": {"type": "number", "exclusiveMinimum": 0},
        "count": {"type": "integer", "minimum": 1},
        "rate": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "delta": {"type": "number", "minimum": 0, "maximum": 1},
        "p0": {"type": "array", "items": {"type": "number"}},
        "p1": {"type": "array", "items": {"type": "number"}},
    },
}
_MECHANISMS = {"type": "array", "items": _MECHANISM}
SCHEMA_DOCUMENT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "True answers about compositions and games of differential privacy",
    "type": "object",
    "required": ["version", "provenance", "mechanisms", "truths"],
    "properties": {
        "version": {"const": VERSION},
        "mechanisms": {"type": "object", "additionalProperties": {"type": "string"}},
        "truths": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "rounds": {"oneOf": [_MECHANISMS, {"type": "integer"}]},
                    "menu": _MECHANISMS,
                    "budget": {"type": "number"},
                    "epsilon": {"description": "[delta, lower, upper] ...", **_ROWS},
                    "delta": {"description": "[epsilon, lower, upper] ...", **_ROWS},
                },
            },
        },
    },
    "$defs": {"end": {"oneOf": [{"type": "number"}, {"const": "inf"}]}},
}


@dataclass(frozen=True)
class TrueRow:
    """One question with its certified ends; ``about`` is its composition or game."""

    name: str
    question: Question
    at: float
    truth: Bracket
    about: Mapping[str, Any]


def document(
    items: Iterable[TrueComposition | TrueGame],
    mechanisms: Mapping[str, str],
    provenance: Mapping[str, Any],
) -> str:
    """The text of a document, one line for each composition or game."""
    head = {"version": VERSION, "provenance": provenance, "mechanisms": mechanisms}
    lines = ",\n  ".join(json.dumps(_as_dict(item), allow_nan=False) for item in items)
    opening = json.dumps(head, indent=1, allow_nan=False).removesuffix("\n}")
    return f'{opening},\n "truths": [\n  {lines}\n ]\n}}\n'


def _as_dict(item: TrueComposition | TrueGame) -> dict[str, Any]:
    found: dict[str, Any] = {"id": item.name}
    if isinstance(item, TrueGame):
        found["menu"] = item.menu
        found |= {} if item.rounds is None else {"rounds": item.rounds}
        found |= {} if item.budget is None else {"budget": item.budget}
    else:
        found["rounds"] = item.rounds
    for answer in item.answers:
        found.setdefault(answer.question, []).append(_as_row(answer))
    return found


def _as_row(answer: TrueAnswer) -> list[float | str]:
    return [answer.at, *("inf" if end == math.inf else end for end in (answer.lower, answer.upper))]


def folder() -> Path:
    """The documents' folder: within an installed package, else in its checkout."""
    installed = Path(str(files("simulator.auditing.truths"))) / "data"
    return installed if installed.is_dir() else _CHECKOUT


def rows(where: Path | None = None) -> list[TrueRow]:
    """Every question of both documents. Raises InvalidInput without them."""
    where = where or folder()
    found: list[TrueRow] = []
    for name in (COMPOSITIONS, GAMES):
        path = where / name
        try:
            items = from_json(read_text(path), str(path), exact=False)["truths"]
            found += [row for item in items for row in _rows_of(item)]
        except InvalidInput as error:
            hint = "" if path.exists() else "; `make truths` writes it"
            raise InvalidInput(f"{error}{hint}") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise InvalidInput(f"{path} is no document of true answers: {error}") from None
    return found


def _rows_of(item: Mapping[str, Any]) -> list[TrueRow]:
    about = {key: value for key, value in item.items() if key not in ("id", "epsilon", "delta")}
    found = []
    questions: tuple[Question, ...] = ("epsilon", "delta")
    for question in questions:
        for at, lower, upper in item.get(question, ()):
            name = f"{item['id']}/{question}@{at!r}"
            truth = Bracket(float(lower), float(upper))
            found.append(TrueRow(name, question, float(at), truth, about))
    return found
