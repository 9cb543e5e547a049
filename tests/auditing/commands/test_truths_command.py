"""``dpcompose truths``: questions printed, filled in and scored."""

import csv
import io

import pytest

from simulator.auditing.truths import documents


@pytest.fixture(scope="module")
def rows():
    return documents.rows()


def test_the_questions_can_be_filled_in_and_scored(dpcompose, tmp_path, rows):
    said = dpcompose("truths", "--csv")
    assert said.code == 0
    lines = list(csv.DictReader(io.StringIO(said.out)))
    assert [line["id"] for line in lines] == [row.name for row in rows]
    upper = {row.name: row.truth.upper for row in rows}
    path = tmp_path / "claims.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "value"])
        writer.writerows([line["id"], upper[line["id"]]] for line in lines[:100])
        writer.writerow([lines[100]["id"], 0.5 * rows[100].truth.lower])
    said = dpcompose("truths", "--check", path)
    assert said.code == 1
    assert said.out.startswith(f"unsound: {lines[100]['id']}")
    assert "101 claims: 100 sound, 1 unsound" in said.out
    found = dpcompose("truths", "--check", path, "--json")
    assert (found.code, found.json["counts"]["unsound"], found.json["sound"]) == (1, 1, False)
    assert dpcompose("truths", "--check", path, "--csv").complaint.startswith("--csv prints")


def test_without_options_it_says_how_many(dpcompose):
    said = dpcompose("truths")
    assert said.code == 0
    assert "questions about compositions, 200 about games" in said.out
    assert dpcompose("truths", "--json").json["questions"] > 4000
