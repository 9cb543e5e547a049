"""Games: every one is as expected, and the comparison of rows can say no."""

from collections.abc import Iterator
from typing import Annotated

import pytest

from simulator.analysis.estimation import Estimate
from simulator.foundations.errors import InvalidInput
from simulator.teaching.games import (
    GameRow,
    Standing,
    Variant,
    all_games,
    bound,
    exact,
    find,
    game,
    one_of,
    played,
    reached,
    worst,
    wrong,
)
from simulator.teaching.games.outcome import outcome_of
from simulator.teaching.games.picture import picture
from simulator.theory.bracket import Bracket

LIGHT = {"trials": 1000}


def light(one: Variant) -> dict:
    """Changes that make a game's plays short."""
    return {knob: value for knob, value in LIGHT.items() if knob in one.knobs}


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("one", all_games(), ids=lambda one: one.name)
def test_every_game_is_as_expected(one):
    outcome = one.play(**light(one))
    assert outcome.as_expected, [(j.row.what, str(j.standing)) for j in outcome.judged]
    kinds = {row.kind.name for row in outcome.rows}
    assert "BOUND" in kinds
    assert "WRONG" in kinds
    assert kinds & {"EXACT", "WORST"}
    assert outcome.error < 0.05
    assert one.sources
    assert len(one.text.split()) > 30


def estimate(lower, upper):
    return Estimate(
        value=(lower + upper) / 2, lower=lower, upper=upper, confidence=0.99, method="test", hits=9,
        effective_sample_size=9.0, largest_weight_share=0.1, relative_standard_error=0.1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "standings"),
    [
        ([exact("d", "a", 0.1), bound("d", "b", 0.2)], ["agrees", "holds"]),
        ([exact("d", "a", 0.3), bound("d", "b", 0.2)], ["agrees", "exceeded"]),
        ([exact("d", "a", 0.3), wrong("d", "b", 0.2)], ["agrees", "exceeded, as it must be"]),
        ([exact("d", "a", 0.1), wrong("d", "b", 0.2)], ["agrees", "not exceeded"]),
        ([exact("d", "a", 0.3), bound("other", "b", 0.2)], ["agrees", "holds"]),
        (
            [worst("d", "a", Bracket(0.1, 0.2)), played("d", "b", estimate(0.21, 0.3))],
            ["contradicts another row"] * 2,
        ),
        ([worst("d", "a", 0.2), reached("d", "b", 0.1)], ["agrees"] * 2),
        ([worst("d", "a", 0.2), reached("d", "b", 0.3)], ["contradicts another row"] * 2),
        ([reached("d", "a", 0.3), bound("d", "b", 0.2)], ["agrees", "exceeded"]),
        ([worst("d", "a", 0.2), played("d", "b", estimate(0.01, 0.1))], ["agrees"] * 2),
        (
            [exact("d", "a", 0.2), played("d", "b", estimate(0.01, 0.1))],
            ["contradicts another row"] * 2,
        ),
        ([exact("d", "a", 0.2), exact("d", "b", 0.3)], ["contradicts another row"] * 2),
        ([reached("d", "a", 0.2), reached("d", "b", 0.3)], ["agrees"] * 2),
        ([reached("d", "a", 0.2), wrong("d", "b", 0.1)], ["agrees", "exceeded, as it must be"]),
        ([reached("d", "a", 0.2), worst("d", "b", 0.1)], ["contradicts another row"] * 2),
        ([played("d", "b", estimate(0.3, 0.4)), bound("d", "c", 0.2)], ["agrees", "exceeded"]),
    ],
)
def test_rows_of_one_quantity_are_compared(rows, standings):
    outcome = outcome_of("test", {}, rows)
    assert [str(each.standing) for each in outcome.judged] == standings
    expected = all(Standing(text).as_expected for text in standings)
    assert outcome.as_expected is expected


ONE_FILE = '''
from typing import Annotated

from simulator.teaching.games import Within, bound, exact, game, wrong

@game("mine", "A game of mine", sources=["me"], sweep=("x", (0.1, 0.2)))
def mine(*, x: Annotated[float, "a number", Within(0.0, 1.0)] = 0.5):
    """What it is."""
    yield exact("delta", "by hand", x)
    yield bound("delta", "a theorem", 2 * x)
    yield wrong("delta", "a claim", x / 2)
'''


def test_a_game_is_one_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(ONE_FILE)
    mine = find(str(path))
    assert mine.play(x=0.25).as_expected
    assert [value for value, _ in mine.along()] == [0.1, 0.2]
    labels = picture(mine, mine.along()).legends[0].get_texts()
    assert {text.get_text() for text in labels} == {"by hand", "a theorem", "wrong: a claim"}
    with pytest.raises(InvalidInput, match="x goes from 0 to 1"):
        mine.play(x=2.0)
    with pytest.raises(InvalidInput, match="has no knob 'y'"):
        mine.play(y=2.0)
    with pytest.raises(InvalidInput, match="x is swept"):
        mine.along(x=0.3)


