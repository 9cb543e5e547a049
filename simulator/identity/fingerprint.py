"""Tell two adversaries apart by what they are made of, not by where they live in memory.

Whatever plays a part in a result is taken apart into code, the values that its functions close
over and look up, the classes of its objects, the names of the user's modules that it reaches, the
fields of mechanisms and the records of databases, down to plain values. Installed code stands for
itself by its name and version.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from simulator.identity.components import Anatomy, Namespace, Note
from simulator.identity.values import plain, take_apart

_DIGITS = 32


@dataclass(frozen=True)
class Fingerprint:
    """What some values are made of at one moment, in short.

    Attributes
    ----------
    parts : (name, digest) of each value: equal digests where they are made of the same things,
        across processes and machines with one version of Python.
    not_covered : what they reach that no digest holds, such as a file that is opened in play.
    """

    parts: tuple[tuple[str, str], ...]
    not_covered: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """One digest of all parts."""
        return _digest(repr(self.parts))[:_DIGITS]


def fingerprint(walk: Walk | None = None, **values: Any) -> Fingerprint:
    """Return the fingerprint of named values as they are now; ``walk`` is a new one to take it."""
    walk = walk or Walk()
    parts = tuple((name, walk.words(value, name)) for name, value in values.items())
    return Fingerprint(parts, tuple(sorted(walk.not_covered)))


class _Open:
    """A value whose children are being put into words."""

    def __init__(self, value: Any, place: str, parts: Anatomy) -> None:
        self.value = value
        self.place = place
        self.parts = parts
        self.words: list[tuple[str, str]] = []


class Walk:
    """Puts values into words, equal ones into equal words, however deep they are and in rings."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, str]] = {}  # with the value, so that its id stays its own
        self.not_covered: set[str] = set()

    def words(self, value: Any, place: str = "") -> str:
        """A plain value itself, or the digest of all that a value is made of."""
        result = self._known_words(value)
        if result is not None:
            return result
        stack = [self._opened(value, place)]
        depth = {_key(value): 0}
        while True:
            top = stack[-1]
            if len(top.words) < len(top.parts.children):
                tag, child = top.parts.children[len(top.words)]
                words = self._known_words(child)
                if words is None and _key(child) in depth:
                    words = f"ring {len(stack) - depth[_key(child)]}"
                if words is None:
                    depth[_key(child)] = len(stack)
                    stack.append(self._opened(child, f"{top.place}.{tag}" if tag else top.place))
                else:
                    top.words.append((tag, words))
                continue
            inner = top.words if top.parts.ordered else sorted(top.words)
            words = f"#{_digest(repr((top.parts.label, inner)))[:_DIGITS]}"
            self.known[_key(top.value)] = top.value, words
            del depth[_key(top.value)]
            stack.pop()
            if not stack:
                return words
            stack[-1].words.append((stack[-1].parts.children[len(stack[-1].words)][0], words))

    def _known_words(self, value: Any) -> str | None:
        if (words := plain(value)) is not None:
            return words if len(words) <= _DIGITS else f"#{_digest(words)[:_DIGITS]}"
        known = self.known.get(_key(value))
        return known[1] if known else None

    def _opened(self, value: Any, place: str) -> _Open:
        def note(reason: str) -> None:
            self.not_covered.add(f"{_short(place)}: {reason}")

        return _Open(value, place, self.apart(value, note))

    def apart(self, value: Any, note: Note) -> Anatomy:
        """The parts of a value; another walk may look deeper."""
        return take_apart(value, note)


def _key(value: Any) -> int:
    return id(value.names) + 1 if isinstance(value, Namespace) else id(value)


def _short(place: str) -> str:
    """The outermost and the innermost steps of a place."""
    steps = place.split(".")
    return place if len(steps) <= 4 else ".".join([steps[0], "…", *steps[-2:]])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
