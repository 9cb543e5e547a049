"""The theorems behind certified numbers: one file each, with its code and what tried to break it.

``NAME.md`` has a title, one sentence, and the sections Statement, Conditions, Proof or Source,
Behind (names of rows, filters, mechanisms and commands), Code, and What has tried to break it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cache
from pathlib import Path

from simulator.foundations.strangers import read_text

FOLDER = Path(__file__).parent
"""Where the files are."""
PLACE = "simulator/theory/lemmas"

_QUOTED = re.compile(r"`([^`\s]+)`")


@dataclass(frozen=True)
class Lemma:
    """One theorem.

    Attributes
    ----------
    name : of its file, without the ending.
    title, sentence : the first two paragraphs.
    behind : names of the rows, filters, mechanisms, events and commands that rest on it.
    code, checks : files of the project that use it, and that tried to break it.
    text : the whole file.
    """

    name: str
    _: KW_ONLY
    title: str
    sentence: str
    behind: tuple[str, ...]
    code: tuple[str, ...]
    checks: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """The path of its file in the project."""
        return f"{PLACE}/{self.name}.md"


@cache
def all_lemmas() -> tuple[Lemma, ...]:
    """Every lemma, by name.

    >>> from simulator.theory.lemmas import all_lemmas
    >>> "dominating-pairs" in [lemma.name for lemma in all_lemmas()]
    True
    """
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.md")))


def lemmas_behind(names: Iterable[str]) -> list[tuple[Lemma, list[str]]]:
    """The lemmas behind any of the names, each with those names; in the order of the names.

    >>> from simulator.theory.lemmas import lemmas_behind
    >>> [(lemma.name, names) for lemma, names in lemmas_behind(["basic"])]
    [('basic-composition', ['basic'])]
    """
    found: dict[str, tuple[Lemma, list[str]]] = {}
    for name in dict.fromkeys(names):
        for lemma in all_lemmas():
            if name in lemma.behind:
                found.setdefault(lemma.name, (lemma, []))[1].append(name)
    return list(found.values())


def _read(path: Path) -> Lemma:
    text = read_text(path)
    first, *sections = re.split(r"^## (.+)\n", text, flags=re.M)
    by_heading = dict(zip(sections[::2], sections[1::2]))
    title, _, sentence = first.removeprefix("# ").partition("\n")
    files = {
        heading: tuple(each for each in _QUOTED.findall(by_heading[heading]) if "/" in each)
        for heading in ("Code", "What has tried to break it")
    }
    return Lemma(
        path.stem,
        title=title.strip(),
        sentence=" ".join(sentence.split()),
        behind=tuple(_QUOTED.findall(by_heading["Behind"])),
        code=files["Code"],
        checks=files["What has tried to break it"],
        text=text,
    )
