"""The trial of filters and odometers: what is committed is as claimed, and a small one runs."""

import json

import pytest

from experiments.filter_trial import odometers, recent
from experiments.filter_trial.__main__ import main
from experiments.filter_trial.recent import NOTHING
from experiments.results.records import unstamped
from experiments.stages import RESULTS
from simulator.theory import RealisedFilter


def committed(name):
    return json.loads((RESULTS / "filters" / f"{name}.json").read_text("utf-8"))["rows"]


def test_what_is_proved_is_sound_and_what_is_broken_is_found():
    rows = committed("trial")
    verdicts = {}
    for row in rows:
        low, high = row["ratio"]
        assert low <= high
        verdicts.setdefault((row["filter"], row["claim"]), []).append((low, high))
    for (name, claim), ends in verdicts.items():
        lower, upper = max(low for low, _ in ends), max(high for _, high in ends)
        if claim == NOTHING or name in ("natural", "clt"):
            assert lower > 1.0, name  # the search finds an adversary that breaks it
        else:
            assert upper <= 1.0, name
    for row in rows:
        if row["play"] is not None:  # with a confidence of 99.9% each
            assert row["play"][0] <= row["ratio"][1] * (1 + 1e-9)
            assert row["play"][1] >= row["ratio"][0] * (1 - 1e-9)
    broken = [r for r in rows if r["verdict"] == "broken" and r["play"] is not None]
    assert len(broken) >= 4
    assert any(row["play"][0] > 5.0 for row in broken)
    page = unstamped((RESULTS / "filters" / "trial.md").read_text("utf-8"))
    assert page == recent.markdown(rows)


def test_every_odometer_is_sound_and_none_reads_less_than_the_least():
    rows = committed("odometers")
    for row in rows:
        assert all(worst <= 1.0 for worst in row["worst"].values())
        low, high = row["factor"]
        assert 1.0 <= low <= high <= low + 2e-3
        if len(row["epsilons"]) == 1:
            assert min(row["readings"].values()) >= row["exact"]
        assert (row["delta_ratio"] > 1.0001) == (high > 1.0)
    page = unstamped((RESULTS / "filters" / "odometers.md").read_text("utf-8"))
    assert page == odometers.markdown(rows)


def test_a_row_of_realised_losses():
    found = recent.realised(RealisedFilter, (1.0, 0.05), (0.27,), 6, "a claim", 10)
    assert found["verdict"] == "sound"
    assert found["play"][0] <= found["ratio"][1]


@pytest.mark.nightly
def test_a_small_trial_is_written(tmp_path):
    assert main(["--first", "1", "--folder", str(tmp_path)]) == 0
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".md"}
    assert "| residue |" in (tmp_path / "trial.md").read_text("utf-8")
