"""Workers hash texts alike, and a stored run says under which seed its process did."""

import json
import os
import subprocess
import sys

import pytest

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
