"""Values of the theory as JSON and back: frozen dataclasses, exact floats, a version.

A document is an object ``{"dpcompose": NAME, "version": 1, ...}``. Floats round-trip exactly; an
infinite one is written as "inf" or "-inf". Errors of reading have one line with the path in the
document, such as ``event.events[1].rate``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from difflib import get_close_matches
from types import GenericAlias
from typing import Any, NoReturn, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput, NotApplicable

VERSION = 1
"""Version of every document; it changes when an older reader would misread one."""

_LONGEST = 100
"""Characters of a name that are compared with the known names, in quadratic time."""
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class JsonNode:
    """A value in a document, and its path; the reader of the document has bounded its depth."""

    value: Any
    path: str

    def complain(self, message: str) -> NoReturn:
        """Raise InvalidInput with the path in front."""
        raise InvalidInput(f"{self.path}: {message}")

    def members(self) -> dict[str, JsonNode]:
        """The members of an object."""
        if not isinstance(self.value, dict):
            self.complain(f"must be an object, not {_shown(self.value)}")
        return {name: self._inner(item, f".{name[:_LONGEST]}") for name, item in self.value.items()}

    def items(self) -> list[JsonNode]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.complain(f"must be a list, not {_shown(self.value)}")
        return [self._inner(item, f"[{place}]") for place, item in enumerate(self.value)]

    def items_or_one(self) -> list[JsonNode]:
        """The items of a list, or the value itself if it is not a list."""
        return self.items() if isinstance(self.value, list) else [self]

    def _inner(self, value: Any, step: str) -> JsonNode:
        return JsonNode(value, self.path + step)

    def number(self) -> float:
        """A number, or "inf" or "-inf"."""
        if isinstance(self.value, str) and self.value in _INFINITE:
            return _INFINITE[self.value]
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.complain(f"must be a number, not {_shown(self.value)}")
        try:
            return float(self.value)
        except OverflowError:
            self.complain("is a number that no float can hold")

    def whole(self) -> int:
        """A whole number; 1e6 is one."""
        number = self.number()
        if not number.is_integer():
            self.complain(f"must be a whole number, not {_shown(self.value)}")
        return self.value if isinstance(self.value, int) else int(number)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            self.complain(f"must be a string, not {_shown(self.value)}")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.complain(f"must be true or false, not {_shown(self.value)}")
        return self.value


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


Read = Callable[[JsonNode], Any]

_READERS: dict[Any, Read] = {
    float: JsonNode.number,
    int: JsonNode.whole,
    str: JsonNode.text,
    bool: JsonNode.flag,
    tuple[float, ...]: lambda node: tuple(item.number() for item in node.items()),
    tuple[int, ...]: lambda node: tuple(item.whole() for item in node.items_or_one()),
    NDArray[np.float64]: lambda node: np.array(
        [item.number() for item in node.items()], dtype=float
    ),
}
"""The reader of a field, by its annotation."""


def plain(value: Any) -> Any:
    """The value as JSON data."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return [plain(float(item)) for item in value]
    return str(value)


@dataclass(frozen=True)
class Vocabulary:
    """Frozen dataclasses by their kind in a document.

    Attributes
    ----------
    base : the class that fields are annotated with.
    classes : by the word that the document has as ``kind``.
    readers : of annotations beyond the plain ones.
    check : raises InvalidInput for a value that its class allows and a document must not hold.
    """

    base: type[Any]
    classes: Mapping[str, type[Any]]
    _: KW_ONLY
    readers: Mapping[Any, Read] = field(default_factory=dict)
    check: Callable[[Any], None] = lambda value: None

    def write(self, value: Any) -> Any:
        """An object of ``kind`` and the fields, inner values of these kinds included."""
        kind = next((word for word, of in self.classes.items() if of is type(value)), None)
        if kind is None:
            why = f"there is JSON for {', '.join(self.classes)}"
            raise NotApplicable(f"{type(value).__name__} cannot be written: {why}")
        members: dict[str, Any] = {"kind": kind}
        for each in fields(value):
            members[each.name] = self._member(getattr(value, each.name))
        return members

    def _member(self, value: Any) -> Any:
        if isinstance(value, self.base):
            return self.write(value)
        if isinstance(value, tuple):
            return [self._member(item) for item in value]
        return plain(value)

    def read(self, node: JsonNode) -> Any:
        """Inverse of :meth:`write`; raises InvalidInput with the path of what is wrong."""
        members = node.members()
        if "kind" not in members:
            node.complain("has no kind")
        word = members.pop("kind").text()
        if word not in self.classes:
            node.complain(f"no kind {word[:_LONGEST]!r}{_nearest(word, self.classes)}")
        made = self.classes[word]
        hints = get_type_hints(made)
        known = {each.name: each for each in fields(made) if each.init}
        for name, member in members.items():
            if name not in known:
                member.complain(f"{word} has no such member{_nearest(name, known)}")
        for name, each in known.items():
            if name not in members and each.default is MISSING:
                node.complain(f"{word} needs a {name}")
        values = {name: self._reader(hints[name])(member) for name, member in members.items()}
        try:
            value = made(**values)
            self.check(value)
        except InvalidInput as error:
            node.complain(str(error))
        return value

    def _reader(self, hint: Any) -> Read:
        inner = get_args(hint) or (hint,)
        if all(isinstance(each, type) and issubclass(each, self.base) for each in inner):
            return self.read
        if hint == GenericAlias(tuple, (self.base, ...)):
            return lambda node: tuple(self.read(item) for item in node.items())
        return self.readers[hint] if hint in self.readers else _READERS[hint]


def _nearest(word: str, known: Mapping[str, object]) -> str:
    near = get_close_matches(word[:_LONGEST], known, n=3, cutoff=0.4) or list(known)
    return f"; there is {', '.join(near)}" if near else ""


def written(name: str, content: Mapping[str, Any]) -> str:
    """The document of that name as one line of JSON."""
    envelope = {"dpcompose": name, "version": VERSION, **content}
    return json.dumps(envelope, allow_nan=False)


def members_of(text: str, name: str, needs: tuple[str, ...]) -> dict[str, JsonNode]:
    """The members of a document, which must include ``needs``; inverse of :func:`written`."""
    from simulator.foundations.strangers import from_json  # only where a document is read

    node = JsonNode(from_json(text, name), name)
    members = node.members()
    if "dpcompose" not in members or members.pop("dpcompose").value != name:
        node.complain(f'is not a document of dpcompose: it has no "dpcompose": "{name}"')
    version = members.pop("version").value if "version" in members else None
    if type(version) is not int or version != VERSION:  # true equals 1
        node.complain(f"has version {_shown(version)}, where this program reads {VERSION}")
    for need in needs:
        if need not in members:
            node.complain(f"has no {need}")
    return {key: JsonNode(found.value, key) for key, found in members.items()}
