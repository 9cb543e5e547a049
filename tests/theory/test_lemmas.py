"""Each lemma is a file: complete, its files are there, and every row and filter has one."""

import re
from pathlib import Path

import pytest

import simulator
from simulator.doors.cli import COMMANDS
from simulator.foundations.extensions import added
from simulator.theory.bounds.comparison import TRUTH
from simulator.theory.bounds.registry import all_bounds
from simulator.theory.events.named import mechanism_names
from simulator.theory.filters.named import BY_NAME, filter_class, filter_names
from simulator.theory.lemmas import FOLDER, PLACE, Lemma, all_lemmas, lemmas_behind

ROOT = Path(simulator.__file__).parent.parent
SECTIONS = {"Statement", "Conditions", "Behind", "Code", "What has tried to break it"}
OF_TRAINING = ("subset-test", "bands", "either-direction", "removal", "addition", "public-bin")
"""Rows of the training shelf."""

ROWS = [bound.name for bound in all_bounds() if type(bound).__module__.startswith("simulator.")]
ROWS += [TRUTH, *OF_TRAINING]


def known_names():
    """What a number may be of: rows, filters, mechanisms, events, families, commands, laws."""
    events = {"sampled-sum"}
    families = {"range", "dominated", "subsampled", "staircase"}
    rows = {*ROWS, *mechanism_names(), *filter_names(), *events, *families}
    return rows | {*COMMANDS, *added("commands"), "ShuffledBlanket"}


def faults(lemma: Lemma) -> list[str]:
    """What is wrong with the file, in words."""
    headings = set(re.findall(r"^## (.+)$", lemma.text, re.M))
    found = [f"no section {each}" for each in sorted(SECTIONS - headings)]
    if not headings & {"Proof", "Source"} or len(lemma.text.split()) < 60:
        found.append("neither a proof nor a source")
    if not lemma.sentence.endswith("."):
        found.append("no sentence below the title")
    found += [
        f"no file {name}" for name in (*lemma.code, *lemma.checks) if not (ROOT / name).is_file()
    ]
    found += [f"no {kind}" for kind in ("code", "checks", "behind") if not getattr(lemma, kind)]
    found += [f"no test {each}" for each in lemma.checks if not each.startswith("tests/")]
    found += [f"nothing is named {each}" for each in lemma.behind if each not in known_names()]
    links = re.findall(r"\]\(([^)]+)\)", lemma.text)
    return found + [f"no lemma {link}" for link in links if not (FOLDER / link).is_file()]


@pytest.mark.parametrize("lemma", all_lemmas(), ids=lambda lemma: lemma.name)
def test_a_lemma_is_complete_and_its_files_are_there(lemma):
    assert faults(lemma) == []


def test_faults_are_found():
    broken = Lemma(
        "broken", title="T", sentence="none", behind=("nothing-at-all",), code=("simulator/no.py",),
        checks=(), text="# T\n\nnone\n\n## Statement\n\n[x](other.md)\n",
    )  # fmt: skip
    found = faults(broken)
    for fault in (
        "no section Behind", "neither a proof nor a source", "no sentence below the title",
        "no file simulator/no.py", "no checks", "nothing is named nothing-at-all",
        "no lemma other.md",
    ):  # fmt: skip
        assert fault in found


@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_bounds_has_a_lemma(row):
    assert lemmas_behind([row])


def test_every_proved_filter_has_a_lemma():
    for name in BY_NAME:
        if filter_class(name).proved:
            assert lemmas_behind([name]), name


def test_every_file_that_names_a_lemma_names_one_that_exists_and_is_used_by_it():
    """A docstring says where its proof is; the lemma names that file."""
    by_name = {lemma.name: lemma for lemma in all_lemmas()}
    named = 0
    for path in ROOT.joinpath("simulator").rglob("*.py"):
        for name in re.findall(rf"{PLACE}/([\w-]+)\.md", path.read_text(encoding="utf-8")):
            named += 1
            assert name in by_name, path
            assert str(path.relative_to(ROOT)) in by_name[name].code, path
    assert named >= 8
