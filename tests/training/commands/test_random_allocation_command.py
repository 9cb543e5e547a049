"""``random-allocation`` in the commands ``bounds`` and ``calibrate``."""

import pytest

ONE = "random-allocation:sigma=1,steps=20"
TRUTH = "privacy-loss-distribution"


def rows(dpcompose, *options):
    said = dpcompose("bounds", *options, "--json")
    assert (said.code, said.err) == (0, "")
    return {row["name"]: row for row in said.json["bounds"]}


def test_epochs_have_a_narrow_bracket_below_that_of_public_steps(dpcompose):
    found = rows(dpcompose, f"{ONE},epochs=2", "--delta", 1e-5)
    row = found[TRUTH]
    assert row["kind"] == "fixed-pair"
    assert row["lower"] < row["upper"] < row["lower"] * 1.0001
    assert row["upper"] < found["analytic-gaussian"]["upper"] / 2


@pytest.mark.nightly
def test_several_steps_have_an_upper_end(dpcompose):
    row = rows(dpcompose, f"{ONE},selected=2", "--epsilon", 1, "--bound", TRUTH)[TRUTH]
    assert (row["kind"], row["lower"]) == ("upper", 0.0)
    assert "Feldman and Shenfeld 2025" in row["source"]
    one = rows(dpcompose, ONE, "--epsilon", 1, "--bound", TRUTH)[TRUTH]
    assert row["upper"] > one["upper"]


@pytest.mark.nightly
def test_calibration_of_noise_and_of_epochs(dpcompose):
    target = ("--target-epsilon", 2, "--target-delta", 1e-5, "--json")
    steps = "random-allocation:steps=20"
    noise = dpcompose("calibrate", steps, *target, "--digits", 2).json
    assert noise["meets"]["upper"] <= 2.0 < noise["misses"]["lower"]
    assert noise["misses"]["value"] < noise["meets"]["value"]
    epochs = dpcompose("calibrate", "random-allocation:1.2,20", *target).json
    assert epochs["parameter"] == "rounds"
    assert epochs["meets"]["value"] + 1 == epochs["misses"]["value"]
    several = dpcompose("calibrate", f"{steps},selected=2", *target, "--digits", 1).json
    assert several["unknown"]["lower"] == 0.0
    assert several["meets"]["upper"] <= 2.0 < several["unknown"]["upper"]


def test_rounds_are_epochs(dpcompose):
    options = ("--delta", 1e-5, "--bound", TRUTH)
    two = rows(dpcompose, f"{ONE},epochs=2", *options)[TRUTH]
    for text, times in ((f"{ONE}*2", ()), (ONE, ("--rounds", 2))):
        found = rows(dpcompose, text, *options, *times)[TRUTH]
        assert (found["lower"], found["upper"]) == (two["lower"], two["upper"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,20,21", "random-allocation:1,20,21: a record cannot take part in 21 of 20 steps"),
        ("1,20,0", "selected must be at least 1, not 0"),
        ("1,0", "steps must be at least 1, not 0"),
        ("1,2.5", "steps must be a whole number, not '2.5'"),
        ("1,20,epochs=0", "epochs must be at least 1, not 0"),
        ("0,20", "sigma must be a positive number"),
        ("nan,20", "sigma must be finite, not nan"),
        ("1", "random-allocation needs steps: write random-allocation:SIGMA,STEPS[,selected=1]"),
        ("1,20,rate=0.1", "random-allocation has no parameter 'rate'"),
    ],
)
def test_bad_input_has_one_line(dpcompose, text, message):
    assert message in dpcompose("bounds", f"random-allocation:{text}").complaint


def test_nothing_is_left_out(dpcompose):
    options = ("--rounds", 1, "--target-epsilon", 1, "--target-delta", 1e-5)
    said = dpcompose("calibrate", "random-allocation:1,20", *options)
    assert "nothing is left out to be calibrated" in said.complaint


@pytest.mark.nightly
def test_the_table_has_a_lower_end_of_several_steps(dpcompose):
    mechanism = "random-allocation:sigma=1,steps=100,selected=3"
    said = dpcompose("bounds", mechanism, "--delta", 1e-5, "--bound", "subset-test", "--json")
    (row,) = said.json["bounds"]
    assert (row["kind"], 1.7 < row["lower"] < 1.77) == ("lower", True)
    refused = dpcompose(
        "bounds", f"{mechanism},epochs=2", "--delta", 1e-5, "--bound", "subset-test"
    )
    assert "subset-test" in refused.complaint


def test_a_lower_end_that_cannot_be_had_is_one_line(dpcompose):
    asked = ("--delta", 1e-5, "--bound", "subset-test")
    for text, why in (
        ("steps=100,selected=3,epochs=2", "subset-test is of several steps of one epoch"),
        ("steps=100", "subset-test is of several steps of one epoch"),
        ("steps=20000,selected=2", "more than 10000 steps are not tested"),
    ):
        assert why in dpcompose("bounds", f"random-allocation:sigma=1,{text}", *asked).complaint
