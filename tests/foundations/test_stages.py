"""Stages of long computations: told to whoever shows them, and to nobody without trouble."""

import pytest

from simulator.foundations import stages


class Notes:
    """A display that writes down what it is told."""

    def __init__(self):
        self.told = []

    def begin(self, name, total):
        self.told.append(("begin", name, total))
        return name

    def advance(self, stage, by=1.0):
        self.told.append(("advance", stage, by))

    def end(self, stage):
        self.told.append(("end", stage))


def test_nobody_need_look():
    with stages.stage("long", 3) as advance:
        advance()
        advance(2.0)
    assert list(stages.in_stages("abc", "letters")) == ["a", "b", "c"]
    assert stages.display() is None


def test_a_display_is_told_of_each_stage_and_of_its_end():
    notes = Notes()
    with stages.shown_by(notes), stages.stage("outer"):
        assert list(stages.in_stages("ab", "letters")) == ["a", "b"]
    assert notes.told == [
        ("begin", "outer", None),
        ("begin", "letters", 2),
        ("advance", "letters", 1.0),
        ("advance", "letters", 1.0),
        ("end", "letters"),
        ("end", "outer"),
    ]
    assert stages.display() is None


def test_a_stage_that_fails_or_is_left_ends_too():
    notes = Notes()
    with stages.shown_by(notes), pytest.raises(KeyboardInterrupt), stages.stage("torn"):
        raise KeyboardInterrupt
    with stages.shown_by(notes):
        for _ in stages.in_stages("abc", "letters"):
            break
    assert [told for told in notes.told if told[0] != "advance"] == [
        ("begin", "torn", None), ("end", "torn"), ("begin", "letters", 3), ("end", "letters"),
    ]  # fmt: skip
