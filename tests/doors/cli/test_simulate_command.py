"""``dpcompose simulate`` and ``dpcompose adversaries``: JSON, jobs, resumed folders."""

import math
import re

import pytest

from simulator.adversaries.registry import entries

RUN = ("--family", "pure:0.2", "--rounds", 20, "--trials", 300, "--seed", 7, "--jobs", 1)
TIMES = {"seconds", "compile_seconds", "rounds_per_second"}


def told(dpcompose, *arguments):
    said = dpcompose("simulate", *arguments, "--json")
    assert (said.code, said.err) == (0, "")
    return said.json


def lasting(report):
    return {key: value for key, value in report.items() if key not in TIMES}


def test_the_json_has_what_machines_need(dpcompose, adversary_file):
    adversary = adversary_file()
    report = told(dpcompose, adversary, *RUN, "--epsilon", 1, "--epsilon", 3, "--delta", 1e-5)
    expected = {
        "adversary": adversary, "family": "pure:0.2", "rounds": 20, "trials": 300, "seed": 7,
        "confidence": 0.95, "delta": 1e-5,
    }  # fmt: skip
    assert {key: report[key] for key in expected} == expected
    assert set(report["experiments"]) == {"0", "1"}
    for experiment in report["experiments"].values():
        assert [point["epsilon"] for point in experiment["points"]] == [1.0, 3.0]
        for point in experiment["points"]:
            for measured in (point["tail"], point["delta"]):
                assert 0.0 <= measured["lower"] <= measured["value"] <= measured["upper"] <= 1.0
            assert point["delta"]["value"] <= point["tail"]["value"]
    assert report["seconds"] > 0.0
    assert report["rounds_per_second"] == pytest.approx(2 * 300 * 20 / report["seconds"])


@pytest.mark.nightly
def test_the_head_line_names_the_filter(dpcompose):
    """A run that a filter had cut short read like one that had none."""
    game = ("simulate", "fixed-worst-case", *RUN)
    filtered = dpcompose(*game, "--filter", "sum:0.5").out.splitlines()[0]
    assert filtered == (
        "fixed-worst-case in pure:0.2, 20 rounds, 300 trials per experiment, "
        "filter sum:0.5,0.0,0.0, "
        "seed 7, 95% intervals"
    )
    assert dpcompose(*game).out.splitlines()[0] == filtered.replace("filter sum:0.5,0.0,0.0, ", "")
    assert told(dpcompose, *game[1:], "--filter", "sum:0.5")["filter"] == "sum:0.5,0.0,0.0"
    assert told(dpcompose, *game[1:])["filter"] is None


def test_the_bounds_are_those_of_the_family_tightest_first(dpcompose, adversary_file):
    bounds = told(dpcompose, adversary_file(), *RUN)["bounds"]
    assert all(list(row) == ["name", "kind", "epsilon", "source"] for row in bounds)
    assert {"basic", "advanced", "kairouz-oh-viswanath-3.3"} <= {row["name"] for row in bounds}
    epsilons = [row["epsilon"] for row in bounds]
    assert epsilons == sorted(epsilons)
    assert next(row for row in bounds if row["name"] == "basic")["epsilon"] == pytest.approx(4.0)


def test_without_an_epsilon_points_are_chosen_where_the_losses_lie(dpcompose, adversary_file):
    for experiment in told(dpcompose, adversary_file(), *RUN)["experiments"].values():
        points = experiment["points"]
        assert 1 <= len(points) <= 4
        assert points[0]["tail"]["value"] > 0.1


@pytest.mark.nightly
def test_where_all_losses_are_of_one_size_a_point_lies_below_it(dpcompose):
    """At the size itself no loss passes: one round of randomized response showed zeros alone."""
    call = ("simulate", "fixed-worst-case", "--family", "pure:0.6", "--rounds", 1, "--trials", 200,
            "--jobs", 1, "--json")  # fmt: skip
    points = dpcompose(*call).json["experiments"]["0"]["points"]
    assert [point["epsilon"] for point in points] == [0.3, 0.6]
    assert points[0]["tail"]["value"] > 0.0


def test_delta_zero_asks_for_the_pure_epsilon(dpcompose, adversary_file):
    bounds = told(dpcompose, adversary_file(), *RUN, "--delta", 0)["bounds"]
    assert [row["epsilon"] for row in bounds] == pytest.approx([4.0] * len(bounds))


def test_the_table_is_all_there_is_on_standard_output(dpcompose, adversary_file):
    said = dpcompose("simulate", adversary_file(), *RUN, "--epsilon", 1)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert "pure:0.2, 20 rounds, 300 trials per experiment, seed 7" in lines[0]
    assert [line.split()[0] for line in lines[2:4]] == ["0", "1"]
    assert lines[-1].endswith("rounds per second")


