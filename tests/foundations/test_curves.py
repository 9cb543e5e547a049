"""Values along points: their table, and how they are drawn."""

import csv

import numpy as np
import pytest

from simulator.analysis.plots import paper_figure
from simulator.foundations.curves import UPPER_END
from simulator.foundations.errors import InvalidInput
from simulator.theory.bracket import Bracket
from simulator.theory.brackets import Brackets

POINTS = np.linspace(0.0, 3.0, 31)
SEEN = POINTS < 2.0
ENDS = [
    Bracket(0.5 * v, 2.0 * v, v) if v else Bracket(0.0, 1e-3, 0.0) for v in np.exp(-POINTS) * SEEN
]


def series(of="delta of epsilon"):
    return Brackets("epsilon", POINTS, ENDS, of)


def test_zeros_of_a_probability_are_arrows_at_the_upper_ends():
    with paper_figure() as (_, axes):
        assert series().plot(axes, label="mine", color="red") is axes
    curve, arrows, key = axes.lines
    np.testing.assert_allclose(curve.get_ydata(), np.exp(-POINTS[SEEN]))
    assert (curve.get_label(), curve.get_color(), key.get_label()) == ("mine", "red", UPPER_END)
    assert arrows.get_xdata().min() >= 2.0
    assert np.all(arrows.get_ydata() == 1e-3)
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")


def test_a_value_of_zero_that_is_no_probability_is_drawn():
    with paper_figure() as (_, axes):
        series("value").plot(axes)
    (curve,) = axes.lines
    assert curve.get_ydata().size == POINTS.size
    assert axes.get_yscale() == "linear"


def test_what_is_not_axes_is_refused():
    with pytest.raises(InvalidInput, match="ax must be matplotlib axes"):
        series().plot("axes")


def test_the_table_has_the_points_and_the_ends(tmp_path):
    with open(series()[:2].to_csv(tmp_path / "x.csv"), newline="") as file:
        names, *rows = csv.reader(file)
    assert names == ["epsilon", "value", "lower", "upper"]
    assert [tuple(map(float, row)) for row in rows] == [
        (point, e.value, e.lower, e.upper) for point, e in zip(POINTS[:2], ENDS)
    ]
    assert series() == series()
    assert series() != series()[:2]
    with pytest.raises(InvalidInput, match="points of shape"):
        Brackets("epsilon", POINTS[:2], ENDS)
