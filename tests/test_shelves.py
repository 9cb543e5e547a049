"""A shelf can be taken away: what stands on none of it works, and its commands say so in a line.

The tree is copied without the shelf, and without the tests of the shelves that stand on it. The
installed metadata still name its entry points, as they would after a broken installation.
"""

import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import simulator
from tests.helpers.quick import QUICK, files
from tests.helpers.rooms import SHELVES
from tests.test_closures import FIRST_PROGRAM

ROOT = Path(simulator.__file__).parent.parent

COMMANDS = (
    "bounds laplace:0.1 --rounds 100 --delta 1e-6 --bound basic --bound advanced",
    "simulate press-when-ahead --family pure:0.2 --rounds 20 --trials 500 --seed 7 --epsilon 1",
    "--help",
)
"""What works without any shelf."""

CALL = "from simulator.doors.cli import main; main()"
CALLS = """
import sys
import simulator
from simulator.doors.cli import main
for command in sys.argv[1:]:
    try:
        main(command.split())
    except SystemExit as left:
        assert not left.code, command
print(simulator.__file__)
"""
"""Several commands in one process, then where the package is."""


SEARCHED = {"worst": "test_games.py"}
"""Tests that call what the shelf adds by name: games whose rows are found by search."""


def gone_with(shelf):
    """The names of a shelf and of those that do not work without it."""
    return {shelf.name} | {other.name for other in SHELVES if shelf.name in other.on}


@pytest.fixture(params=SHELVES, ids=lambda shelf: shelf.name)
def house(request, tmp_path):
    """A copy of the tree without a shelf: its path, and the shelf."""
    shelf = request.param
    skipped = shutil.ignore_patterns("__pycache__", ".*", "build", "dist", "results")
    shutil.copytree(ROOT, tmp_path / "house", ignore=skipped)
    (tmp_path / "house" / "results").symlink_to(ROOT / "results")
    shutil.rmtree(tmp_path / "house" / "simulator" / shelf.name)
    for name in gone_with(shelf):
        shutil.rmtree(tmp_path / "house" / "tests" / name)
    return tmp_path / "house", shelf


def run(folder, *arguments):
    """Run Python in the copied tree, whose package comes first."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, cwd=folder, env=environment, timeout=600,
    )  # fmt: skip


@pytest.mark.sampled
def test_the_rest_works_without_a_shelf(house):
    folder, shelf = house
    program = folder / "first.py"
    program.write_text(FIRST_PROGRAM)
    assert run(folder, str(program)).returncode == 0
    done = run(folder, "-c", CALLS, *COMMANDS)
    assert done.returncode == 0, done.stderr
    assert f"simulator.{shelf.name}" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith(str(folder))


@pytest.mark.sampled(n=2)
def test_a_command_that_has_gone_says_so_in_one_line(house):
    folder, shelf = house
    points = entry_points(group="dpcompose.commands")
    gone = [point for point in points if point.module.startswith(f"simulator.{shelf.name}.")]
    for point in gone[:1]:  # each takes half a second
        done = run(folder, "-c", CALL, point.name)
        assert done.returncode == 2
        assert done.stderr == (
            f"error: the entry point {point.name!r} of dpcompose.commands of dpcompose cannot be "
            f"loaded: simulator.{shelf.name} is not installed\n"
        )
    assert gone or shelf.name == "training"


@pytest.mark.nightly
def test_the_quick_tests_of_everything_else_pass_without_a_shelf(house):
    """Of all quick tests but those that name the shelf."""
    folder, shelf = house
    rooms = [room for room in QUICK if room not in {*gone_with(shelf), "simulator", "experiments"}]
    paths = [folder / name for name in files(rooms) if (folder / name).exists()]
    each = [path for one in paths for path in (one.rglob("test_*.py") if one.is_dir() else [one])]
    names = tuple(f"simulator.{name}" for name in gone_with(shelf))
    tests = [str(path) for path in each if not any(name in path.read_text() for name in names)]
    tests = [name for name in tests if Path(name).name != SEARCHED.get(shelf.name)]
    assert len(tests) > 20
    done = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n2", *tests)
    assert done.returncode == 0, done.stdout[-3000:]
