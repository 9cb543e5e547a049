"""Messages of the library name Python arguments; on the command line they name its flags."""

import re
from pathlib import Path

import click
import pytest

import simulator
from simulator.doors.cli import COMMANDS, group
from simulator.doors.cli.flags import FLAGS, with_flags


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ('try method="steered"', "try --method steered"),
        (
            'or method="tilted", "steered", "doob" or "splitting"',
            "or --method tilted, steered, doob or splitting",
        ),
        ('method="steered" or "tilted"; not "this"', '--method steered or tilted; not "this"'),
        ("give epsilon=, or more trials=", "give --epsilon, or more --trials"),
        ("check it with jobs=1.", "check it with --jobs 1."),
        ("with false_alarm=1e-6, theta=-0.5", "with --false-alarm 1e-6, --theta -0.5"),
        ("Laplace(q, epsilon=0.1): epsilon=0.1", "Laplace(q, epsilon=0.1): --epsilon 0.1"),
        ("trace=True, x.epsilon=2", "trace=True, x.epsilon=2"),
        ("keep_views=3 or keep_views", "--views 3 or --views"),
        ("false_alarm must lie between", "--false-alarm must lie between"),
        ("run goes further (keep_views: 3 there)", "run goes further (--views: 3 there)"),
        ("f(q, keep_views=3), not 'keep_views'", "f(q, keep_views=3), not 'keep_views'"),
        (
            "cannot read keep_views.json, a/time_limit, time_limit/b or x_false_alarm",
            "cannot read keep_views.json, a/time_limit, time_limit/b or x_false_alarm",
        ),
    ],
)  # fmt: skip
def test_arguments_become_flags(message, shown):
    assert with_flags(message) == shown


def test_every_flag_is_an_option_of_some_command():
    context = click.Context(group)
    commands = [group.get_command(context, name) for name in COMMANDS]
    options = {flag for command in commands for param in command.params for flag in param.opts}
    assert set(FLAGS.values()) <= options


def test_a_refused_estimate_names_flags(dpcompose):
    game = ("--family", "pure:0.2", "--rounds", 5, "--epsilon", 0.5, "--trials", 10, "--jobs", 1)
    said = dpcompose("tail", "fixed-worst-case", *game, "--method", "plain")
    assert said.code == 3
    assert "or --method covering, tilted, steered or splitting" in said.err


GAME = ("press-when-ahead", "--family", "pure:0.2", "--rounds", 5, "--trials", 10, "--jobs", 1)


def test_a_number_that_makes_no_sense_is_named_by_its_flag(dpcompose, tmp_path):
    """``keep_views must be at least 0`` named what the command line has not."""
    assert dpcompose("run", *GAME, "--views", -1).complaint == (
        "--views must be at least 0, not -1"
    )
    kept = ("run", *GAME, "--out", tmp_path / "run", "--views")
    assert dpcompose(*kept, 3).code == 0
    assert "goes further already (--views: 3 there, 2 asked)" in dpcompose(*kept, 2).complaint
    assert dpcompose("check", "--false-alarm", 2).complaint.startswith("--false-alarm must")


def test_the_library_itself_names_no_flag():
    """Each string that begins a flag: of git, of pytest, and in commands that are printed."""
    folder = Path(simulator.__file__).parent
    found = {
        (path.relative_to(folder).as_posix(), flag)
        for path in folder.rglob("*.py")
        if path.relative_to(folder).parts[0] != "doors"
        for flag in re.findall(r"(?<![\w-])--[a-z][\w-]*", path.read_text(encoding="utf-8"))
    }
    allowed = {"runner/store/provenance.py", "trials/testing/replay.py"}
    assert {file for file, _ in found} <= allowed, found
