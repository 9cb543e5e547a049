"""The door of Python: an argument of another kind is named, and other errors stay as they are."""

import pickle
from typing import Any

import numpy as np
import pytest

import simulator
from simulator import Composition, Laplace, PureDP, counting_query
from simulator.errors import InvalidInput, NotApplicable
from simulator.foundations import kinds
from simulator.foundations.attached import behind_door
from simulator.foundations.errors import raised
from simulator.foundations.kinds import fits
from simulator.identity.fingerprint import fingerprint
from simulator.studies import Study
from simulator.theory import (
    BoundOnComposition,
    Bracket,
    Brackets,
    LaplaceLaw,
    staircase,
)
from tests.helpers import random_calls
from tests.helpers.random_calls import (
    COUNT,
    leaks,
    public_methods,
    returned_objects,
    usual_objects,
)


def test_random_calls_end_in_errors_of_this_package_alone():
    assert [str(leak) for leak in leaks(200, seed=20_261_127, named="simulator.mechanisms.")] == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_many_random_calls_do_too(seed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some calls write
    assert [str(leak) for leak in leaks(5000, seed)] == []


SLOW = ("plot", "to_frame", "trade_off")


def test_random_calls_of_methods_do_too(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some calls write
    methods = public_methods(usual_objects())
    assert len(methods) > 60
    quick = {name: method for name, method in methods.items() if not name.endswith(SLOW)}
    assert [str(leak) for leak in leaks(300, seed=20_261_128, among=quick)] == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_many_random_calls_of_methods_do_too(seed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some calls write
    made = [*usual_objects(), *returned_objects(seed)]
    found = leaks(5000, seed, among=public_methods(made))
    assert [str(leak) for leak in found] == []


def test_a_field_that_was_made_by_hand_is_named():
    with pytest.raises(InvalidInput, match=r"its points must be a .*, not 3"):
        Study(3).to_csv("never.csv")


def test_methods_of_what_is_public_are_behind_the_door():
    for value in (object(), "text", [1.0]):
        with pytest.raises(InvalidInput, match=r"PureDP.admits: other must be a Guarantee, not"):
            PureDP(0.2).admits(value)


def test_an_empty_argument_and_shapes_that_do_not_fit_are_named(monkeypatch):
    monkeypatch.setattr(kinds, "users_place", lambda error: "")  # as of a function of the package

    def first(values: "Any", others: "Any") -> "Any":
        return np.add(values, others)[0]

    with pytest.raises(InvalidInput, match="first: values must not be empty"):
        behind_door(first, "first")([], 1.0)
    with pytest.raises(InvalidInput, match="first: arrays of these shapes do not fit"):
        behind_door(first, "first")([1.0, 2.0], [1.0, 2.0, 3.0])

    def picked(values: "Any") -> "Any":
        return 1.0 if values else 0.0

    with pytest.raises(InvalidInput, match="picked: values must not be an array"):
        behind_door(picked, "picked")(np.ones(2))


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: LaplaceLaw(0.5).cdf("a"), "PrivacyLossLaw.cdf: loss must be a number, not 'a'"),
        (lambda: LaplaceLaw(0.5).sf(0.1, 2), "under must be 0 or 1, not 2"),
        (
            lambda: LaplaceLaw(0.5).continuous_masses(0.5),
            "LaplaceLaw.continuous_masses: edges must be an array of numbers, not 0.5",
        ),
        (
            lambda: Laplace(COUNT, 0.1).scalar_pair([]),
            "ScalarPair: row must not be empty",
        ),
        (
            lambda: Laplace(COUNT, 0.1).scalar_pair((1.0,)),
            "ScalarPair: row has too few items",
        ),
        (lambda: Brackets("x", [1.0], ["a"]), "each bracket must have a value and ends, not 'a'"),
        (lambda: BoundOnComposition(3, 4), "bound must be a Bound, not 3"),
        (
            lambda: staircase(5e-324, 0.5),
            "staircase: a number is outside the range of floats "
            "(math domain error); give less extreme ones",
        ),
    ],
)
def test_what_random_calls_found_is_one_clear_line(call, line):
    Laplace(COUNT, 0.1).scalar_pair((0.0, 1.0, 1.0))  # what was returned once is behind the door
    with pytest.raises(InvalidInput) as refused:
        call()
    assert str(refused.value) == line


def test_a_compiled_function_that_cannot_be_called_so_is_named(monkeypatch):
    monkeypatch.setattr(kinds, "users_place", lambda error: "")  # as of a function of the package

    def searches(admit: "Any") -> float:
        return admit(0.5)

    with pytest.raises(InvalidInput, match=r"searches: admit cannot be called so \(.*no len"):
        behind_door(searches, "searches")(len)


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


def test_an_argument_that_does_not_print_is_named_by_its_kind():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(InvalidInput, match=r"a list, not a Silent$"):
        guarded(Silent())


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
        (None, "list[float] | None", True), (None, "list[float | None]", False),
        ((1, ("a", 2)), "tuple[int, tuple[str, int]]", True),
        (((1, 2), "a"), "tuple[tuple[int, int], str]", True),
    ],
)  # fmt: skip
def test_kinds(value, kind, whether):
    assert fits(value, kind, scaled) is whether


def test_a_function_behind_the_door_is_known_and_sent_as_before():
    inner = counting_query.__wrapped__
    assert fingerprint(query=counting_query) == fingerprint(query=inner)
    assert pickle.loads(pickle.dumps(inner)) is inner
    assert pickle.loads(pickle.dumps(counting_query)) is simulator.counting_query
