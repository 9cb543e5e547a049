"""Call the command line in this process, as a shell would see it."""

import json
from typing import NamedTuple

import pytest

from simulator.doors.cli import main


class Said(NamedTuple):
    """What a call left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one JSON document on standard output; NaN and infinity are none."""
        return json.loads(self.out, parse_constant=refuse_constant)

    @property
    def complaint(self):
        """The one line of a call that was refused."""
        assert self.code == 2, self
        assert self.out == ""
        assert self.err.endswith("\n")
        (line,) = self.err.splitlines()
        prefix, _, text = line.partition("error: ")
        assert prefix == ""
        return text


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


@pytest.fixture
def dpcompose(capsys):
    """``dpcompose("simulate", "press-when-ahead", ...)`` returns what it said."""

    def call(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Said(left.value.code, out, err)

    return call


ADVERSARY = """
from simulator import Database, Laplace, counting_query

EVERYONE = Database({"alice": 1, "bob": 1, "others": 398})
WITHOUT_ALICE = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def press_when_ahead(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1
"""


@pytest.fixture
def adversary_file(tmp_path):
    """``adversary_file(more)`` writes an adversary's file and returns ``path:function``."""

    def write(more="", function="press_when_ahead", name="mine.py"):
        path = tmp_path / name
        path.write_text(ADVERSARY + more)
        return f"{path}:{function}"

    return write
