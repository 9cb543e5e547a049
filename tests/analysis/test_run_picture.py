"""A run in one picture."""

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, counting_query, simulate
from simulator.adversaries import make
from simulator.analysis import Tilted
from simulator.analysis.plots import paper_figure
from simulator.analysis.run_picture import picture
from simulator.foundations.curves import UPPER_END
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.mechanisms import BlackBox, LeakyRandomizedResponse
from simulator.theory import GaussianDP, parse_filter, parse_guarantee


def run_of(family, name="press-when-ahead", rounds=20, trials=500, **options):
    adversary = make(name, family, rounds)
    return simulate(adversary, family, rounds, trials, jobs=1, progress=False, **options)


def names_in(axes):
    return [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]


def test_the_panels_hold_what_was_measured_and_what_is_promised():
    result = run_of(PureDP(0.2), trace=True, keep_views=3)
    figure = picture(result, "press when ahead")
    tails, divergence, along = figure.axes
    measured = ["experiment 0", "experiment 1"]
    assert names_in(tails) == ["advanced, tight mean", measured[0], UPPER_END, measured[1]]
    assert names_in(divergence)[-3:] == [measured[0], UPPER_END, measured[1]]
    assert {"basic", "exact, randomized response"} < set(names_in(divergence))
    assert names_in(along) == ["single trials", "mean", "advanced, tight mean, passed by 1 in 1000"]
    curve = next(line for line in divergence.lines if line.get_label() == "experiment 0")
    epsilon, delta = curve.get_xdata()[5], curve.get_ydata()[5]
    assert delta == pytest.approx(result.delta(float(epsilon)).value, rel=1e-12)
    styles = {line.get_label(): line.get_linestyle() for line in tails.lines}
    shared = {line.get_label(): line.get_linestyle() for line in divergence.lines}
    assert styles["advanced, tight mean"] == shared["advanced, tight mean"]


def test_a_title_is_the_name_as_it_is(tmp_path):
    """Neither read as a formula nor able to move a terminal's cursor."""
    figure = picture(run_of(PureDP(0.2)), "$\\frac{ \x1b[2J")
    figure.savefig(tmp_path / "run.png")
    assert figure.get_suptitle().startswith("$\\frac{ \\x1b[2J in pure:0.2")


@pytest.mark.nightly
def test_without_a_trace_there_are_two_panels_and_of_one_experiment_one_curve():
    result = run_of(GaussianDP(0.3), "fixed-worst-case", experiments=(1,))
    tails, divergence = picture(result, "one").axes
    assert names_in(tails) == ["zCDP, Bun–Steinke", "experiment 1", UPPER_END]
    assert "exact, Gaussian" in names_in(divergence)


def test_a_tail_that_leaks_has_no_bound_and_its_divergence_has():
    result = run_of(parse_guarantee("approx:0.2,0.01"), "fixed-worst-case", trace=True)
    tails, divergence, along = picture(result, "leaky").axes
    assert names_in(tails) == ["experiment 0", "experiment 1"]
    assert "exact, randomized response" in names_in(divergence)
    assert names_in(along) == ["mean"]


def test_the_envelope_is_above_the_mean():
    figure = picture(run_of(PureDP(0.2), trace=True), "one")
    mean, envelope = figure.axes[2].lines
    assert np.all(envelope.get_ydata() > mean.get_ydata())


@pytest.mark.nightly
@pytest.mark.parametrize("options", [{}, {"keep": "summary"}, {"experiments": (1,)}])
def test_of_a_weighted_run_intervals_hold_point_by_point(options):
    result = run_of(PureDP(0.2), "fixed-worst-case", sampling=Tilted(1.0), **options)
    figure = picture(result, "weighted")
    assert "tilted:1.0, intervals point by point" in figure.get_suptitle()
    tails, divergence = figure.axes
    b = min(result.sample)
    for axes, ask in ((tails, result.tail), (divergence, result.delta)):
        curve = next(line for line in axes.lines if line.get_label() == f"experiment {b}")
        assert curve.get_xdata().size > 10
        for at, value in list(zip(curve.get_xdata(), curve.get_ydata()))[::7]:
            assert value == ask(float(at), b).value
        assert 0.0 < axes.get_ylim()[0] < curve.get_ydata().min()