FAR = """
from simulator.teaching.games import bound, exact, game, wrong

@game("far", "Far apart", sources=["me"], sweep=("x", (1.0, 10.0, 100.0)))
def far(*, x: float = 1.0):
    'Numbers that are far apart, and zeros.'
    for number in range(3):
        quantity = f"the quantity of number {number}, whose name is longer than a line of its panel"
        yield exact(quantity, "by hand", 0.1 / x if x < 50.0 else 0.0)
        yield bound(quantity, "a theorem", 1.0)
        yield wrong(quantity, "a claim", 1e-30)
"""


def test_a_picture_of_numbers_that_are_far_apart(tmp_path):
    path = tmp_path / "far.py"
    path.write_text(FAR)
    far = find(str(path))
    panels = picture(far, far.along()).axes
    assert len(panels) == 3
    for axes in panels:
        assert axes.get_xscale() == axes.get_yscale() == "log"
        low, high = axes.get_ylim()
        assert 1e-5 < low < 0.01 / 100.0  # a hundredth of the least value, and no claim of 1e-30
        assert high > 1.0
        assert "\n" in axes.get_title()
        looks = {line.get_label(): (line.get_color(), line.get_linestyle()) for line in axes.lines}
        assert looks == {
            line.get_label(): (line.get_color(), line.get_linestyle()) for line in panels[0].lines
        }
        assert len(set(looks.values())) == 3


ROUNDED = """
from simulator.teaching.games import bound, game, worst
from simulator.theory.bracket import Bracket

@game("rounded", "Zero but for rounding", sources=["me"], sweep=("x", (1.0, 2.0)))
def rounded(*, x: float = 1.0):
    'A value of 0, whose upper end is the rounding of a search; and one that is as small.'
    yield worst("delta", "by search", Bracket(0.0, x * 1e-12))
    yield worst("delta", "as small", Bracket(x * 1e-12, x * 1e-12))
    yield bound("delta", "a theorem", 0.0)
"""


def test_the_rounding_of_a_search_is_drawn_as_zero(tmp_path):
    path = tmp_path / "rounded.py"
    path.write_text(ROUNDED)
    rounded = find(str(path))
    (axes,) = picture(rounded, rounded.along()).axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn == {"by search": [0, 0], "as small": [1e-12, 2e-12], "a theorem": [0, 0]}


@pytest.mark.nightly
@pytest.mark.parametrize("one", all_games(), ids=lambda one: one.name)
def test_every_game_can_be_drawn(one):
    played = one.along(**light(one))
    assert len(picture(one, played).axes) == len(played[0][1].quantities)


def test_a_game_that_is_not_well_made_is_refused():
    with pytest.raises(InvalidInput, match="needs a default for x"):
        game("a", "b", sources=[])(lambda x: iter(()))
    with pytest.raises(InvalidInput, match="the game a has no knob 'y'"):
        game("a", "b", sources=[], sweep=("y", (0, 1)))(lambda x=1: iter(()))

    def misspelt(*, x: Annotated[str, "a word", one_of("y", "z")] = "zed") -> Iterator[GameRow]:
        """Play with a default that is none of the choices."""
        yield exact("delta", "by hand", 0.5)

    with pytest.raises(InvalidInput, match="x must be one of y, z, not 'zed'"):
        game("a", "b", sources=[])(misspelt)

    def unreadable(*, x: "Nowhere" = 1) -> Iterator[GameRow]:  # noqa: F821
        """Play with an annotation that names nothing."""
        yield exact("delta", "by hand", 0.5)

    with pytest.raises(InvalidInput, match="annotations of unreadable cannot be read: name 'Now"):
        game("a", "b", sources=[])(unreadable)
    with pytest.raises(InvalidInput, match="needs a docstring"):
        game("a", "b", sources=[])(lambda x=1: iter(()))
    with pytest.raises(InvalidInput, match="must yield rows, not 3"):
        outcome_of("a", {}, [3])
    with pytest.raises(InvalidInput, match="yielded no row"):
        outcome_of("a", {}, [])


def test_an_unknown_game_and_a_file_without_one_are_one_line(tmp_path):
    with pytest.raises(InvalidInput, match="unknown game 'concurent'; did you mean concurrent"):
        find("concurent")
    path = tmp_path / "none.py"
    path.write_text("x = 1\n")
    with pytest.raises(InvalidInput, match="holds 0 games"):
        find(str(path))
