"""Numbers on the command line."""

from __future__ import annotations

from typing import Any

import click


class Numeral(click.ParamType):
    """A number as click reads it, without underscores: Python would read 0_2 as 2."""

    def __init__(self, type_: click.ParamType) -> None:
        self.type_ = type_
        self.name = type_.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail with one line."""
        if isinstance(value, str) and "_" in value:
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return self.type_.convert(value, param, ctx)
