"""Results that an interpreter shows on one line, and a notebook as a table."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


class ShownByFacts:
    """A result with ``facts``: texts by name.

    A dataclass keeps this one's ``repr`` by ``@dataclass(repr=False)``.
    """

    def facts(self) -> Mapping[str, str]:
        """What is shown, by name."""
        raise NotImplementedError

    def in_notebook(self) -> Mapping[str, str]:
        """What a notebook shows, which has more room."""
        return self.facts()

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self.facts().items())
        return f"<{type(self).__name__}: {facts}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.in_notebook().items()
        )
        return f"<table><tbody>{cells}</tbody></table>"
