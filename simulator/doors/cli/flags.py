"""From the library's messages, which name Python arguments, to the flags of the command line."""

from __future__ import annotations

import re

FLAGS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "confidence",
        "delta",
        "epsilon",
        "experiment",
        "false_alarm",
        "family",
        "filter",
        "jobs",
        "keep",
        "length",
        "method",
        "out",
        "part",
        "relation",
        "rounds",
        "samples",
        "seconds",
        "seed",
        "source",
        "theta",
        "time_limit",
        "tolerance",
        "trials",
    )
}
"""Arguments of the library that are options of some command."""
FLAGS["keep_views"] = "--views"

_ARGUMENT = re.compile(
    r"(?<![\w.-])(?P<name>" + "|".join(FLAGS) + r")="
    r'(?:"(?P<word>[\w-]+)"(?P<others>(?:(?:, | or )"[\w-]+")*)|(?P<number>-?\d[\w.+-]*)?)'
)
_NAME = re.compile(
    r"(?<![\w./'\"-])(?:"
    + "|".join(name for name in FLAGS if "_" in name)
    + r")(?![\w=/'\"-]|\.\w)"
)
"""A name that is no English word, where it stands alone: in no path, and not quoted."""


def with_flags(message: str) -> str:
    """The message with ``method="doob"`` as ``--method doob`` and ``trials=`` as ``--trials``.

    A name that is no English word needs no sign of equality: ``keep_views must be at least 0``
    begins with ``--views``. What else stands in parentheses is quoted Python, as
    ``Laplace(query, epsilon=0.1)``: it stays.
    """

    def replaced(found: re.Match[str]) -> str:
        before = message[: found.start()]
        if before.count("(") > before.count(")"):
            return found[0]
        value = found["word"] or found["number"] or ""
        others = (found["others"] or "").replace('"', "")
        return f"{FLAGS[found['name']]} {value}{others}".rstrip()

    return _NAME.sub(lambda found: FLAGS[found[0]], _ARGUMENT.sub(replaced, message))
