"""``b-min-sep`` in the command ``bounds``."""

import pytest

TEXT = "b-min-sep:sigma=1,rate=0.2,apart=3,rounds=6"


def test_the_table_has_both_ends(dpcompose):
    said = dpcompose("bounds", TEXT, "--delta", 1e-3, "--json")
    assert (said.code, said.err) == (0, "")
    found = {row["name"]: row for row in said.json["bounds"]}
    low, high = found["subset-test"], found["privacy-loss-distribution"]
    assert (low["kind"], high["kind"]) == ("lower", "upper")
    assert low["lower"] < high["upper"] < 1.5 * low["lower"]
    assert "lemma b-min-sep" in high["source"]
    assert high["adversary"] == "the same pair in every round"
    assert high["upper"] < found["analytic-gaussian"]["upper"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,0,3,6", "sampling rate must be between 1e-300 and 1, not 0.0"),
        ("1,0.1,0,6", "apart must be at least 1"),
        ("1,0.1,3", "b-min-sep needs rounds: write b-min-sep:SIGMA,RATE,APART,ROUNDS"),
        ("0,0.1,3,6", "sigma must be a positive number"),
    ],
)
def test_bad_input_has_one_line(dpcompose, text, message):
    assert message in dpcompose("bounds", f"b-min-sep:{text}", "--delta", 1e-3).complaint


def test_a_lower_end_that_cannot_be_had_is_one_line(dpcompose):
    asked = ("--delta", 1e-3, "--bound", "subset-test")
    assert "more than 10000" in dpcompose("bounds", "b-min-sep:1,0.1,3,20000", *asked).complaint
    again = dpcompose("bounds", TEXT, "--rounds", 2, *asked).complaint
    assert "subset-test is of one run of b-min-sep" in again
