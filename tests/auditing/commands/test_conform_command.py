"""``dpcompose conform``: libraries listed, ours tried, absent ones said to be absent."""

from __future__ import annotations

import json

import pytest

from simulator.auditing import conformance
from simulator.auditing.conformance import MODULES, running
from simulator.auditing.conformance.known_libraries import find, why_absent
from simulator.foundations.errors import InvalidInput

CHEAP = ("--share", "0.01")


@pytest.fixture
def quick(monkeypatch):
    """Accountants alone: filters and odometers have tests of their own."""
    monkeypatch.setattr(running, "_PLAYS", {"filter": (), "odometer": ()})


def test_alone_it_lists_what_is_installed(dpcompose):
    said = dpcompose("conform")
    assert (said.code, said.err) == (0, "")
    assert all(name in said.out for name in MODULES)
    listed = json.loads(dpcompose("conform", "--json").out)
    assert [one["library"] for one in listed] == list(MODULES)
    assert {"library": "dpcompose", "absent": ""} in listed


def test_our_own_are_sound_and_a_pull_request_gets_both_reports(dpcompose, quick, tmp_path):
    junit, comment = tmp_path / "conform.xml", tmp_path / "conform.md"
    said = dpcompose("conform", "dpcompose", *CHEAP, "--junit", junit, "--comment", comment)
    assert said.code == 0
    assert "privacy-loss-distribution" in said.out
    assert "unsound:" not in said.out
    assert 'failures="0"' in junit.read_text(encoding="utf-8")
    assert "No defect found." in comment.read_text(encoding="utf-8")


def test_json_has_every_subject(dpcompose, quick):
    said = dpcompose("conform", "dpcompose", *CHEAP, "--json")
    (found,) = json.loads(said.out)
    assert found["defects"] == []
    assert {row["role"] for row in found["subjects"]} == {"accountant", "filter", "odometer"}
    assert all(row["unsound"] == row["fails"] == 0 for row in found["subjects"])


def test_an_unknown_library_is_one_line(dpcompose):
    said = dpcompose("conform", "dpcomposer")
    assert said.code == 2
    assert said.err.splitlines() == [
        f"error: unknown library 'dpcomposer'; one of {', '.join(MODULES)}, or path/to/adapter.py"
    ]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "dpcompose"])
def test_an_absent_library_is_said_to_be_absent(dpcompose, name):
    if not why_absent(find(name)):
        pytest.skip(f"{name} is installed")
    said = dpcompose("conform", name)
    assert said.code == 2
    assert f"{name}: absent: " in said.out
    assert f"pip install 'dpcompose[{find(name).extra}]'" in said.out


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"role": "acountant"}, "role of the subject 'mine': 'acountant' is unknown; there are"),
        ({"kinds": "pure"}, "the kinds of the subject 'mine' must be a list or a tuple"),
        ({"kinds": ("Pure",)}, "'Pure' is unknown; there are gaussian, laplace"),
        ({"relations": ("add",)}, "'add' is unknown; there are add-remove, replace-one"),
        ({"make": None}, "make of the subject 'mine' must be callable, not None"),
    ],
    ids=["role", "kinds", "kind", "relation", "make"],
)
def test_a_wrong_subject_is_one_line(dpcompose, tmp_path, wrong, words, inside):
    right = {"name": "mine", "role": "accountant", "make": int, "claims": "", "kinds": ("pure",)}
    given = ", ".join(
        f"{name}={value.__name__ if isinstance(value, type) else repr(value)}"
        for name, value in (right | wrong).items()
    )
    made = f"Subject({given})"
    path = tmp_path / "adapter.py"
    path.write_text(
        "from simulator.auditing.conformance import Library, Subject\n"
        + (f"load = lambda: [{made}]\n" if inside else f"s = {made}\nload = lambda: [s]\n")
        + "LIBRARY = Library(name='mine', load=load)\n",
        encoding="utf-8",
    )
    said = dpcompose("conform", path)
    assert said.code == 2
    (line,) = (said.out + said.err).splitlines()
    assert words in line


def test_a_report_into_a_file_is_one_line_before_anything_is_tried(dpcompose, tmp_path):
    (tmp_path / "none").write_text("a file", encoding="utf-8")
    said = dpcompose("conform", "dpcompose", "--junit", tmp_path / "none" / "conform.xml")
    assert said.code == 2
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("quick", [True, False])
def test_what_showed_defects_is_asked_first(dpcompose, monkeypatch, quick):
    asked = []

    def tried(name, cases, **how):
        asked.extend(cases)
        raise InvalidInput("enough")

    monkeypatch.setattr(conformance, "tried", tried)
    assert dpcompose("conform", "dpcompose", *(["--quick"] if quick else CHEAP)).code == 2
    known = conformance.known_nasty()
    assert asked[: len(known)] == known
