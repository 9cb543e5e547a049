import subprocess
import sys
from dataclasses import dataclass

import matplotlib
import numpy as np
import pytest

from simulator.analysis.plots import (
    Band,
    DivergenceCurve,
    TailCurve,
    legend,
    paper_figure,
    plot_bounds,
    plot_divergence,
    plot_drift,
    plot_epsilon_against_rounds,
    plot_rare,
    plot_tails,
    plot_trade_off,
    save,
)
from simulator.analysis.plots.names import LABELS, label
from simulator.analysis.plots.style import drawable, measured, promised, promises, spaced_marks
from simulator.foundations.curves import UPPER_END
from simulator.foundations.errors import InvalidInput
from simulator.theory.bounds.registry import all_bounds

X = np.linspace(0.0, 4.0, 21)
FALLING = np.exp(-X)
STEP = np.where(X < 3.0, FALLING, 0.0)


def band(value, width=0.2):
    return Band(value, value * (1 - width), value * (1 + width) + 1e-3)


def draw_tails(axes):
    plot_tails(axes, X, {"a": band(STEP), "b": band(FALLING)}, {"basic": TailCurve(X, STEP)})


def draw_rounds(axes):
    points = {"measured": (X[1:4] + 1, band(X[1:4]))}
    plot_epsilon_against_rounds(
        axes, X + 1, {"basic": X + 1}, delta=2e-6, crossover=3, points=points
    )


def draw_drift(axes):
    plot_drift(axes, X, X, {"central 95%": (X - 1, X + 1)}, {"Azuma": X + 3}, paths=[X + 0.5])


def draw_trade_off(axes):
    type_1 = np.linspace(0, 1, 11)
    plot_trade_off(axes, {"a": (type_1, band((1 - type_1) ** 2))}, {"basic": (type_1, 0 * type_1)})


def draw_divergence(axes):
    plot_divergence(axes, X, {"a": band(STEP)}, {"exact": DivergenceCurve(X, STEP)})


DRAWINGS = [draw_tails, draw_divergence, draw_rounds, draw_drift, draw_trade_off]


@pytest.mark.sampled
@pytest.mark.parametrize("draw", DRAWINGS, ids=lambda draw: draw.__name__)
def test_each_figure_names_its_axes_and_every_series(draw, tmp_path):
    with paper_figure() as (figure, axes):
        draw(axes)
        legend(figure)
        for path in save(figure, tmp_path / "deep" / "figure"):
            assert path.stat().st_size > 1000
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(names) == len(set(names)) >= 2


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("draw", DRAWINGS, ids=lambda draw: draw.__name__)
def test_the_legend_covers_no_axes(draw):
    with paper_figure() as (figure, axes):
        draw(axes)
        legend(figure)
        figure.canvas.draw()
        inside = figure.legends[0].get_window_extent()
        outside = axes.get_tightbbox()
        whole = figure.bbox
    assert inside.y1 <= outside.y0 + 1
    assert whole.x0 <= inside.x0
    assert inside.x1 <= whole.x1


SAVING = """
import sys
sys.path.insert(0, sys.argv[2])
from test_plots import *
for draw in DRAWINGS:
    with paper_figure() as (figure, axes):
        draw(axes)
        legend(figure)
        save(figure, f"{sys.argv[1]}/{draw.__name__}")
"""


@pytest.mark.nightly
def test_two_processes_write_the_same_bytes(tmp_path, request):
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", SAVING, tmp_path / seed, request.path.parent],
            check=True,
            env={"PYTHONHASHSEED": seed, "HOME": str(tmp_path), "TZ": f"UTC+{seed}"},
        )
    first = {file.name: file.read_bytes() for file in (tmp_path / "1").iterdir()}
    second = {file.name: file.read_bytes() for file in (tmp_path / "2").iterdir()}
    assert len(first) == 2 * len(DRAWINGS)
    assert first == second
    for content in first.values():
        assert b"<dc:date>" not in content
        assert b"matplotlib.org" not in content
    # Bytes that are the same whatever is drawn would pass the test above.
    assert len(set(first.values())) == len(first)


def test_a_picture_carries_no_date(tmp_path):
    with paper_figure() as (figure, axes):
        axes.plot(X, FALLING)
        save(figure, tmp_path / "curve")
    assert b"<dc:date>" not in (tmp_path / "curve.svg").read_bytes()


def test_the_style_stays_inside_the_figure():
    matplotlib.rcParams["backend"]  # settled on first reading, which would look like a change
    before = matplotlib.rcParams.copy()
    with paper_figure(2) as (_, axes):
        assert matplotlib.rcParams["svg.hashsalt"] == "dpcompose"
        assert len(axes) == 2
    assert matplotlib.rcParams == before


