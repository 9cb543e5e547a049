"""The door of Python: an argument of another kind is named, and other errors stay as they are."""

import pickle
from typing import Any

import numpy as np
import pytest

import simulator
from simulator import Composition, PureDP, counting_query
from simulator.errors import InvalidInput, NotApplicable
from simulator.foundations.attached import behind_door
from simulator.foundations.errors import raised
from simulator.foundations.kinds import fits
from simulator.identity.fingerprint import fingerprint
from simulator.theory import Bracket
from tests.helpers import random_calls
from tests.helpers.random_calls import leaks


def test_random_calls_end_in_errors_of_this_package_alone():
    assert [str(leak) for leak in leaks(200, seed=20_261_127, named="simulator.mechanisms.")] == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_many_random_calls_do_too(seed):
    assert [str(leak) for leak in leaks(5000, seed)] == []


def test_a_random_call_that_leaks_is_found(monkeypatch):
    def careless(values):
        return len(values)

    monkeypatch.setattr(random_calls, "public_calls", lambda: {"careless": careless})
    assert {leak.name for leak in leaks(20, seed=1)} == {"careless"}


def scaled(values: "list[float]", by: "float | None" = None, how: "str" = "up") -> float:
    """A function without a check of its own."""
    if how == "raise":
        raise ValueError("a fault")
    return sum(values) * (by or 1.0) + {"up": 1, "down": -1}[how.lower()]


guarded = behind_door(scaled, "scaled")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((3,), "scaled: values must be a list, not 3"),
        ((["a"],), "scaled: values must be a list, not ['a']"),
        (([1.0], "x"), "scaled: by must be a number or None, not 'x'"),
        (([1.0], 1.0, None), "scaled: how must be text, not None"),
    ],
)
def test_the_argument_is_named(arguments, line):
    with pytest.raises(InvalidInput) as refused:
        guarded(*arguments)
    assert str(refused.value) == line


def test_what_works_is_not_refused_and_what_fits_is_not_blamed():
    assert guarded(range(3), np.float32(2.0)) == 7.0
    assert guarded(np.ones(2), True) == 3.0
    with pytest.raises(ValueError, match="a fault"):
        guarded([1.0], how="raise")
    with pytest.raises(KeyError):
        guarded([1.0], how="sideways")
    with pytest.raises(TypeError, match="missing 1 required"):
        guarded()


def test_errors_of_this_package_and_of_users_pass():
    def refuses(values: "list[float]") -> None:
        raise NotApplicable("no")

    with pytest.raises(NotApplicable, match="no"):
        behind_door(refuses, "refuses")(3)
    with pytest.raises(InvalidInput, match=r"Bracket.*not 'x'|must be a number, not 'x'"):
        Bracket("x", 1.0)


def test_a_users_function_that_divides_by_zero_is_named_with_its_line():
    def searches(admit: "Any") -> bool:
        return admit(0)

    def admit(state):
        return 1 / state

    line = admit.__code__.co_firstlineno + 1
    with pytest.raises(InvalidInput) as refused:
        behind_door(searches, "searches")(admit)
    assert str(refused.value) == (
        "searches: your code raised ZeroDivisionError: division by zero "
        f"(test_kinds.py, line {line})"
    )


def test_a_compiled_part_of_numpy_is_no_users_file():
    for draw in (lambda rng: rng.integers(0), lambda rng: rng.normal(0.0, -1.0)):
        with pytest.raises(ValueError) as found:  # noqa: PT011 (the text is of numpy)
            draw(np.random.default_rng(0))
        assert f"(test_kinds.py, line {draw.__code__.co_firstlineno})" in raised(found.value)


@pytest.mark.parametrize(
    ("value", "kind", "whether"),
    [
        (1.0, "float", True), (None, "float", False), ("1", "float", False), (3, "Any", True),
        ({1: 2}, "Sequence[float]", False), ((1, 2), "tuple[float, float]", True),
        ((1,), "tuple[float, float]", False), ([None], "Sequence[float]", False),
        (iter([1]), "Iterable[int]", True), (iter([1]), "Sequence[int]", False),
        (np.zeros((2, 2)), "ArrayLike", True), (np.array(["a"]), "ArrayLike", False),
        (len, "Callable[[Any], int] | None", True), (2, "dict[str, int]", False),
        (np.array(1, dtype=object), "Sequence[float]", False),
        (np.array(1, dtype=object), "float", False), ({1: 2}, "Iterable[str]", False),
        (Composition.repeat(PureDP(0.1), 2), "Iterable[float]", False),
        ({1.0}, "Iterable[int]", False), (b"a", "str", False), (b"a", "bytes", True),
    ],
)  # fmt: skip
def test_kinds(value, kind, whether):
    assert fits(value, kind, scaled) is whether


def test_a_function_behind_the_door_is_known_and_sent_as_before():
    inner = counting_query.__wrapped__
    assert fingerprint(query=counting_query) == fingerprint(query=inner)
    assert pickle.loads(pickle.dumps(inner)) is inner
    assert pickle.loads(pickle.dumps(counting_query)) is simulator.counting_query
