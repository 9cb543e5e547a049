"""``matrix-factorisation`` in the commands ``bounds`` and ``calibrate``."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

from tests.helpers.allocated_steps import allocated

QUICK = "matrix-factorisation:2,3,6,draws=2000"


def rows(dpcompose, mechanism, *options):
    said = dpcompose("bounds", mechanism, "--epsilon", 1, *options, "--json")
    assert (said.code, said.err) == (0, "")
    return {row["name"]: row for row in said.json["bounds"]}


def test_both_directions_are_estimates_below_that_of_a_public_bin(dpcompose):
    found = rows(dpcompose, f"{QUICK},coefficients=1,0.5")
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
    drawn = f"matrix-factorisation:2,3,6,draws=5000,confidence={1 - 1e-6!r}"
    by_file = rows(dpcompose, f"{drawn},matrix={file}", "--bound", "removal")["removal"]
    by_band = rows(dpcompose, f"{drawn},coefficients=1,0.5", "--bound", "removal")["removal"]
    assert by_file["lower"] <= by_band["upper"]
    assert by_band["lower"] <= by_file["upper"]


@pytest.mark.parametrize("coefficients", ["1,1", "1,-1"])
def test_a_spectrum_that_touches_0_has_ends(dpcompose, coefficients):
    found = rows(dpcompose, f"matrix-factorisation:5,6,12,draws=2000,coefficients={coefficients}")
    assert 0.0 < found["bands"]["lower"] < found["bands"]["upper"] < found["public-bin"]["upper"]
    assert found["bands"]["lower"] <= found["either-direction"]["upper"]


def test_bands_that_are_too_wide_are_refused_in_one_line(dpcompose):
    said = dpcompose("bounds", f"{QUICK},coefficients=1,0.5", "--bound", "bands")
    assert said.complaint.startswith("bands: certified ends are of bands over at most 4")
    both = ("--bound", "bands", "--bound", "public-bin")
    said = dpcompose("bounds", f"{QUICK},coefficients=1,0.5", *both)
    assert (said.code, said.err.count("\n")) == (0, 1)
    assert said.err.startswith("bands: certified ends")


def test_why_names_the_lemma_of_bands(dpcompose):
    drawn = "matrix-factorisation:5,6,6,draws=2000,coefficients=1,0.5"
    said = dpcompose("bounds", drawn, "--epsilon", 60, "--bound", "bands", "--why")
    assert "cyclic-bands" in said.out
    assert "supersolutions" not in said.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2,7,6", "bins must be at most rounds, not 7 of 6"),
        ("0,3,6", "matrix-factorisation:0,3,6: sigma must be above 0, not 0"),
        ("nan,3,6", "sigma must be finite, not nan"),
        ("2,3", "matrix-factorisation needs rounds: write matrix-factorisation:SIGMA,BINS,ROUNDS["),
        ("2,3,6*2", "the rounds are a parameter of matrix-factorisation"),
        ("2,3,6,coefficients=0,1", "coefficients must begin with a number above 0"),
        ("2,3,6,coefficients=1,x", "coefficients must be a number, not 'x'"),
        ("2,3,6,1,0.5,matrix=nowhere.npy", "nowhere.npy: No such file or directory"),
        ("2,3,6,draws=0", "draws must be at least 1, not 0"),
        ("2,3,6,draws=1e3,confidence=1", "confidence must lie strictly between 0 and 1"),
        ("2,3,6,rate=0.1", "matrix-factorisation has no parameter 'rate'"),
    ],
)
def test_bad_input_is_one_line(dpcompose, text, message):
    said = dpcompose("bounds", f"matrix-factorisation:{text}", "--epsilon", 1)
    assert message in said.complaint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--tolerance", 1e-3),
            "tolerance is of a certified row",
        ),
        (("--bound", "basic"), "no bound 'basic' of matrix-factorisation; there are"),
        (("--rounds", 6), "the rounds are a parameter of matrix-factorisation"),
        pytest.param(
            ("--plot", "x.png"),
            "--plot draws no estimates, as of matrix-factorisation",
            marks=pytest.mark.nightly,
        ),
        (("laplace:0.1",), "matrix-factorisation is known by draws alone, and stands alone"),
    ],
)
def test_what_does_not_go_with_it_is_one_line(dpcompose, options, message):
    assert message in dpcompose("bounds", QUICK, *options).complaint


def test_files_of_something_else_are_one_line(dpcompose, tmp_path):
    file = tmp_path / "c.npy"
    for array, message in (
        (np.ones((3, 2)), "matrix must have the shape (6, 6) of the rounds, not (3, 2)"),
        (np.ones((6, 6)), "matrix must be lower triangular; entry (0, 1) is 1"),
        (np.array(["a"]), "has entries that are not real numbers"),
        (np.array([{}]), "is not an array of numpy"),
    ):
        np.save(file, array, allow_pickle=True)
        assert message in dpcompose("bounds", f"{QUICK},matrix={file}").complaint
    np.save(file, np.eye(6))
    said = dpcompose("bounds", f"{QUICK},coefficients=1,0.5,matrix={file}")
    assert "give coefficients or a matrix, not both" in said.complaint
    file.write_text("1 0\n0 1\n")
    said = dpcompose("bounds", f"{QUICK},matrix={file}")
    assert "is not an array of numpy" in said.complaint


CALIBRATE = "matrix-factorisation:bins=3,rounds=6,draws=5000"
TARGET = ("--target-epsilon", 1, "--target-delta", 1e-3, "--digits", 2)


@pytest.mark.nightly
def test_the_calibrated_noise_meets_the_target_of_an_exact_bracket(dpcompose):
    said = dpcompose("calibrate", f"{CALIBRATE},confidence={1 - 1e-6!r}", *TARGET, "--json")
    assert (said.code, said.err) == (0, "")
    found = said.json
    assert found["parameter"] == "sigma"
    assert found["error"] == pytest.approx(1e-6)
    assert found["meets"]["upper"] <= 1e-3 < found["next"]["upper"]
    assert found["meets"]["lower"] <= found["meets"]["delta"] <= found["meets"]["upper"]

    def exact(sigma):
        return max(each.delta(1.0).upper for each in allocated(sigma / 2**0.5, 3))

    assert exact(found["meets"]["value"]) <= 1e-3
    assert exact(found["meets"]["value"] * 0.9) > 1e-3


@pytest.mark.nightly
def test_the_table_states_the_probability_of_being_wrong(dpcompose):
    said = dpcompose("calibrate", CALIBRATE, *TARGET)
    assert "by draws, wrong with probability 0.001 at most" in said.out


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1,3,6", (), "as matrix-factorisation:bins=BINS,rounds=ROUNDS, without"),
        ("bins=3", (), "sigma alone is left out"),
        ("bins=3,rounds=6", ("--rounds", 6), "sigma alone is left out"),
        ("bins=3,rounds=6", ("--direction", "any"), "is calibrated in both directions"),
        (
            "bins=3,rounds=6",
            ("--target-delta", 0),
            "delta must lie strictly between 0 and 1",
        ),
        ("bins=3,rounds=6", ("--target-epsilon", 0), "target epsilon must be above 0"),
        ("bins=7,rounds=6", (), "bins must be at most rounds, not 7 of 6"),
    ],
)
def test_bad_input_of_calibrate_is_one_line(dpcompose, text, options, message):
    said = dpcompose("calibrate", f"matrix-factorisation:{text}", *TARGET, *options)
    assert message in said.complaint


@pytest.mark.nightly
def test_random_allocation_has_estimates_of_the_exact_law_with_draws(dpcompose):
    two = "random-allocation:1,6,selected=2"
    found = rows(dpcompose, f"{two},draws=5000")
    certified, drawn = found["privacy-loss-distribution"], found["either-direction"]
    assert drawn["kind"] == "estimate"
    assert drawn["lower"] <= certified["upper"]
    assert "either-direction" not in rows(dpcompose, two)
    again = rows(dpcompose, f"{two},draws=5000,seed=1,confidence=0.5")["either-direction"]
    assert again["delta"] != drawn["delta"]
    assert "50% for all" in again["source"]
    for more, message in (
        (",draws=10,epochs=2", "draws are of one epoch; leave out the others"),
        (",draws=10*2", "draws are of one epoch; leave out the others"),
        (",seed=1", "seed is of estimates of one epoch alone, with draws"),
        (",draws=10,bins=2", "random-allocation has no parameter 'bins'"),
        (",draws=10,selected=7", "give selected once"),
    ):
        assert message in dpcompose("bounds", two + more, "--epsilon", 1).complaint
    other = dpcompose("bounds", f"{two},draws=10", "laplace:0.1")
    assert "draws is of estimates of one epoch alone" in other.complaint