def luminance(colour):
    red, green, blue = matplotlib.colors.to_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_series_can_be_told_apart_in_grey():
    looks = [measured(index) for index in range(9)]
    assert len({look["marker"] for look in looks}) == 9
    assert len({str(promised(index)["linestyle"]) for index in range(6)}) == 6
    assert len({str(promised(index)) for index in range(30)}) == 30
    # Light enough to differ from black bounds, dark enough to be seen on white.
    assert all(0.1 < luminance(look["color"]) < 0.7 for look in looks)


def test_a_tail_without_hits_is_an_upper_limit_and_not_a_zero():
    with paper_figure() as (_, axes):
        plot_tails(axes, X, {"a": band(STEP), "none": Band(0 * X, 0 * X, 0 * X + 1e-3)})
        curves = {line.get_label(): line for line in axes.lines}
        floor = axes.get_ylim()[0]
    np.testing.assert_array_equal(curves["a"].get_xdata(), X[X < 3.0])
    np.testing.assert_array_equal(curves["a"].get_ydata(), STEP[X < 3.0])
    assert "none (none seen)" in curves
    assert floor == pytest.approx(STEP[STEP > 0].min() / np.sqrt(10))
    arrows = [line for line in axes.lines if line.get_label().startswith("_")]
    for line, first in zip(arrows, (3.0, 0.0), strict=True):
        assert line.get_linestyle() == "None"
        assert 0 < line.get_xdata().size <= 8
        assert first <= line.get_xdata().min() < first + 1.0
        np.testing.assert_allclose(line.get_ydata(), 1e-3)
    assert axes.get_legend_handles_labels()[1].count(UPPER_END) == 1


def test_a_bound_of_zero_falls_off_the_axis():
    with paper_figure() as (_, axes):
        draw_tails(axes)
        drawn = next(line for line in axes.lines if line.get_label() == "basic").get_ydata()
        assert np.all(drawn[X >= 3.0] < axes.get_ylim()[0])
        assert np.all(drawn > 0)


def test_markers_are_spaced_on_the_axis_and_not_by_count():
    crowded = np.concatenate([np.linspace(0, 1, 1000), np.linspace(1, 10, 50)])
    places = crowded[spaced_marks(crowded, 0)]
    assert np.diff(places).max() < 2 * np.diff(places).min()
    assert spaced_marks(np.array([3.0]), 2) == [0]


def test_delta_is_written_as_a_power_of_ten():
    with paper_figure() as (_, axes):
        draw_rounds(axes)
        assert axes.get_ylabel() == r"$\varepsilon$ at $\delta = 2 \times 10^{-6}$"


def test_bounds_are_drawn_against_the_rounds_and_what_is_measured_beside_them():
    with paper_figure() as (_, axes):
        draw_rounds(axes)
        (drawn,) = (line for line in axes.lines if line.get_label() == "basic")
        (bars,) = axes.containers
    np.testing.assert_array_equal(drawn.get_xydata().T, [X + 1, X + 1])
    np.testing.assert_array_equal(bars[0].get_xydata().T, [X[1:4] + 1, X[1:4]])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda axes: plot_tails(axes, X[:3], {"a": band(X)}), "'a' needs arrays of one shape"),
        (lambda axes: plot_tails(axes, X, {"a": band(0 * X)}), "no curve has a hit"),
        (lambda axes: plot_drift(axes, X, X[1:], {}), "'mean' needs"),
        (lambda axes: plot_epsilon_against_rounds(axes, X, {"b": X[1:]}), "'b' needs"),
        (lambda axes: plot_trade_off(axes, {}, {"c": ([], [])}), "'c' needs"),
    ],
)
def test_data_that_do_not_go_together_are_refused(draw, message):
    with paper_figure() as (_, axes), pytest.raises(InvalidInput, match=message):
        draw(axes)


def test_the_drift_of_a_single_round_can_be_seen():
    """One point makes no line: the panel was empty, and its axis went from 0.96 to 1.04."""
    with paper_figure() as (_, axes):
        plot_drift(axes, [1], [0.2], {"spread": ([0.1], [0.3])}, {"Azuma": [0.5]}, paths=[[0.4]])
    assert [line.get_ydata().tolist() for line in axes.lines] == [[y, y] for y in (0.4, 0.2, 0.5)]
    assert all(line.get_xdata().tolist() == [0.5, 1.5] for line in axes.lines)
    assert [line.get_color() for line in axes.lines][:2] == ["0.35", measured(0)["color"]]
    assert axes.get_xlim() == (0.5, 1.5)
    assert axes.get_xticks().tolist() == [1.0]
    with paper_figure() as (_, axes), pytest.raises(InvalidInput, match="'mean' needs"):
        plot_drift(axes, [1], [0.2, 0.3], {})


