"""results/worst/attacks.md: made of its data; every program in it runs and plays what it says."""

import pytest

from experiments import attacks
from experiments.results.records import unstamped
from experiments.stages import RESULTS
from simulator.adversaries.loading import from_file

ROWS = attacks.stored_rows()
PROGRAMS = sorted((RESULTS / "worst" / "programs").glob("*.py"))


def test_the_table_of_the_page_is_that_of_its_data():
    page = unstamped((RESULTS / "worst" / "attacks.md").read_text(encoding="utf-8"))
    assert page.split("## ")[0].strip() == attacks.table(ROWS).strip()


def test_what_is_known_to_be_broken_is_broken_and_nothing_sound_is():
    undecided = {"whitehouse filter", "residue filter"}
    assert {row.name for row in ROWS if row.verdict == "undecided"} == undecided
    assert {row.verdict for row in ROWS} == {"broken", "undecided"}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_sends_challenges(path):
    playing = from_file(str(path), "adversary", "adversary")(None)
    assert len(next(playing)) == 3
    body = path.read_text().partition("def adversary(coins):")[2]
    assert len(body.splitlines()) < 40
