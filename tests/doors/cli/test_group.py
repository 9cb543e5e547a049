"""The group of commands: help, exit codes, a reader that goes away."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

import simulator
from simulator.doors.cli import COMMANDS, group
from simulator.foundations.errors import Refusal


def test_without_a_command_the_help_goes_to_standard_error(dpcompose):
    said = dpcompose()
    assert (said.code, said.out) == (2, "")
    assert all(name in said.err for name in COMMANDS)


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(dpcompose, command, flag):
    said = dpcompose(*command, flag)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"Usage: dpcompose{' '.join(('', *command))}")


@pytest.mark.parametrize("command", ["simulate", "bounds", "calibrate"])
def test_help_has_an_example_that_names_the_command(dpcompose, command):
    assert f"dpcompose {command} " in dpcompose(command, "--help").out.partition("Example")[2]


def test_no_summary_of_a_command_is_cut_off(dpcompose):
    assert "..." not in dpcompose("--help").out.partition("Commands:")[2]


def test_an_unknown_command_or_option_is_one_line(dpcompose):
    assert "No such command 'rum'" in dpcompose("rum").complaint
    line = dpcompose("simulate", "press-when-ahead", "--famly", "pure:1").complaint
    assert "--famly" in line
    assert "see dpcompose simulate --help" in line


def test_a_missing_option_is_named(dpcompose):
    assert "--family" in dpcompose("simulate", "press-when-ahead").complaint
    assert "--target-epsilon" in dpcompose("calibrate").complaint


def test_the_version_is_quick_to_get():
    loaded = "import sys; from simulator.doors.cli import group; print('scipy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_reader_that_goes_away_is_no_error():
    call = "import sys; from simulator.doors.cli import main; main(['adversaries'])"
    process = subprocess.Popen(
        [sys.executable, "-c", call], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize("error", [MemoryError("7 TB"), OverflowError("math range error")])
def test_what_does_not_fit_is_one_line(dpcompose, monkeypatch, error):
    def fails(*_arguments, **_options):
        raise error

    monkeypatch.setattr("simulator.doors.cli.bounds.compare", fails)
    assert str(error) in dpcompose("bounds", "pure:1*5").complaint


def test_a_refused_estimate_exits_3(dpcompose, monkeypatch):
    def refuses(*_arguments, **_options):
        raise Refusal("too few hits; play more trials")

    monkeypatch.setattr("simulator.doors.cli.bounds.compare", refuses)
    said = dpcompose("bounds", "pure:1*5")
    assert (said.code, said.out, said.err) == (3, "", "error: too few hits; play more trials\n")


@pytest.mark.sampled
@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help_is_quick_to_get(command):
    # Each of these takes longer to import than all else.
    heavy = [
        "scipy.special", "scipy.optimize", "scipy.stats", "matplotlib", "numba", "joblib",
        "asyncio", "simulator.engine.specification", "simulator.analysis.simulate",
        "simulator.worst.search", "simulator.mechanisms",
    ]  # fmt: skip
    program = (
        "import atexit, sys\n"
        f"loaded = lambda: [name for name in {heavy} if name in sys.modules]\n"
        "atexit.register(lambda: print(loaded(), file=sys.stderr))\n"
        f"from simulator.doors.cli import main; main({[*command, '--help']})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stderr.strip() == "[]"
    assert "--help" in run.stdout


def test_a_play_by_one_worker_loads_what_it_needs():
    # Each of these takes longer to import than a small play.
    heavy = [
        "scipy.optimize", "scipy.stats", "matplotlib", "pandas", "numba", "joblib", "asyncio",
        "requests", "simulator.training", "simulator.auditing", "simulator.worst",
    ]  # fmt: skip
    program = (
        "import sys; from simulator.doors.cli import run\n"
        "run('simulate press-when-ahead --family pure:.2 --rounds 8 --trials 200 --jobs 1'"
        ".split())\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "kairouz-oh-viswanath" in done.stdout


def test_the_list_of_commands_quotes_their_docstrings(dpcompose):
    listed = " ".join(dpcompose("--help").out.split())
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert f"{name} {command.get_short_help_str(limit=200)}" in listed


def test_the_citation_names_this_version(dpcompose):
    said = dpcompose("--cite")
    assert said.code == 0
    assert f"version = {{{simulator.__version__}}}" in said.out
    assert "numpy" in said.out.splitlines()[-1]
    file = (Path(simulator.__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {simulator.__version__}\n" in file