def test_an_unwritable_place_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with paper_figure() as (figure, _), pytest.raises(InvalidInput, match="cannot write"):
        save(figure, tmp_path / "file" / "figure")


@dataclass(frozen=True)
class MeasuredDelta:
    """A band that says of itself that it is one of δ(ε)."""

    epsilons: np.ndarray
    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def test_a_tail_is_not_drawn_beside_a_divergence():
    """δ(ε) <= Pr[L > ε]: in one picture an honest tail would lie above the exact curve."""
    tail, divergence = TailCurve(X, STEP), DivergenceCurve(X, STEP)
    measured_delta = MeasuredDelta(X, STEP, STEP, STEP)
    with paper_figure() as (_, axes):
        with pytest.raises(InvalidInput, match="'a' must be a TailCurve, not a DivergenceCurve"):
            plot_tails(axes, X, {"b": band(STEP)}, {"a": divergence})
        with pytest.raises(InvalidInput, match=r"not a tuple: .* see plot_divergence"):
            plot_tails(axes, X, {"b": band(STEP)}, {"a": (X, STEP)})
        with pytest.raises(InvalidInput, match="'b' is a MeasuredDelta"):
            plot_tails(axes, X, {"b": measured_delta}, {"a": tail})
        with pytest.raises(InvalidInput, match="'a' must be a DivergenceCurve, not a TailCurve"):
            plot_divergence(axes, X, {"b": measured_delta}, {"a": tail})
        assert not axes.lines
        plot_divergence(axes, X, {"b": measured_delta}, {"a": divergence})


def draw_named_bounds(axes):
    deltas = [1e-1, 1e-4, 1e-8]
    plot_bounds(axes, deltas, {"exact": [1, 2, 3], "basic": [4, 4, np.nan]}, ["exact"])


def test_bounds_are_named_at_their_ends():
    with paper_figure() as (_, axes):
        draw_named_bounds(axes)
        assert {text.get_text() for text in axes.texts} == {"exact", "basic"}
        assert [line.get_linewidth() for line in axes.lines] == [1.8, 0.9]
        with pytest.raises(InvalidInput, match="nothing to draw"):
            plot_bounds(axes, [0.1], {"none": [np.nan]})


def test_a_rare_event_is_drawn_with_its_intervals():
    certain, missed = Band(1e-9, 5e-10, 2e-9), Band(0.0, 0.0, 1e-6)
    with paper_figure() as (_, axes):
        plot_rare(axes, [1.0, 2.0], {"tail": [certain, missed]}, 1.5)
        assert axes.get_yscale() == "log"
        assert axes.get_ylim()[0] == pytest.approx(1e-11)
        (arrow,) = [line for line in axes.lines if list(line.get_xdata()) == [2.0]]
        assert arrow.get_ydata().tolist() == [1e-6]
    with paper_figure() as (_, axes):
        plot_rare(axes, [1.0], {"tail": [certain]}, 1.0)
        assert axes.get_ylim()[0] == pytest.approx(5e-10 / 3.0)  # no empty decades below
    with paper_figure() as (_, axes), pytest.raises(InvalidInput, match="no estimate is above 0"):
        plot_rare(axes, [1.0], {"tail": [missed]}, 1.0)


def test_a_bound_has_one_look_in_all_figures() -> None:
    looks = {name: promised(5, name) for name in LABELS}
    assert len({(str(each["color"]), str(each["linestyle"])) for each in looks.values()}) == len(
        looks
    )
    for name, look in looks.items():
        assert promised(0, label(name)) == look
        assert promised(0, label(name, "upper")) == look
        assert promised(0, f"{label(name)}, passed by 1 in 1000") == look
    assert promised(0, "Azuma, tight drift") == looks["advanced-tight-mean"]
    assert promised(3, "a curve of one's own") == promised(3)
    several = promises(["mine", "basic", "yours", "advanced"])
    assert several["basic"] == looks["basic"]
    assert len({(each["color"], str(each["linestyle"])) for each in several.values()}) == 4
    assert {bound.name for bound in all_bounds()} <= set(LABELS)


def test_a_picture_that_cannot_be_written_is_refused_before_it_is_drawn(tmp_path):
    for name, reason in (
        ("curve.gif", r"ends in one of \.svg, \.png, \.pdf, not '.*curve\.gif'"),
        ("none/curve.png", "there is no folder '.*none' for the picture"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            drawable(tmp_path / name)
    assert drawable(tmp_path / "curve.pdf") == tmp_path / "curve.pdf"
