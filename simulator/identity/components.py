"""What a value is once it is taken apart: a label, and the values that it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Note = Callable[[str], None]
"""Writes down that something reachable is not covered."""

Children = list[tuple[str, Any]]
"""The values that a value is made of, each with the name under which it stands there."""


@dataclass(frozen=True)
class Anatomy:
    """A value taken apart.

    Attributes
    ----------
    label : what it is by itself.
    children : what it is made of.
    ordered : whether their order counts.
    """

    label: str
    children: Children
    ordered: bool = True


class Namespace:
    """All names of a user's module."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
