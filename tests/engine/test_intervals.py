"""An interval of an unknown number: its parts, its atoms, and the double where a part ends."""

import math

import pytest

from simulator.engine.enumerated.intervals import Line

WHOLE = Line("answer", 99.5, 103.5, spacing=1.0)
"""A whole number from 100 to 103."""


def test_the_atoms_of_a_lattice_are_those_of_its_interval_wherever_it_lies():
    found = WHOLE.atoms(4)
    assert [atom for atom, _ in found] == [100.0, 101.0, 102.0, 103.0]
    assert [(part.low, part.high) for _, part in found] == [
        (99.5, 100.5), (100.5, 101.5), (101.5, 102.5), (102.5, 103.5)
    ]  # fmt: skip
    halves = Line("answer", -1.0, 0.5, spacing=0.5, origin=0.25)
    assert [atom for atom, _ in halves.atoms(3)] == [-0.75, -0.25, 0.25]


def test_what_has_too_many_atoms_or_none_is_not_listed():
    assert WHOLE.atoms(3) is None
    assert Line("coin", 0.0, 1.0).atoms(100) is None
    assert Line("coin", 0.0, 1.0, spacing=0.5, lattice=True).atoms(100) is None
    assert Line("answer", -math.inf, 3.5, spacing=1.0).atoms(100) is None


@pytest.mark.parametrize(
    ("threshold", "inclusive", "least_above"),
    [(101.0, False, 101), (101.0, True, 102), (101.3, False, 102), (101.3, True, 102)],
)
def test_a_threshold_parts_the_atoms_below_it_from_the_others(threshold, inclusive, least_above):
    (below, low), (above, high) = WHOLE.below(threshold, inclusive)
    assert (below, above) == (True, False)
    assert [atom for atom, _ in low.atoms(9)] == [*range(100, least_above)]
    assert [atom for atom, _ in high.atoms(9)] == [*range(least_above, 104)]


def test_a_threshold_outside_parts_nothing():
    for threshold, whether in ((3.0, False), (200.0, True), (math.inf, True), (-math.inf, False)):
        assert WHOLE.below(threshold, inclusive=True) == [(whether, WHOLE)]


def test_a_comparison_ends_where_its_arithmetic_does_however_far_the_guess_is():
    line = Line("answer", -math.inf, math.inf)
    for near in (0.0, 1.0, -1e300):
        assert line.end_of(lambda x: x < 5.0, near) == 5.0
        assert line.end_of(lambda x: 1.0 + x <= 1.0, near) == math.nextafter(2.0**-53, 1.0)
        assert WHOLE.end_of(lambda x: x < 101.7, near) == 101.5
