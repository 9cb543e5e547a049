"""Families and filters are found by name, and only the one that is named is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

import simulator
from simulator.errors import InvalidInput
from simulator.foundations import grammar
from simulator.foundations.extensions import load_named
from simulator.theory import Composition, LaplaceLaw, PureDP, bound, compose_laws
from simulator.theory.events import named
from simulator.theory.events.named import compare
from simulator.theory.filters.named import BY_NAME, filter_class, parse_filter
from simulator.theory.guarantees.named import (
    FAMILIES,
    FORMS,
    parse_guarantee,
)


def family(name):
    """The class or the function of a family."""
    return load_named("families", FAMILIES, name)


LOADED = """
import sys
from pathlib import Path
{program}
names = [name for name in sys.modules if name.split(".")[0] == "simulator"]
files = [Path(sys.modules[name].__file__) for name in names]
print(sum(len(path.read_text().splitlines()) for path in files))
print(*names)
"""


def loaded(program):
    """(Lines, names) of the modules of this package that a program loads."""
    run = subprocess.run(
        [sys.executable, "-c", LOADED.format(program=program)],
        capture_output=True, text=True, check=True, cwd=Path(simulator.__file__).parents[1],
    )  # fmt: skip
    lines, names = run.stdout.splitlines()
    return int(lines), set(names.split())


def test_a_name_is_that_of_its_class():
    kinds = {name: getattr(family(name), "kind", None) for name in FAMILIES}
    assert kinds.pop("gaussian") is None  # a function: its family is gdp
    assert kinds == {name: name for name in kinds}
    assert {name: filter_class(name).name for name in BY_NAME} == {name: name for name in BY_NAME}


def test_the_forms_of_the_help_are_those_that_are_read():
    forms = {name: grammar.form(name, grammar.parameters_of(family(name))) for name in FAMILIES}
    forms["renyi"] = "renyi:ALPHA,EPSILON"  # which may be repeated
    assert ", ".join(forms.values()) == FORMS


@pytest.mark.sampled
@pytest.mark.parametrize(
    "program",
    [
        "from simulator import PureDP",
        "from simulator.theory import parse_guarantee; parse_guarantee('pure:0.1')",
        "from simulator.theory import parse_filter; parse_filter('sum:1')",
    ],
)
def test_a_plain_guarantee_loads_no_other_family(program):
    lines, names = loaded(program)
    assert lines < 3000
    assert "simulator.theory.guarantees.subsampled" not in names
    assert not [name for name in names if name.startswith("simulator.theory.pld")]


def test_a_family_that_is_named_is_loaded():
    sampled = "parse_guarantee('subsampled-gaussian:1,0.1')"
    _, names = loaded(f"from simulator.theory import parse_guarantee; {sampled}")
    assert "simulator.theory.guarantees.subsampled" in names


def test_an_unknown_name_is_one_line():
    with pytest.raises(InvalidInput, match=r"unknown family 'purely:0\.1'; did you mean pure"):
        parse_guarantee("purely:0.1")
    with pytest.raises(InvalidInput, match="'summ'; did you mean sum"):
        parse_filter("summ:1")
    with pytest.raises(InvalidInput, match="must be a subclass of Filter"):
        filter_class("certified")  # a certificate is read from a file, and made by no class


def test_rounds_of_one_mechanism_are_compared_by_its_own_law():
    rows = compare("laplace:0.1*2", delta=1e-6)
    exact = {row.name: row.answer for row in rows}["privacy-loss-distribution"]
    assert exact.lower <= compose_laws([(LaplaceLaw(0.1), 2)], 1e-6).epsilon(1e-6).upper
    assert exact.upper >= compose_laws([(LaplaceLaw(0.1), 2)], 1e-6).epsilon(1e-6).lower


def test_three_bounds_at_most_are_named_for_one_that_is_not_there():
    with pytest.raises(InvalidInput, match="no bound 'clone'; did you mean clones-") as found:
        compare("laplace:0.1*2", delta=1e-6, names=["clone"])
    assert str(found.value).count(" or ") == 2


class Theirs:
    """A mechanism that says what it guarantees, and no more."""

    def __init__(self, epsilon: float):
        self.epsilon = epsilon

    def guarantee(self):
        return PureDP(self.epsilon)


def test_a_mechanism_of_another_package_counts_by_its_guarantee(monkeypatch):
    monkeypatch.setattr(named, "added", lambda kind: {"theirs": None})
    monkeypatch.setattr(named, "load_added", lambda kind, name: Theirs)
    rows = compare("theirs:0.1*3", delta=1e-6)
    expected = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.1), 3))
    found = {row.name: row.answer for row in rows}["kairouz-oh-viswanath-3.3"]
    assert found == expected.epsilon(1e-6)


@pytest.mark.parametrize("question", [{}, {"delta": 1e-6, "epsilon": 1.0}])
def test_one_number_is_asked_for(question):
    with pytest.raises(InvalidInput, match="give a delta, for the epsilon at it, or an"):
        compare("laplace:0.1", "gaussian:5", **question)