@pytest.mark.nightly
def test_a_summary_says_by_how_much_its_intervals_are_wider(dpcompose, adversary_file):
    """What stands in the table's line is the most of what the JSON has for each point."""
    source = """
def steady(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.13)
"""
    asked = (
        "simulate", adversary_file(source, "steady"), "--family", "pure:0.2", "--rounds", 1000,
        "--trials", 300, "--jobs", 1, "--epsilon", 4.00007, "--epsilon", 9,
    )  # fmt: skip
    points = [
        point
        for each in dpcompose(*asked, "--keep", "summary", "--json").json["experiments"].values()
        for point in each["points"]
    ]
    most = [max(point[what].get("widened", 0.0) for point in points) for what in ("tail", "delta")]
    assert most[1] > 0.0
    [line] = [
        line
        for line in dpcompose(*asked, "--keep", "summary").out.splitlines()
        if line.startswith("The losses were counted")
    ]
    found = re.fullmatch(r".* by (\S+) at most, and of delta\(epsilon\) by (\S+)", line)
    for printed, known in zip(map(float, found.groups()), most):
        assert known <= printed <= 1.1 * known  # two digits, rounded up
    plain = dpcompose(*asked)
    assert "counted" not in plain.out
    assert dpcompose(*asked, "--json").json["keep"] == "losses"


def test_a_loss_that_may_be_infinite_is_still_json(dpcompose, adversary_file):
    leaky = """
from simulator.mechanisms import LeakyRandomizedResponse

def leaky(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, LeakyRandomizedResponse(ALICE, 0.1, 0.3)
"""
    settings = ("--rounds", 20, "--trials", 100, "--jobs", 1, "--family", "approx:0.1,0.3")
    report = told(dpcompose, adversary_file(leaky, "leaky"), *settings, "--epsilon", 1)
    point = report["experiments"]["0"]["points"][0]
    assert point["delta"]["value"] > 0.9
    assert all(math.isfinite(row["epsilon"]) for row in report["bounds"])
    chosen = told(dpcompose, adversary_file(leaky, "leaky"), *settings)
    assert chosen["experiments"]["1"]["points"]


@pytest.mark.nightly
@pytest.mark.parametrize(("library", "trials"), [(False, 270), (True, 9_000)])
def test_the_number_of_jobs_changes_nothing_but_the_time(
    dpcompose, adversary_file, library, trials
):
    """Three blocks an experiment, of a generator and of a rule."""
    adversary = "press-when-ahead" if library else adversary_file()
    settings = ("--family", "pure:0.2", "--rounds", 1000, "--trials", trials, "--seed", 5)
    alone, *others = (
        lasting(told(dpcompose, adversary, *settings, "--jobs", jobs)) for jobs in (1, 2, 4)
    )
    assert all(other == alone for other in others)


def test_another_seed_changes_the_result(dpcompose, adversary_file):
    first, second = (
        told(dpcompose, adversary_file(), *RUN, "--epsilon", 1, *seed)["experiments"]
        for seed in ((), ("--seed", 8))
    )
    assert first != second


def test_a_library_name_and_replace_one(dpcompose):
    report = told(dpcompose, "patient-hunter", *RUN, "--epsilon", 0.5)
    assert report["relation"] == "add/remove-one"
    line = dpcompose("simulate", "patient-hunter", *RUN, "--relation", "replace-one").complaint
    assert "not neighbours under replace-one" in line


# --- folders ------------------------------------------------------------------------------------


def test_a_finished_folder_is_read_and_not_played_again(dpcompose, adversary_file, tmp_path):
    adversary, out = adversary_file(), tmp_path / "run"
    first = told(dpcompose, adversary, *RUN, "--epsilon", 1, "--out", out)
    log = (out / "blocks.log").read_bytes()
    again = told(dpcompose, adversary, *RUN, "--epsilon", 1, "--out", out)
    assert again["rounds_per_second"] == 0.0
    assert lasting(again) == lasting(first)
    assert (out / "blocks.log").read_bytes() == log
    other = told(dpcompose, adversary, *RUN, "--epsilon", 2, "--out", out)  # another question
    assert other["experiments"]["0"]["points"][0]["epsilon"] == 2.0


@pytest.mark.nightly
def test_a_torn_log_is_mended_and_says_what_was_dropped(dpcompose, adversary_file, tmp_path):
    settings = ("--family", "pure:0.2", "--rounds", 1000, "--trials", 270, "--jobs", 1)
    adversary, out = adversary_file(), tmp_path / "run"
    whole = told(dpcompose, adversary, *settings, "--out", out)
    log = out / "blocks.log"
    log.write_bytes(log.read_bytes()[:-40])
    said = dpcompose("simulate", adversary, *settings, "--out", out, "--json")
    assert said.code == 0
    assert lasting(said.json) == lasting(whole)
    (line,) = said.err.splitlines()
    assert "dropped" in line
    assert "kept" in line


# --- the list -----------------------------------------------------------------------------------


def test_the_list_of_adversaries(dpcompose):
    said = dpcompose("adversaries")
    assert (said.code, said.err) == (0, "")
    listed = [line.split()[0] for line in said.out.splitlines()[2:]]
    assert listed == [entry.name for entry in entries()]
    rows = dpcompose("adversaries", "--json").json
    assert [row["name"] for row in rows] == listed
    assert all(set(row) == {"name", "about"} and len(row["about"]) > 100 for row in rows)


def test_the_paragraph_about_one(dpcompose):
    said = dpcompose("adversaries", "--about", "patient-hunter")
    assert said.out.startswith("Binary-search one real patient")
    line = dpcompose("adversaries", "--about", "patient-huntr").complaint
    assert "patient-hunter" in line
