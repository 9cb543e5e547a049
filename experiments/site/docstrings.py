"""Docstrings as this project writes them, in reStructuredText.

Sections are numpydoc's, but what follows ``name :`` is prose and not a type; and prose holds
formulas in plain text, such as ``|X_i|``, which mark up nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MARKED_UP = re.compile(r"(``.+?``|:[\w:]+:`[^`]+`|`[^`]+`_{0,2})")
ENTRY = re.compile(r"^(?P<names>[\w*., ()\[\]]+?) : (?P<text>.*)$")


def as_restructured_text(lines: Sequence[str]) -> list[str]:
    """The lines with sections as definition lists, and nothing marked up by accident."""
    made: list[str] = []
    section = literal = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", line.strip()) and number:
            section = True
            made.extend(["", ""])
            continue
        if re.fullmatch(r"-{3,}", following.strip()) and line.strip():
            made.append(f".. rubric:: {line.strip()}")
            continue
        if line.strip() and not line.startswith(" "):
            literal = False
        if literal:
            made.append(line)
            continue
        entry = ENTRY.match(line)
        if section and entry:
            made.extend(["", f"``{entry['names']}``", f"    {escaped(entry['text'])}"])
        elif section and line.startswith(" "):
            made.append(f"    {escaped(line.strip())}")
        else:
            section = section and not line.strip()
            if section is False and line.strip() and made and made[-1].startswith("    "):
                made.append("")
            made.append(escaped(line))
        literal = literal or line.rstrip().endswith("::")
    return [*made, ""]


def escaped(text: str) -> str:
    """A line of prose in which only literals and roles are marked up."""
    pieces = MARKED_UP.split(text)
    return "".join(
        piece if place % 2 else re.sub(r"[*|`]|_(?!\w)", r"\\\g<0>", piece)
        for place, piece in enumerate(pieces)
    )


def as_markdown(text: str) -> str:
    """Prose of a docstring in Markdown: literals stay, all else is escaped."""
    pieces = re.split(r"``(.+?)``|:\w+:`([^`]+)`", text)
    made = []
    for place, piece in enumerate(pieces):
        if piece is not None:
            made.append(plain(piece) if place % 3 == 0 else f"`{piece.lstrip('~')}`")
    return "".join(made)


def plain(text: str) -> str:
    """Any text in Markdown, as it stands."""
    return re.sub(r"[\\`*_{}\[\]<>#|$~^!&+-]", r"\\\g<0>", text)


def sentence(words: str) -> str:
    """The words with a capital and a full stop."""
    return words[:1].upper() + words[1:].rstrip(".") + "."
