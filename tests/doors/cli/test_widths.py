"""Tables on a narrow and on a wide terminal: numbers and names are whole, no line is too long."""

import re

import pytest

from simulator.doors.cli import output

COMMANDS = [
    ["bounds", "laplace:0.1", "--rounds", "100", "--delta", "1e-6"],
    ["bounds", "subsampled-gaussian:sigma=2,rate=0.1", "--rounds", "10", "--delta", "1e-6"],
    ["calibrate", "--target-epsilon", "1", "--target-delta", "1e-6", "--rounds", "100"],
    ["simulate", "fixed-worst-case", "--family", "pure:0.2", "--rounds", "10", "--trials", "500"],
    ["adversaries"],
    ["game"],
    ["game", "attribution"],
    ["claims", "--list"],
    ["filter", "--family", "pure:0.5", "--epsilon", "1", "--delta", "1e-6"],
    ["verify", "fixed-worst-case", "--family", "pure:0.2", "--rounds", "5", "--trials", "500"],
    ["conform", "dpcompose", "--quick"],
    ["conform"],
    ["claims", "zhang2020-bob"],
    ["truths"],
    ["worst-case", "--menu", "randomized-response:0.2", "--rounds", "5", "--epsilon", "0.5"],
]


def lines_at(width, dpcompose, monkeypatch, command):
    monkeypatch.setattr(output, "terminal_width", lambda: width)
    said = dpcompose(*command)
    assert said.code == 0, said.err
    return said.out.splitlines()


def tables(lines):
    """Lines with two columns at least."""
    return [line for line in lines if re.search(r"\S {2,}\S", line)]


@pytest.mark.sampled
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: "-".join(words)[:30])
def test_a_table_fits_the_terminal(dpcompose, monkeypatch, command):
    wide = lines_at(200, dpcompose, monkeypatch, command)
    narrow = lines_at(80, dpcompose, monkeypatch, command)
    assert all(len(line) <= 80 for line in tables(narrow)), max(tables(narrow), key=len)
    assert all(len(line) <= 200 for line in tables(wide))
    assert "\x1b" not in "".join(narrow)
    assert "x1b" not in "".join(narrow)
    assert not any("…" in line for line in narrow)
    names = [line.split("  ")[0] for line in tables(wide) if not line.startswith(" ")]
    whole = [name for name in names if len(name) < 40]
    assert all(any(line.startswith(name) for line in narrow) for name in whole)


def test_two_columns_may_have_one_name(capsys, monkeypatch):
    monkeypatch.setattr(output, "terminal_width", lambda: None)
    output.print_table("title", ("", "epsilon", "epsilon"), [("a", "1", "22")], right=("epsilon",))
    assert capsys.readouterr().out.splitlines()[2].split() == ["a", "1", "22"]


def test_what_is_left_out_is_named(dpcompose, monkeypatch):
    def shown(width):
        monkeypatch.setattr(output, "terminal_width", lambda: width)
        return dpcompose("bounds", "laplace:0.1", "--rounds", "100", "--delta", "1e-6").out

    assert "(who plays, source: in a wider window, or in a file)" in shown(80)
    assert "wider window" not in shown(None)
    assert "Theorem 3.3" in shown(None)
