"""The picture of a policy: what is coloured, what it is called, and that nothing overlaps."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.analysis.plots import paper_figure
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.filters.named import parse_filter
from simulator.worst import worst_case
from simulator.worst.policy_map import policy_map
from simulator.worst.policy_picture import _scale, draw
from simulator.worst.policy_plot import FEW_MOVES, plot_policy

EDGES = np.arange(4.0)
MOVES = np.array([[0, 1, -1], [1, -1, -1], [0, 0, 1]])


@pytest.fixture(scope="module")
def policy():
    menu = "randomized-response:0.1,randomized-response:0.4"
    return worst_case(menu, epsilon=1.0, filter=parse_filter("natural:1,1e-3")).policy


def test_a_map_shows_the_moves_of_places_that_are_reached(policy):
    shown = policy_map(policy)
    assert shown.moves.shape == (len(shown.left) - 1, len(shown.losses) - 1)
    assert (np.diff(shown.losses) > 0).all()
    assert (np.diff(shown.left) > 0).all()
    assert set(np.unique(shown.moves)) == {-1, 0, 1}
    # the first move, at no loss and with everything left, and nothing else in that row
    row = shown.moves[-1]
    column = int(np.searchsorted(shown.losses, 0.0)) - 1
    node, place = policy.start
    assert row[column] == policy.table[node, place]
    assert (np.delete(row, [column - 1, column, column + 1]) == -1).all()


@pytest.mark.nightly
def test_a_map_of_a_large_policy_is_as_large_as_a_picture():
    found = worst_case(
        "randomized-response:0.01..0.2", epsilon=0.8, filter=parse_filter("zcdp:1,1e-3"),
        seconds=1e-9,
    )  # fmt: skip
    moves = policy_map(found.policy).moves
    assert max(moves.shape) <= 401
    assert (moves >= 0).any(axis=1).mean() > 0.3


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_a_function_of_the_policy(policy, tmp_path, suffix):
    first, second = (draw(policy, tmp_path / f"{i}{suffix}", seed=1) for i in range(2))
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 3000


def drawn(axes, **more):
    paths = {"typical play": ([0.5, 1.5], [2.5, 0.5]), "winning play": ([0.5, 2.5], [2.5, 0.5])}
    plot_policy(
        axes, EDGES, EDGES, MOVES, ("randomized-response:0.025", "laplace:0.1"), epsilon=2.0,
        paths=paths, **more,
    )  # fmt: skip


@pytest.mark.parametrize("values", [None, ("ε", (0.1, 0.9))])
def test_everything_has_a_name_that_can_be_read(values):
    with paper_figure(width=4.6, height=3.4) as (figure, axes):
        drawn(axes, values=values)
        figure.canvas.draw()
        (named,) = figure.legends
        labels = [text.get_text() for text in named.get_texts()]
        boxes = [text.get_window_extent() for text in named.get_texts()]
        inside, outside = named.get_window_extent(), axes.get_tightbbox()
        whole = figure.bbox
        bars = len(figure.axes) - 1
    assert {"typical play", "winning play", r"$\varepsilon = 2$"} <= set(labels)
    assert ("laplace:0.1" in labels) == (values is None)
    assert bars == (values is not None)
    assert inside.y1 <= outside.y0 + 1
    assert whole.x0 <= inside.x0
    assert inside.x1 <= whole.x1
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_moves_that_do_not_fit_are_refused():
    with paper_figure() as (_, axes):
        with pytest.raises(InvalidInput, match="shape"):
            plot_policy(axes, EDGES, EDGES[1:], MOVES, ("a", "b"))
        with pytest.raises(InvalidInput, match="label"):
            plot_policy(axes, EDGES, EDGES, MOVES, ("a",))
        with pytest.raises(InvalidInput, match="too many"):
            plot_policy(axes, EDGES, EDGES, MOVES, [str(i) for i in range(FEW_MOVES + 1)])


def test_a_policy_that_plays_nothing_has_no_picture(tmp_path):
    policy = worst_case("randomized-response:0.1", epsilon=9.0, rounds=3).policy
    with pytest.raises(NotApplicable, match="nothing to draw"):
        draw(policy, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_places_that_cannot_be_written_are_refused(policy, tmp_path):
    (tmp_path / "folder.png").mkdir()
    for path, named in (("x.doc", "ends in"), ("no/x.png", "no folder"), ("folder.png", "folder")):
        with pytest.raises(InvalidInput, match=named):
            draw(policy, tmp_path / path)


def test_the_options_of_one_mechanism_share_a_colour_beside_another():
    labels = ["laplace:0.3", *(f"exponential:0.4@{j / 100}" for j in range(1, 20))]
    names, bar, group = _scale(labels)
    assert names == ["laplace:0.3", "exponential:0.4"]
    assert bar is None
    assert group.tolist() == [0] + [1] * 19
