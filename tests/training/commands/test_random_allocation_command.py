"""``--mechanism random-allocation`` of the commands ``bounds`` and ``calibrate``."""

import pytest

ONE = ("--mechanism", "random-allocation", "--sigma", 1, "--steps", 20)
TRUTH = "privacy-loss-distribution"


def rows(dpcompose, *options):
    said = dpcompose("bounds", *options, "--json")
    assert (said.code, said.err) == (0, "")
    return {row["name"]: row for row in said.json["bounds"]}


def test_epochs_have_a_narrow_bracket_below_that_of_public_steps(dpcompose):
    found = rows(dpcompose, *ONE, "--epochs", 2, "--delta", 1e-5)
    row = found[TRUTH]
    assert row["kind"] == "fixed-pair"
    assert row["lower"] < row["upper"] < row["lower"] * 1.0001
    assert row["upper"] < found["analytic-gaussian"]["upper"] / 2


def test_several_steps_have_an_upper_end(dpcompose):
    row = rows(dpcompose, *ONE, "--selected", 2, "--epsilon", 1, "--bound", TRUTH)[TRUTH]
    assert (row["kind"], row["lower"]) == ("upper", 0.0)
    assert "Feldman and Shenfeld 2025" in row["source"]
    one = rows(dpcompose, *ONE, "--epsilon", 1, "--bound", TRUTH)[TRUTH]
    assert row["upper"] > one["upper"]


def test_calibration_of_noise_and_of_epochs(dpcompose):
    target = ("--target-epsilon", 2, "--target-delta", 1e-5, "--json")
    steps = ("--mechanism", "random-allocation", "--steps", 20)
    noise = dpcompose("calibrate", *steps, *target, "--digits", 2).json
    assert noise["meets"]["upper"] <= 2.0 < noise["misses"]["lower"]
    assert noise["misses"]["value"] < noise["meets"]["value"]
    epochs = dpcompose("calibrate", *steps, "--sigma", 1.2, *target).json
    assert epochs["parameter"] == "epochs"
    assert epochs["meets"]["value"] + 1 == epochs["misses"]["value"]
    several = dpcompose("calibrate", *steps, "--selected", 2, *target, "--digits", 1).json
    assert several["unknown"]["lower"] == 0.0
    assert several["meets"]["upper"] <= 2.0 < several["unknown"]["upper"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--selected", 21), "a record cannot take part in 21 of 20 steps"),
        (("--selected", 0), "--selected must be at least 1, not 0"),
        (("--steps", 0), "--steps must be at least 1, not 0"),
        (("--steps", 2.5), "'2.5' is not a valid integer"),
        (("--epochs", 0), "--epochs must be at least 1, not 0"),
        (("--sigma", 0), "sigma must be a positive number"),
        (("--sigma", "nan"), "--sigma must be finite, not nan"),
        (("--sigma", "1x6"), "random-allocation takes one --sigma, and --steps"),
        (("--rounds", 6), "takes --sigma, --steps, --selected and --epochs"),
        (("--rate", 0.1), "takes --sigma, --steps, --selected and --epochs"),
        (("--bins", 3), "--bins needs --mechanism matrix-factorisation"),
        (("--mechanism", "laplace"), "--steps needs --mechanism random-allocation"),
    ],
)
def test_bad_input_has_one_line(dpcompose, options, message):
    said = dpcompose("bounds", *ONE, *options)
    assert said.code != 0
    assert message in said.err
    assert said.err.count("\n") == 1


def test_steps_are_needed(dpcompose):
    said = dpcompose("bounds", "--mechanism", "random-allocation", "--sigma", 1)
    assert "takes --steps, the steps of an epoch" in said.err
    both = dpcompose(
        "calibrate", *ONE, "--epochs", 1, "--target-epsilon", 1, "--target-delta", 1e-5
    )
    assert "leave out --sigma or --epochs" in both.err
