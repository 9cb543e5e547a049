"""Old names of commands and options work and say so; messages name options and near misses."""

import click
import pytest

from simulator.doors.cli import COMMANDS, group, renamed
from simulator.theory import FAMILIES

GAME = ("press-when-ahead", "--family", "pure:0.2", "--rounds", 3, "--trials", 9, "--jobs", 1)


def command(name):
    return group.get_command(click.Context(group), name)


def test_an_old_name_has_a_successor_and_is_in_no_help():
    assert set(renamed.COMMANDS.values()) <= set(COMMANDS)
    assert not set(renamed.COMMANDS) & set(COMMANDS)
    for name, options in renamed.OPTIONS.items():
        there = {option for each in command(name).params for option in each.opts}
        assert set(options.values()) <= there
        assert not set(options) & there


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            ("bounds", "--mechanism", "laplace", "--epsilon", "0.1x9", "--at", 1),
            ("bounds", "--mechanism", "laplace", "--round-epsilon", "0.1x9", "--epsilon", 1),
        ),
        (("run", *GAME, "--views=1"), ("simulate", *GAME, "--keep-views=1")),
        (("check", "--rounds", 0), ("verify", "--rounds", 0)),
        (("tail", *GAME, "--epsilon", 0.1), ("estimate-rare", *GAME, "--epsilon", 0.1)),
    ],
    ids=["bounds", "run", "check", "tail"],
)
def test_an_old_name_does_the_same_and_says_the_new_one(dpcompose, old, new):
    before, after = dpcompose(*old), dpcompose(*new)
    assert before.code == after.code
    assert first(before.out) == first(after.out)
    assert "; the old name goes in version 0.3\n" in before.err
    assert " is now " not in after.err


def first(text):
    """The first lines: the last ones have times."""
    return text.splitlines()[:4]


def test_seconds_take_the_place_of_time():
    assert renamed.with_new_names(["simulate", "mine", "--time=10m"])[-1] == "--seconds=10m"


def test_epsilon_is_a_threshold_where_the_round_has_its_own():
    arguments = ["bounds", "--round-epsilon", "0.1x9", "--epsilon", "1"]
    assert renamed.with_new_names(arguments) == arguments
    arguments = ["bounds", "--event", "file.json", "--epsilon", "1"]
    assert renamed.with_new_names(arguments) == arguments


def test_a_number_that_makes_no_sense_is_named_by_its_option(dpcompose):
    assert dpcompose("simulate", *GAME, "--keep-views", -1).complaint == (
        "--keep-views must be at least 0, not -1"
    )
    assert dpcompose("verify", "--false-alarm", 2).complaint.startswith("--false-alarm must")


def test_near_misses_are_named(dpcompose):
    assert "did you mean verify?" in dpcompose("verfy").complaint
    line = dpcompose("bounds", "--mechanism", "laplac", "--rounds", 1).complaint
    assert "did you mean laplace" in line
    line = dpcompose("simulate", "pres-when-ahead", "--family", "pure:1", *GAME[3:]).complaint
    assert "did you mean press-when-ahead" in line
    assert "did you mean pure?" in dpcompose("verify", "--family", "pur:1").complaint


def test_a_family_without_its_parameter_says_what_is_missing(dpcompose):
    assert "pure needs epsilon: write pure:EPSILON" in (
        dpcompose("verify", "--family", "pure").complaint
    )
    assert (
        "sum needs epsilon: write sum:EPSILON[,delta=0]"
        in dpcompose("simulate", *GAME, "--filter", "sum").complaint
    )


def test_the_help_of_simulate_has_every_family(dpcompose):
    text = "".join(dpcompose("simulate", "--help").out.split())
    assert all(f"{kind}:" in text for kind in FAMILIES)
