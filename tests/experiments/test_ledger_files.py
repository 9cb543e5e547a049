"""``make claims``: what is committed is of the present claims, and reads as a page."""

import json
from itertools import pairwise

import pytest

from experiments import ledger
from experiments.results.records import unstamped
from experiments.stages import RESULTS
from simulator.teaching import claims

COMMITTED = json.loads((RESULTS / "claims.json").read_text(encoding="utf-8"))
PAGE = unstamped((RESULTS / "claims.md").read_text(encoding="utf-8"))


def test_committed_files_hold_every_claim_once_as_it_is_stated():
    recorded = [(claim.id, claim.statement, str(claim.expected)) for claim in claims.all_claims()]
    assert [(e["id"], e["statement"], e["verdict"]) for e in COMMITTED] == recorded


@pytest.mark.parametrize("id", ["zhang2020-bob", "roth2011-lemma-7", "chapter5-lemma-1-7"])
def test_checking_again_gives_what_is_committed(id):
    (found,) = json.loads(claims.to_json(claims.run([claims.find(id)])))
    assert found == next(entry for entry in COMMITTED if entry["id"] == id)


def test_the_page_has_one_line_a_claim_and_those_that_fail_first():
    tables = PAGE[PAGE.index("## Roth 2011") :]
    rows = [line for line in tables.splitlines() if line.startswith("| ")]
    verdicts = {e["id"]: e["verdict"] for e in COMMITTED}
    listed = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert sorted(id for id in listed if id in verdicts) == sorted(verdicts)
    for section in tables.split("\n## "):
        inside = [verdicts[id] for id in (r.split(" | ")[0][2:] for r in section.splitlines())
                  if id in verdicts]  # fmt: skip
        failing = [verdict == "fails as printed" for verdict in inside]
        assert failing == sorted(failing, reverse=True)


def test_every_row_has_the_columns_of_its_table():
    columns = 0
    for line in PAGE.splitlines():
        if line.startswith("|---"):
            columns = line.count("|")
        elif line.startswith("| ") and not line.startswith("| claim "):
            assert line.replace("\\|", "").count("|") == columns, line


@pytest.mark.nightly
def test_equal_results_make_equal_files(tmp_path):
    chosen = claims.all_claims("composition-note")
    first = [path.read_bytes() for path in ledger.write(claims.run(chosen), tmp_path / "a")]
    assert first == [path.read_bytes() for path in ledger.write(claims.run(chosen), tmp_path / "b")]


def test_kinds_of_complaints_are_told_apart():
    headings = ["## Found wrong", "## False in one reading", "## Slips", "## As transcribed"]
    places = [PAGE.index(heading) for heading in [*headings, "## Roth 2011"]]
    assert places == sorted(places)
    sections = [PAGE[start:end] for start, end in pairwise(places)]
    for id, section in {
        "zhang2020-bob": 0,
        "zhang2020-subset-of-edges": 1,
        "chapter5-reference-to-theorem": 2,
        "group-notes-small-epsilon": 3,
    }.items():
        assert [f"| {id} |" in text for text in sections] == [i == section for i in range(4)]
