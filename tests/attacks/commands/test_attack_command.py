"""The command attack: it prints the program, and bad input is one line."""

import json

import pytest

MENU = "randomized-response:0.1,randomized-response:0.3"
BROKEN = """
class Mine:
    initial, epsilon, delta, monotone = 0.0, 1.0, 0.01, True
    def admit(self, state, guarantee):
        return state < 0.6, state + guarantee.pure_epsilon ** 2
"""


def test_it_prints_a_program_that_breaks_a_file_s_filter(dpcompose, tmp_path):
    (tmp_path / "mine.py").write_text(BROKEN)
    saved = tmp_path / "found.py"
    attack = ("attack", f"{tmp_path}/mine.py:Mine", "--menu", MENU, "--seconds", "3")
    said = dpcompose(*attack, "--save", saved)
    assert said.code == 1
    assert "verdict       BROKEN: at least" in said.out
    assert "def adversary(coins):" in said.out
    assert "def adversary(coins):" in saved.read_text()
    again = dpcompose(*attack, "--save", saved)
    assert again.code == 2
    assert "exists already" in again.complaint
    found = json.loads(dpcompose(*attack, "--json").out)
    assert found["verdict"] == "broken"
    assert found["delta"]["lower"] > found["promised"] == 0.01


def test_a_sound_bound_is_sound(dpcompose):
    said = dpcompose(
        "attack", "--epsilon", "0.9", "--delta", "0.1", "--rounds", "3", "--menu",
        "randomized-response:0.3", "--seconds", "2",
    )  # fmt: skip
    assert said.code == 0
    assert "sound: no adversary of this menu" in said.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give a CLAIM"),
        (("--epsilon", "1"), "give a CLAIM"),
        (("nothing:1",), "nothing"),
        (("natural:1,1e-5", "--menu", "gone:1"), "gone"),
        (("natural:1,1e-5", "--seconds", "-1"), "seconds"),
        (("natural:1,1e-5", "--save", "found.txt"), "ends in .py"),
        (("missing.py:Filter",), "no file"),
        (("here.py",), "name the claim"),
    ],
    ids=["nothing", "half", "unknown", "menu", "seconds", "save", "missing", "no name"],
)
def test_bad_input_is_one_line(dpcompose, arguments, complaint):
    said = dpcompose("attack", *arguments)
    assert said.code == 2
    assert complaint in said.complaint
