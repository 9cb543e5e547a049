"""A result that is made by hand of other types is refused where it is made."""

from dataclasses import fields, replace

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.analysis.result import Result
from simulator.errors import DpcomposeError, InvalidInput
from tests.helpers.games import press_when_ahead

WRONG = (
    None, 3, -1.5, float("nan"), "text", b"bytes", [], [1], {"a": 1}, {0: None}, {0: [1.0]},
    {2: 1}, {True: 1}, (), (1, 2), {1}, np.zeros(3), np.zeros((2, 2)), object(), PureDP, print,
)  # fmt: skip
"""Values that one field or another cannot have."""


@pytest.fixture(scope="module")
def whole():
    return simulate(press_when_ahead, PureDP(0.2), 5, 40, jobs=1, keep_views=2, progress=False)


def used(result):
    """Call what a user calls on a result."""
    result.tail(0.3)
    result.delta(0.1, experiment=1)
    result.losses(0)
    result.samples.keys()
    repr(result)
    result._repr_html_()
    result.views[:1]
    assert result == result


@pytest.mark.parametrize("name", [each.name for each in fields(Result)])
def test_a_field_of_another_type_is_refused_or_does_no_harm(whole, name):
    used(whole)
    for value in WRONG:
        try:
            used(replace(whole, **{name: value}))
        except DpcomposeError as error:
            lines = str(error).splitlines()
        else:
            lines = [""]
        assert len(lines) == 1, value


def test_it_is_refused_where_it_is_made(whole):
    for name, value, said in (
        ("specification", 3, "specification must be a Specification, not 3"),
        ("sample", [1], "sample must be a Mapping"),
        ("sample", {2: 1}, "sample is by experiment, 0 or 1, not 2"),
        ("weights", {0: None}, r"weights\[0\] must be a WeightedSample, not None"),
        ("kept_views", (1,), "each of kept_views must be a View, not 1"),
        ("seconds", "long", "seconds"),
    ):
        with pytest.raises(InvalidInput, match=said):
            replace(whole, **{name: value})
