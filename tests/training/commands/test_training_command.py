"""``dpcompose training``: one table of a training, and settings in a file."""

import json

from simulator import Account
from simulator.theory.events import gaussian, sampled_sum
from simulator.training import random_allocation

NUMBERS = ("--noise", 2, "--records", 40, "--batch", 10, "--steps", 8, "--delta", 1e-5)
QUIET = ("--no-libraries", "--canaries", 0)


def test_a_table_with_accountants_canaries_and_plays(dpcompose):
    said = dpcompose("training", *NUMBERS, "--canaries", 50, "--play", 100)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == ("epsilon at delta = 1e-05 of 8 steps (4 per epoch), noise 2 C, rate 0.25")
    assert lines[1].split() == [
        "batches", "neighbours", "lower", "upper", "one", "run", "played",
        "what", "it", "rests", "on",
    ]  # fmt: skip
    assert [line.split("  ")[0] for line in lines[2:10]] == [
        "Poisson samples", "Poisson samples", "Poisson samples, cut to 13",
        "one random step of every epoch", "shuffled in every epoch", "shuffled once",
        "fixed batches", "fixed batches",
    ]  # fmt: skip
    assert "Accountants state the first row: Poisson samples, add-remove." in said.out
    assert "opacus" in said.out
    assert "One run with 50 canaries shows at most" in said.out


def test_the_rate_of_opacus_is_named_where_it_differs(dpcompose, tmp_path):
    numbers = ("--noise", 2, "--records", 50, "--steps", 1, "--delta", 1e-5, "--canaries", 0)
    lines = dpcompose("training", *numbers, "--batch", 20).out.splitlines()
    assert lines[0] == "epsilon at delta = 1e-05 of 1 step (3 per epoch), noise 2 C, rate 0.4"
    rates = [line for line in lines if "its loader samples at 0.333333, 1 / 3 batches" in line]
    assert rates
    assert all(line.startswith("  opacus") for line in rates)
    assert "its loader" not in dpcompose("training", *numbers, "--batch", 10).out
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"batch_size": 20, "sample_rate": 1 / 3}))
    assert "its loader" not in dpcompose("training", *numbers, "--settings", file).out


def test_upper_ends_alone_are_not_called_exact(dpcompose):
    for steps in (1, 3, 5):
        numbers = ("--noise", 2, "--records", 40, "--batch", 10, "--steps", steps, "--delta", 1e-5)
        for row in dpcompose("training", *numbers, *QUIET, "--json").json["loaders"]:
            together = row["upper"] - row["lower"] < 1e-3
            assert together == row["source"].startswith("exact"), row
            assert (row["lower"] == 0.0) == row["source"].startswith("upper end"), row


def test_numbers_are_those_of_accounts(dpcompose):
    rows = {
        (row["loader"], row["neighbours"]): row
        for row in dpcompose("training", *NUMBERS, *QUIET, "--json").json["loaders"]
    }
    for key, account in {
        ("Poisson samples", "add-remove, C"): Account().then(sampled_sum(2.0, 0.25), 8),
        ("one random step of every epoch", "add-remove, C"): Account(
            random_allocation(gaussian(2.0), 4, epochs=2)
        ),
        ("fixed batches", "replace-one, 2C"): Account().then(gaussian(2.0, 2.0), 2),
    }.items():
        exact = account.epsilon(1e-5)
        assert (rows[key]["lower"], rows[key]["upper"]) == (exact.lower, exact.upper)


def test_settings_in_a_file(dpcompose, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"noise_multiplier": 2, "batch_size": 10, "lr": 0.1, "epochs": 2}))
    said = dpcompose(
        "training", "--settings", file, "--records", 40, "--delta", 1e-5, *QUIET, "--json"
    )
    assert (said.code, said.err) == (0, "settings: not read: lr\n")
    assert said.json["training"] == {
        "noise": 2, "records": 40, "batch": 10, "steps": 8, "delta": 1e-5, "rate": 0.25,
        "steps_per_epoch": 4,
    }  # fmt: skip


def test_bad_input_is_one_line(dpcompose, tmp_path):
    for arguments, complaint in (
        ((), "noise is missing"),
        ((*NUMBERS, "--epochs", 3), "give steps or epochs, not both"),
        (("--settings", tmp_path / "none.json"), "none.json"),
        (("--settings", tmp_path), "not a regular file"),
        ((*NUMBERS, "--canaries", 1), "canaries must be in [2, 10000], not 1"),
        ((*NUMBERS[:-2], "--delta", "nan"), "delta"),
    ):
        assert complaint in dpcompose("training", *arguments).complaint, arguments
    (tmp_path / "deep.json").write_text("[" * 100_000)
    assert "deep" in dpcompose("training", "--settings", tmp_path / "deep.json").complaint
