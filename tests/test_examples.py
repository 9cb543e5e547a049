"""The examples in the docstrings of the public names: each prints what it says, and few lack one.

An example has its own imports, so that what ``help()`` shows can be pasted into a session.
"""

import doctest
import importlib
import inspect
import re

import pytest

from tests.helpers.public import NAMESPACES

ROOMS = [
    room
    for room in ("simulator", *NAMESPACES)
    if room != "simulator.errors" and not room.startswith("simulator.teaching.")
]
"""Errors need no example; claims and games of the teaching shelf are played by name."""

WITHOUT = {
    "CalibratedNoise": "its search takes seconds",
    "calibrate_noise": "its search takes seconds",
    "from_dp_accounting": "it needs a package that is not installed with this one",
}
"""Public functions and classes without an example, and why."""

SLOW = {
    "sampled_with_replacement": "it loads scipy.stats",
    "SampledWithReplacementEvent": "it loads scipy.stats",
}
"""Examples of more than a second, which run nightly."""


HELD = {
    "simulator.Result": [
        "delta", "delta_band", "difference", "epsilon", "mean", "moment_band", "tail", "tail_band",
        "trade_off", "variance",
    ],
    "simulator.theory.events.Account": ["compare", "composition", "delta", "epsilon", "then"],
    "simulator.theory.BoundOnComposition": ["delta", "epsilon"],
    "simulator.theory.Bracket": ["largest", "meet"],
    "simulator.theory.Composition": ["of", "repeat", "total"],
    "simulator.theory.Guarantee": ["admits", "hockey_stick", "implies", "renyi"],
    "simulator.worst.Policy": ["law", "save"],
}  # fmt: skip
"""The methods of results that a user holds most: each has an example of its own."""


def methods():
    """(name, function) of every method of HELD."""
    for name, listed in HELD.items():
        room, _, kind = name.rpartition(".")
        held = getattr(importlib.import_module(room), kind)
        yield from ((f"{name}.{each}", getattr(held, each)) for each in listed)


def described(rooms):
    """(room and name, object) of every public function and class but errors, each once."""
    found = {}
    for room in rooms:
        home = importlib.import_module(room)
        for name in home.__all__:
            public = inspect.unwrap(getattr(home, name))
            error = isinstance(public, type) and issubclass(public, BaseException)
            if (inspect.isclass(public) or inspect.isroutine(public)) and not error:
                found.setdefault(id(public), (f"{room}.{name}", public))
    return list(found.values())


PARSER = doctest.DocTestParser()


def example_of(name, public):
    """The example of a name in a namespace of its own; None where its docstring has none."""
    text = public.__doc__ or ""
    return PARSER.get_doctest(text, {}, name, None, 0) if ">>> " in text else None


def differences(example):
    """What an example prints otherwise than it says, as doctest reports it."""
    lines = []
    doctest.DocTestRunner(verbose=False).run(example, out=lines.append)
    return "".join(lines)


def examples_of(slow):
    """The examples that are slow, or those that are not."""
    named = [each for each in described(ROOMS) if (each[1].__name__ in SLOW) == slow]
    return [example for each in named if (example := example_of(*each))]


@pytest.mark.usefixtures("few_draws")
def test_examples_print_what_they_say():
    examples = [example_of(*each) for each in methods()]
    assert None not in examples  # each method of HELD has one
    assert "".join(map(differences, [*examples_of(slow=False), *examples])) == ""


@pytest.mark.nightly
def test_slow_examples_print_what_they_say():
    slow = examples_of(slow=True)
    assert len(slow) == len(SLOW)
    assert "".join(map(differences, slow)) == ""


def test_every_public_name_has_an_example():
    named = described(ROOMS)
    assert len(named) > 250
    without = {public.__name__ for name, public in named if not example_of(name, public)}
    assert without == set(WITHOUT)


def test_no_example_is_skipped_or_shows_floats_to_the_last_digit():
    long = re.compile(r"\d\.\d{10,}")
    for name, public in [*described(ROOMS), *methods()]:
        for each in getattr(example_of(name, public), "examples", ()):
            assert doctest.SKIP not in each.options, name
            assert not long.search(each.want), name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (">>> round(0.1 + 0.2, 6)\n0.3\n", ""),
        (">>> round(0.1 + 0.2, 6)\n0.4\n", "Expected:\n    0.4\nGot:\n    0.3"),
        (">>> Laplace\n", "NameError: name 'Laplace' is not defined"),
    ],
)
def test_an_example_that_prints_otherwise_is_found(text, found):
    broken = type("Broken", (), {"__doc__": text})
    said = differences(example_of("broken", broken))
    assert found in said if found else said == ""
    assert example_of("plain", type("Plain", (), {"__doc__": "No example."})) is None
