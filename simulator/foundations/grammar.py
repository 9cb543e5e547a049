"""The text of what has a name and parameters, as ``subsampled-gaussian:sigma=1,rate=0.01``.

One grammar for families, filters, menus, plans and the mechanisms of the command line:

    NAME[:VALUE,VALUE,...][*COUNT]

A value is that of the next parameter, or PARAMETER=VALUE. A parameter of several values takes
those that follow it, as ``coefficients=1,0.5,0.25``. COUNT is a number of rounds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.validation import numeral, text_of
from simulator.foundations.wording import did_you_mean

Made = TypeVar("Made")

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that must be given."""

_NEXT = re.compile(r",(?=\s*[A-Za-z][\w-]*:)")
"""A comma before a name: it separates texts, others separate values."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of what is made from a text.

    Attributes
    ----------
    name : with hyphens; it is read with underscores too.
    default : REQUIRED where there is none.
    kind : what a value is.
    several : whether it takes any number of values, as a tuple.
    by_name : whether it is given under its name alone.
    """

    name: str
    default: Any = REQUIRED
    kind: Literal["number", "whole number", "text"] = "number"
    several: bool = False
    by_name: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    @property
    def keyword(self) -> str:
        """The name in a call."""
        return self.name.replace("-", "_")

    @property
    def form(self) -> str:
        """How it is written among the others."""
        more = ",..." if self.several else ""
        if self.required:
            return f"{self.name.upper()}{more}"
        return f"{self.name}={'...' if self.default is None else shown(self.default)}{more}"

    def read(self, text: str) -> Any:
        """The value of a text; raises InvalidInput."""
        if self.kind == "text":
            return text
        try:
            number = numeral(text)
        except ValueError:
            raise InvalidInput(f"{self.name} must be a number, not {text!r}") from None
        if self.kind == "number":
            return number
        if not number.is_integer():
            raise InvalidInput(f"{self.name} must be a whole number, not {text!r}")
        return int(number)


def shown(value: Any) -> str:
    """A value as it is written in a text."""
    if isinstance(value, tuple):
        return ",".join(map(shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def parameters_of(make: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a class or a function, but those that are True or False."""
    found = []
    for each in inspect.signature(make).parameters.values():
        noted = each.annotation
        kind = noted if isinstance(noted, str) else inspect.formatannotation(noted)
        if kind == "bool" or each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            continue
        found.append(
            Parameter(
                each.name.replace("_", "-"),
                each.default,
                "text" if kind.startswith("str") else "whole number" if kind == "int" else "number",
                "tuple" in kind,
                each.kind is each.KEYWORD_ONLY,
            )
        )
    return tuple(found)


def form(name: str, parameters: Sequence[Parameter]) -> str:
    """How a text of that name is written: ``laplace:EPSILON``, optional values in brackets."""
    required = ",".join(each.form for each in parameters if each.required)
    others = "".join(f"[,{each.form}]" for each in parameters if not each.required)
    values = required + others if required else others.replace("[,", "[", 1)
    return f"{name}:{values}" if values else name


@dataclass(frozen=True)
class Term:
    """A text in its parts.

    Attributes
    ----------
    name : before the colon.
    text : after it, without the count.
    count : the number of rounds, or None where none is written.
    """

    name: str
    text: str
    count: int | None = None

    def __str__(self) -> str:
        values = f"{self.name}:{self.text}" if self.text else self.name
        return values if self.count is None else f"{values}*{self.count}"

    @cached_property
    def once(self) -> str:
        """The text without the count."""
        return f"{self.name}:{self.text}" if self.text else self.name

    @cached_property
    def values(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Parameters and their values; the name is empty for each value without one.

        Raises InvalidInput for a value after "=" without a name.
        """
        found: list[tuple[str, list[str]]] = []
        for part in self.text.split(",") if self.text else ():
            name, equals, value = part.partition("=")
            if equals and not name.strip():
                raise InvalidInput(f"{self.once!r}: write the name of a parameter before {part!r}")
            if equals:
                found.append((name.strip().replace("_", "-"), [value.strip()]))
            elif found and found[-1][0]:
                found[-1][1].append(part.strip())
            else:
                found.append(("", [part.strip()]))
        return tuple((name, tuple(values)) for name, values in found)


def read(text: str) -> Term:
    """The parts of a text. Raises InvalidInput for a count that is no number of rounds."""
    text = text_of("a name with parameters", text)
    before, times, count = text.strip().rpartition("*")
    if not times:
        name, _, values = text.strip().partition(":")
        return Term(name.strip(), values)
    name, _, values = before.partition(":")
    if not (count.isascii() and count.isdigit() and int(count) > 0):
        raise InvalidInput(f"{text!r}: *COUNT is a whole number of rounds, from 1 on, not *{count}")
    return Term(name.strip(), values, int(count))


def read_once(text: str) -> Term:
    """The parts of a text of one round: raises InvalidInput for one with a count."""
    found = read(text)
    if found.count is not None:
        raise InvalidInput(f"{text!r} stands for one round here: leave out *{found.count}")
    return found


def split(text: str) -> list[str]:
    """The texts of a list with commas: one begins at each name with a colon."""
    return [part.strip() for part in _NEXT.split(text_of("a list of names", text))]


def bind(
    named: Term,
    parameters: Sequence[Parameter],
    *,
    partial: bool = False,
    reader: Callable[[Parameter, str], Any] = Parameter.read,
) -> dict[str, Any]:
    """The values by the names of a call, without those that are not given.

    With ``partial`` required ones may be left out. Raises InvalidInput, with the text, for a value
    that no parameter takes, a parameter given twice or not at all, and what is no number.
    """
    takes = f"write {form(named.name, parameters)}"
    given: dict[str, list[str]] = {}
    places = iter([each for each in parameters if not each.by_name])
    place: Parameter | None = None
    by_name = {each.name: each for each in parameters}
    for name, values in named.values:
        if name and name not in by_name:
            near = did_you_mean(name, by_name) or f"; {takes}"
            raise InvalidInput(f"{named}: {named.name} has no parameter {name!r}{near}")
        if name in given:
            raise InvalidInput(f"{named}: give {name} once")
        if name:
            given[name] = list(values)
            continue
        if place is None or not place.several:
            place = next(places, None)
        if place is None:
            raise InvalidInput(f"{named}: {named.name} takes no more values in order; {takes}")
        given.setdefault(place.name, []).extend(values)
    missing = [each.name for each in parameters if each.required and each.name not in given]
    if missing and not partial:
        raise InvalidInput(f"{named.name} needs {' and '.join(missing)}: {takes}")
    found: dict[str, Any] = {}
    for name, texts in given.items():
        each = by_name[name]
        if len(texts) > 1 and not each.several:
            raise InvalidInput(f"{named}: {name} takes one value, not {len(texts)}; {takes}")
        try:
            read_values = tuple(reader(each, text) for text in texts)
        except InvalidInput as error:
            raise InvalidInput(f"{named}: {error}") from None
        found[each.keyword] = read_values if each.several else read_values[0]
    return found


def made(named: Term, make: Callable[..., Made]) -> Made:
    """What a class or a function makes of a text's values; errors begin with the text."""
    values = bind(named, parameters_of(make))
    return calling(named, make, values)


def calling(named: Term, make: Callable[..., Made], values: dict[str, Any]) -> Made:
    """``make(**values)``; an error of its kind, and its message begins with the text."""
    try:
        return make(**values)
    except DpcomposeError as error:
        raise type(error)(f"{named}: {error}") from None
