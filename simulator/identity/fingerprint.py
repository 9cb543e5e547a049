"""Digests of values and functions: equal where they are made of the same things.

Whatever plays a part in a result is taken apart into code, the values that its functions close
over and look up, the classes of its objects, the names of the user's modules that it reaches, the
fields of mechanisms and the records of databases, down to plain values. Installed code stands for
itself by its name and version.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from simulator.identity.anatomy import BY_ADDRESS, BY_HASH, Anatomy, plain, take_apart

FORMAT = 3
"""Raised when the same things get other digests than before: see Specification.identity."""
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
        return _digest(repr(self.parts))

    @property
    def by_hash(self) -> tuple[str, ...]:
        """Of what is not covered what may be otherwise in a process that hashes texts otherwise."""
        return tuple(line for line in self.not_covered if line.endswith(BY_HASH))

    @property
    def by_address(self) -> tuple[str, ...]:
        """Of what is not covered what may be otherwise in every process."""
        return tuple(line for line in self.not_covered if line.endswith(BY_ADDRESS))


def fingerprint(walk: Walk | None = None, **values: Any) -> Fingerprint:
    """Return the fingerprint of named values as they are now; ``walk`` is a new one to take it."""
    walk = walk or Walk()
    parts = tuple((name, walk.digest(value, name)) for name, value in values.items())
    return Fingerprint(parts, tuple(sorted(walk.not_covered)))


def same(one: Any, other: Any) -> bool:
    """Whether two values are made of the same things; NaN is the same as NaN."""
    return one is other or Walk().digest(one) == Walk().digest(other)


class _Open:
    """A value whose children are being digested."""

    def __init__(self, value: Any, place: str, parts: Anatomy) -> None:
        self.value = value
        self.place = place
        self.parts = parts
        self.digests: list[tuple[str, str]] = []


class Walk:
    """Digests values, equal ones alike, however deep they are and in rings.

    Attributes
    ----------
    inside : whether functions of this package are taken apart, as those of the user are.
    known : by its id each value that was taken apart, kept so that its id stays its own, and its
        digest.
    not_covered : what was met that no digest holds, and where.
    """

    def __init__(self, inside: bool = False) -> None:
        self.inside = inside
        self.known: dict[int, tuple[Any, str]] = {}
        self.not_covered: set[str] = set()

    def digest(self, value: Any, place: str = "") -> str:
        """A short plain value itself, or the digest of all that a value is made of."""
        result = self._known(value)
        if result is not None:
            return result
        stack = [self._opened(value, place)]
        depth = {id(value): 0}
        while True:
            top = stack[-1]
            if len(top.digests) < len(top.parts.children):
                tag, child = top.parts.children[len(top.digests)]
                found = self._known(child)
                if found is None and id(child) in depth:
                    found = f"ring {len(stack) - depth[id(child)]}"
                if found is None:
                    depth[id(child)] = len(stack)
                    stack.append(self._opened(child, f"{top.place}.{tag}" if tag else top.place))
                else:
                    top.digests.append((tag, found))
                continue
            inner = top.digests if top.parts.ordered else sorted(top.digests)
            found = f"#{_digest(repr((top.parts.label, inner)))}"
            self.known[id(top.value)] = top.value, found
            del depth[id(top.value)]
            stack.pop()
            if not stack:
                return found
            above = stack[-1]
            above.digests.append((above.parts.children[len(above.digests)][0], found))

    def _known(self, value: Any) -> str | None:
        if (words := plain(value)) is not None:
            return words if len(words) <= _DIGITS else f"#{_digest(words)}"
        known = self.known.get(id(value))
        return known[1] if known else None

    def _opened(self, value: Any, place: str) -> _Open:
        def note(reason: str) -> None:
            self.not_covered.add(f"{_short(place)}: {reason}")

        return _Open(value, place, take_apart(value, note, self.inside))


def _short(place: str) -> str:
    """The outermost and the innermost steps of a place."""
    steps = place.split(".")
    return place if len(steps) <= 4 else ".".join([steps[0], "…", *steps[-2:]])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
