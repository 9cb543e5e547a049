"""How a number on the command line is written."""

from __future__ import annotations

from typing import Any

import click


class Numeral(click.ParamType):
    """A number as click reads it, but for 0_2: Python reads that as 2."""

    def __init__(self, type_: click.ParamType) -> None:
        self.type_ = type_
        self.name = type_.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it, or fail with one line."""
        if isinstance(value, str) and "_" in value:
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return self.type_.convert(value, param, ctx)
