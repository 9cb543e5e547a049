"""Workers hash texts alike, a stored run says under which seed, and what depends on it is named."""

import json
import os
import subprocess
import sys

import pytest

import simulator.runner.play
from simulator import Laplace, PureDP, counting_query, simulate
from simulator.errors import InvalidInput
from simulator.runner import merge_folders, simulate_part
from simulator.runner.store.manifest import read_manifest, write_manifest
from tests.helpers.games import WITH_ALICE, WITHOUT_ALICE

PROGRAM = """
from simulator import Database, Laplace, PureDP, counting_query, simulate

ALICE, NOBODY = Database(["alice"]), Database()

def by_hash(coins):
    while True:
        yield NOBODY, ALICE, Laplace(counting_query("alice"), 0.1 + hash("text") % 1000 / 1e4)

if __name__ == "__main__":
    result = simulate(by_hash, PureDP(0.2), 2, 40, block_size=10, jobs=2, out="run", progress=False)
    print(result.losses(0).sum())
"""


def played(folder, **environment):
    (folder / "program.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    kept["PYTHONPATH"] = os.getcwd()
    run = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder, env=kept | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    [session] = json.loads((folder / "run" / "specification.json").read_text())["sessions"]
    return run.stdout, session["hash_seed"]


@pytest.mark.nightly
def test_processes_that_are_started_hash_alike(tmp_path):
    found = []
    for number, environment in enumerate(({}, {"PYTHONHASHSEED": "0"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(played(folder, **environment))
    (first, seed), (second, given) = found
    assert first == second
    assert (seed, given) == ("random", "0")


NAMES = {"alice", "bob"}


def by_order(coins):
    while True:
        for name in NAMES:
            yield WITHOUT_ALICE, WITH_ALICE, Laplace(counting_query(name), 0.1)


def in_order(coins):
    while True:
        for name in ("alice", "bob"):
            yield WITHOUT_ALICE, WITH_ALICE, Laplace(counting_query(name), 0.1)


def test_a_run_that_may_depend_on_the_hash_seed_says_so(monkeypatch, capsys):
    for adversary, seed, warned in (
        (by_order, "random", True), (by_order, "0", False), (in_order, "random", False),
    ):  # fmt: skip
        monkeypatch.setattr(simulator.runner.play, "HASH_SEED", seed)
        simulate(adversary, PureDP(0.2), 2, 4, jobs=1, progress=False)
        line = capsys.readouterr().err
        assert ("NAMES: may depend on the order of a set" in line) == warned
        assert ("PYTHONHASHSEED=0" in line) == warned


def part_with(seed, folder, number, adversary):
    part = {"part": (number, 2), "out": folder, "block_size": 2, "jobs": 1}
    simulate_part(adversary, PureDP(0.2), 2, 8, **part)
    manifest = read_manifest(folder)
    [session] = manifest.sessions
    session["hash_seed"] = seed
    write_manifest(folder, manifest)
    return folder


def test_parts_that_hash_otherwise_do_not_merge(tmp_path):
    def parts(adversary, *seeds):
        place = tmp_path / f"{adversary.__name__}-{'-'.join(seeds)}"
        return place, [part_with(s, place / str(i), i, adversary) for i, s in enumerate(seeds, 1)]

    for adversary, seeds, refused in (
        (by_order, ("0", "0"), False), (by_order, ("0", "1"), True),
        (by_order, ("random", "random"), True), (in_order, ("0", "random"), False),
    ):  # fmt: skip
        place, folders = parts(adversary, *seeds)
        if refused:
            with pytest.raises(InvalidInput, match="with one PYTHONHASHSEED"):
                merge_folders(folders, place / "whole")
        merged = merge_folders(folders, place / "whole", mixed_versions=refused)
        assert merged.complete
        assert any("other hash seeds" in line for line in merged.notices) == refused


def by_address(coins):
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(counting_query("alice"), 0.1 + id(coins) * 0.0)


def test_a_run_that_may_depend_on_an_address_says_so(capsys):
    for adversary in (by_address, in_order):
        simulate(adversary, PureDP(0.2), 2, 4, jobs=1, progress=False)
        line = capsys.readouterr().err
        assert ("by_address uses id" in line) == (adversary is by_address)