def test_unknown_losses_are_refused():
    def shown(coins):
        while True:
            yield WITHOUT, EVERYONE, BlackBox(lambda database, rng: 1.0, PureDP(0.2))

    result = simulate(shown, PureDP(0.2), 2, 10, jobs=1, progress=False)
    with pytest.raises(Refusal, match="unknown"):
        picture(result, "black boxes")


EVERYONE = Database({"alice": 1, "others": 9})
WITHOUT = EVERYONE.remove("alice")


def silent(coins):
    while True:
        yield EVERYONE, EVERYONE, Laplace(counting_query("alice"), 0.1)


def leaks(coins):
    while True:
        yield WITHOUT, EVERYONE, LeakyRandomizedResponse(counting_query("alice"), 0.3, 0.1)


@pytest.mark.parametrize(("family", "reach"), [(PureDP(0.2), 1.04), (GaussianDP(0.2), 1.0)])
def test_where_nothing_was_lost_upper_ends_are_drawn(family, reach):
    result = simulate(silent, family, 5, 40, trace=True, jobs=1, progress=False)
    tails, divergence, _ = picture(result, "silent").axes
    for axes in (tails, divergence):
        assert {"experiment 0 (none seen)", "experiment 1 (none seen)"} <= set(names_in(axes))
    assert divergence.get_xlim() == (0.0, pytest.approx(reach))
    limit = tails.lines[-1].get_ydata()
    assert limit[0] == result.tail_band([0.1]).upper[0]
    assert (limit > 0.0).all()


def test_one_trial_that_lost_nothing_is_drawn():
    result = run_of(PureDP(0.2), trials=1, trace=True, keep_views=1, seed=3)
    assert len(picture(result, "one").axes) == 3


def test_along_the_rounds_infinite_losses_are_counted_and_end_their_paths():
    result = simulate(
        leaks, parse_guarantee("approx:0.3,0.1"), 10, 200, trace=True, keep_views=8, jobs=1,
        progress=False,
    )  # fmt: skip
    axes = picture(result, "leaky").axes[2]
    finite = np.isfinite(result.losses(0)).mean()
    assert 0.0 < finite < 1.0
    assert axes.get_ylabel().endswith(f"\n(of the {finite:.3g} that stay finite)")
    paths = [line.get_ydata() for line in axes.lines if line.get_linewidth() < 0.5]
    assert len(paths) == 8
    ends = [np.isfinite(path).sum() for path in paths]
    losses = [result.replay(view).round_losses for view in result.views if view.experiment == 0]
    assert ends == [next((i for i, x in enumerate(each) if np.isinf(x)), 10) for each in losses]


@pytest.mark.nightly
def test_the_title_names_the_filter():
    title = picture(run_of(PureDP(0.2), filter=parse_filter("sum:0.5")), "ahead").get_suptitle()
    assert title == "ahead in pure:0.2, 20 rounds, 500 trials, filter sum:0.5,0.0,0.0"
    assert "filter" not in picture(run_of(PureDP(0.2)), "ahead").get_suptitle()


def test_a_result_draws_one_panel_on_the_axes_that_are_given():
    result = run_of(PureDP(0.2), trace=True)
    with paper_figure(2) as (_, (left, right)):
        assert result.plot(ax=left) is left
        assert result.plot("tail", right) is right
    whole = picture(result, "one").axes
    for mine, panel in ((left, whole[1]), (right, whole[0])):
        assert names_in(mine) == names_in(panel)
        for one, other in zip(mine.lines, panel.lines, strict=True):
            np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())
    for of, ax, line in (("x", None, "one of tail, delta, loss"), ("delta", 3, "axes to draw on")):
        with pytest.raises(InvalidInput, match=line):
            result.plot(of, ax)
    with pytest.raises(InvalidInput, match="trace=True"):
        run_of(PureDP(0.2)).plot("loss", left)


def test_a_picture_has_the_title_the_size_and_the_names_that_are_given():
    names = ("without Alice", "with Alice")
    figure = picture(run_of(PureDP(0.2)), "one", title="mine", size=(5.0, 3.0), labels=names)
    assert figure.get_suptitle() == "mine"
    assert figure.get_size_inches().tolist() == [5.0, 3.0]
    assert set(names) < set(names_in(figure.axes[0]))
    assert not picture(run_of(PureDP(0.2)), "one", title="").get_suptitle()
