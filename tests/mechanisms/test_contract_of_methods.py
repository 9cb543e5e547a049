"""A mechanism whose methods take other arguments than they are called with is refused at once."""

from dataclasses import dataclass

import pytest

from simulator import PureDP
from simulator.data import ADD_REMOVE
from simulator.errors import InvalidInput
from simulator.mechanisms import BlackBox, Mechanism


def test_a_wrong_signature_is_refused_where_the_class_is_written():
    with pytest.raises(InvalidInput) as caught:

        class Forgetful(Mechanism):
            def guarantee(self, relation=ADD_REMOVE):
                return PureDP(0.1)

            def sample(self, database):
                return 0.0

            def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
                return 0.0

    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert "Forgetful.sample(self, database) does not fit" in said
    assert "sample(self, database, noise, relation)" in said


@pytest.mark.parametrize("more", ["", ", relation=None", ", relation, extra=1", ", *others"])
def test_what_can_be_called_with_the_arguments_is_taken(more):
    names = {"Mechanism": Mechanism, "dataclass": dataclass}
    fits = bool(more)
    text = (
        "@dataclass(frozen=True)\nclass Own(Mechanism):\n"
        f"    def sample(self, database, noise{more}):\n        return 0.0\n"
    )
    if fits:
        exec(text, names)
    else:
        with pytest.raises(InvalidInput, match="does not fit the contract"):
            exec(text, names)


def test_a_black_box_needs_a_function():
    with pytest.raises(InvalidInput, match="BlackBox needs a function of a database, not 3"):
        BlackBox(3, PureDP(0.1))
