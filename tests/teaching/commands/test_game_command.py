"""``dpcompose game``: games listed, played with other values, drawn, and refused in one line."""

BROKEN = '''
from simulator.teaching.games import bound, exact, game

@game("mine", "A game of mine", sources=["me"])
def mine():
    """What it is."""
    yield exact("delta", "by hand", 0.5)
    yield bound("delta", "a false theorem", 0.4)
'''


def test_games_are_listed_and_played(dpcompose, tmp_path):
    said = dpcompose("game")
    assert said.code == 0
    assert "concurrent" in said.out
    picture = tmp_path / "concurrent.png"
    said = dpcompose("game", "concurrent", "--set", "trials=100", "--plot", picture)
    assert said.code == 0
    assert "interleaved at will" in said.out
    assert "exceeded, as it must be" in said.out
    assert picture.stat().st_size > 10_000
    found = dpcompose("game", "concurrent", "--set", "trials=100", "--set", "epsilon=1", "--json")
    assert (found.code, found.json["as_expected"]) == (0, True)
    assert found.json["parameters"]["epsilon"] == 1.0


def test_a_bound_that_is_exceeded_gives_the_exit_code_1(dpcompose, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(BROKEN)
    said = dpcompose("game", path)
    assert said.code == 1
    assert "exceeded" in said.out


def test_bad_input_is_one_line(dpcompose, tmp_path):
    assert "unknown game 'chess'; there are " in dpcompose("game", "chess").complaint
    assert "has no knob 'x'" in dpcompose("game", "concurrent", "--set", "x=1").complaint
    assert "epsilon goes from" in dpcompose("game", "concurrent", "--set", "epsilon=99").complaint
    assert "name the game" in dpcompose("game", "--plot", tmp_path / "a.png").complaint
    assert "has no knob to sweep" in (
        dpcompose("game", made_without_sweep(tmp_path), "--plot", tmp_path / "a.png").complaint
    )


def made_without_sweep(folder):
    path = folder / "mine.py"
    path.write_text(BROKEN.replace("0.4", "0.6"))
    return path
