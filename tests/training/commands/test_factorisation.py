"""``--mechanism matrix-factorisation`` of the commands ``bounds`` and ``calibrate``."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

from tests.helpers.allocated_steps import allocated

SMALL = ("--mechanism", "matrix-factorisation", "--sigma", 2, "--bins", 3, "--rounds", 6)
QUICK = (*SMALL, "--draws", 2000, "--epsilon", 1)


def rows(dpcompose, *options):
    said = dpcompose("bounds", *options, "--json")
    assert (said.code, said.err) == (0, "")
    return {row["name"]: row for row in said.json["bounds"]}


def test_both_directions_are_estimates_below_that_of_a_public_bin(dpcompose):
    found = rows(dpcompose, *QUICK, "--coefficients", "1,0.5")
    assert list(found) == ["either-direction", "removal", "addition", "public-bin"]
    for name in ("either-direction", "removal", "addition"):
        row = found[name]
        assert row["kind"] == "estimate"
        assert 0.0 < row["lower"] <= row["delta"] <= row["upper"] < found["public-bin"]["upper"]
        assert "2000 draws, 95% for all" in row["source"]
    assert found["public-bin"]["kind"] == "upper"


def test_a_matrix_in_a_file_is_its_coefficients(dpcompose, tmp_path):
    file = tmp_path / "c.npy"
    np.save(file, toeplitz([1, 0.5, 0, 0, 0, 0], np.zeros(6)))
    options = (*QUICK, "--bound", "removal", "--draws", 20_000, "--confidence", 1 - 1e-6)
    by_file = rows(dpcompose, *options, "--matrix", file)["removal"]
    by_band = rows(dpcompose, *options, "--coefficients", "1,0.5")["removal"]
    assert by_file["lower"] <= by_band["upper"]
    assert by_band["lower"] <= by_file["upper"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bins", 7), "--bins must be at most rounds, not 7 of 6"),
        (("--sigma", 0), "--sigma must be above 0, not 0"),
        (("--sigma", "nan"), "--sigma must be finite, not nan"),
        (("--sigma", "1x6"), "matrix-factorisation takes one --sigma, --bins and --rounds"),
        (("--coefficients", "0,1"), "--coefficients must begin with a number above 0"),
        (("--coefficients", "1,-1"), "--coefficients must have no negative entry"),
        (("--coefficients", "1,x"), "'x' is not a valid float"),
        (("--coefficients", "1", "--matrix", "c.npy"), "give --coefficients or --matrix, not both"),
        (("--matrix", "nowhere.npy"), "nowhere.npy: No such file or directory"),
        (("--rate", 0.1), "no other option of rounds"),
        (("--tolerance", 1e-3), "no other option of rounds, --tolerance"),
        (("--draws", 0), "--draws must be at least 1, not 0"),
        (("--confidence", 1), "--confidence must lie strictly between 0 and 1"),
        (("--bound", "basic"), "no bound 'basic' of matrix-factorisation; there are"),
    ],
)
def test_bad_input_is_one_line(dpcompose, options, message):
    assert message in dpcompose("bounds", *QUICK, *options).complaint


def test_files_of_something_else_are_one_line(dpcompose, tmp_path):
    file = tmp_path / "c.npy"
    for array, message in (
        (np.ones((3, 2)), "--matrix must have the shape (6, 6) of the rounds, not (3, 2)"),
        (np.ones((6, 6)), "--matrix must be lower triangular; entry (0, 1) is 1"),
        (np.array(["a"]), "has entries that are not real numbers"),
        (np.array([{}]), "is not an array of numpy"),
    ):
        np.save(file, array, allow_pickle=True)
        assert message in dpcompose("bounds", *QUICK, "--matrix", file).complaint
    file.write_text("1 0\n0 1\n")
    assert "is not an array of numpy" in dpcompose("bounds", *QUICK, "--matrix", file).complaint


def test_other_mechanisms_take_none_of_its_options(dpcompose):
    said = dpcompose("bounds", "--round-epsilon", 0.1, "--rounds", 3, "--bins", 3)
    assert "--bins needs --mechanism matrix-factorisation" in said.complaint


CALIBRATE = ("--mechanism", "matrix-factorisation", "--bins", 3, "--rounds", 6)
TARGET = ("--target-epsilon", 1, "--target-delta", 1e-3, "--digits", 2, "--draws", 5000)


def test_the_calibrated_noise_meets_the_target_of_an_exact_bracket(dpcompose):
    said = dpcompose("calibrate", *CALIBRATE, *TARGET, "--confidence", 1 - 1e-6, "--json")
    assert (said.code, said.err) == (0, "")
    found = said.json
    assert found["parameter"] == "sigma"
    assert found["error"] == pytest.approx(1e-6)
    assert found["meets"]["upper"] <= 1e-3 < found["next"]["upper"]

    def exact(sigma):
        return max(each.delta(1.0).upper for each in allocated(sigma / 2**0.5, 3))

    assert exact(found["meets"]["value"]) <= 1e-3
    assert exact(found["meets"]["value"] * 0.9) > 1e-3


@pytest.mark.nightly
def test_the_table_states_the_probability_of_being_wrong(dpcompose):
    said = dpcompose("calibrate", *CALIBRATE, *TARGET)
    assert "by draws, wrong with probability 0.001 at most" in said.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sigma", 1), "--sigma does not go with --mechanism matrix-factorisation"),
        (("--direction", "any"), "--direction does not go with"),
        (("--target-delta", 0), "target delta must lie strictly between 0 and 1"),
        (("--target-epsilon", 0), "target epsilon must be above 0"),
        (("--bins", 7), "--bins must be at most rounds, not 7 of 6"),
    ],
)
def test_bad_input_of_calibrate_is_one_line(dpcompose, options, message):
    assert message in dpcompose("calibrate", *CALIBRATE, *TARGET, *options).complaint


def test_random_allocation_has_estimates_of_the_exact_law_with_draws(dpcompose):
    options = ("--mechanism", "random-allocation", "--sigma", 1, "--steps", 6, "--selected", 2)
    found = rows(dpcompose, *options, "--epsilon", 1, "--draws", 5000)
    certified, drawn = found["privacy-loss-distribution"], found["either-direction"]
    assert drawn["kind"] == "estimate"
    assert drawn["lower"] <= certified["upper"]
    assert "either-direction" not in rows(dpcompose, *options, "--epsilon", 1)
    for more, message in (
        (("--draws", 10, "--epochs", 2), "--draws are of one epoch: leave out --epochs"),
        (("--seed", 1), "--seed needs --mechanism matrix-factorisation"),
        (("--draws", 10, "--bins", 2), "--bins needs --mechanism matrix-factorisation"),
        (("--draws", 10, "--selected", 7), "7"),
    ):
        assert message in dpcompose("bounds", *options, "--epsilon", 1, *more).complaint
