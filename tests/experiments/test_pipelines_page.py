"""results/pipelines.md and .json: what is found, and that the page is made from the rows."""

import json

from experiments import stages
from experiments.pipelines.__main__ import CASES, to_markdown
from experiments.pipelines.case import PAPER
from experiments.results.records import unstamped

PAGE = stages.ROOT / "results" / "pipelines.md"
ROWS = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))["cases"]


def test_the_page_is_that_of_the_rows():
    assert to_markdown(ROWS) == unstamped(PAGE.read_text(encoding="utf-8"))
    assert [row["pipeline"] for row in ROWS] == [case.name for case in CASES]


def test_published_violations_are_found_and_no_control_is_blamed():
    found = {row["defect"] for row in ROWS if PAPER in row["source"] and row["as_published"]}
    assert len(found) >= 5
    assert {row["control"] for row in ROWS if "control" in row} == {"kept"}
