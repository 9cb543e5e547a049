"""The pages of the lemmas: one for each, and a table of what rests on it."""

from __future__ import annotations

from pathlib import Path

from simulator.theory.lemmas import all_lemmas

_INTRODUCTION = """# Lemmas

Each theorem that a certified number rests on stands once: its statement with its conditions, its
proof or its source, the code that uses it, and the tests that have tried to break it.
`dpcompose bounds ... --why` names those behind each row of a table.

A proof that is cited and not written out is said to be. None is checked by a machine: that would
need Lean 4 with Mathlib, which PyPI, npm and Debian 12 do not have (what they have fetches the
toolchain from elsewhere). The shortest to begin with, beside SampCert's laws of discrete noise,
would be [randomized response](response-is-worst.md) for finite laws: two sums that are not
negative and have mass 1, and one channel.
"""


def write(source: Path) -> None:
    """Write the page of every lemma, and their table, below ``source``."""
    folder = source / "lemmas"
    folder.mkdir(parents=True)
    for lemma in all_lemmas():
        (folder / f"{lemma.name}.md").write_text(lemma.text, encoding="utf-8")
    (folder / "index.md").write_text(index(), encoding="utf-8")


def index() -> str:
    """The table of all lemmas, with the table of contents."""
    rows = [
        f"| [{lemma.title}]({lemma.name}.md) | {lemma.sentence} | "
        f"{', '.join(f'`{name}`' for name in lemma.behind)} |"
        for lemma in all_lemmas()
    ]
    names = "\n".join(lemma.name for lemma in all_lemmas())
    return "\n".join([
        _INTRODUCTION, "| lemma | in a sentence | behind |", "|---|---|---|", *rows, "",
        f"```{{toctree}}\n:hidden:\n\n{names}\n```", "",
    ])  # fmt: skip
