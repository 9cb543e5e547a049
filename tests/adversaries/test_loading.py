"""An adversary of a user's file is found by its name, or refused in one line."""

import pytest

from simulator import PureDP
from simulator.adversaries.loading import find_adversary, from_file
from simulator.errors import InvalidInput

FAMILY = PureDP(0.2)
TWO = """
STAKE = 3

def press(coins):
    yield

def hold(coins):
    yield
"""


def test_a_name_that_is_not_in_the_file_is_refused_and_those_near_it_are_named(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(TWO)
    assert find_adversary(f"{path}:press", FAMILY, 3).__name__ == "press"
    for name, end in (("pres", "; did you mean press?"), ("STAKE", ""), ("zzz", "")):
        with pytest.raises(InvalidInput) as refused:
            find_adversary(f"{path}:{name}", FAMILY, 3)
        assert str(refused.value) == f"{path} has no adversary {name!r}{end}"
    with pytest.raises(InvalidInput, match=r"has no mechanism 'leak'$"):
        from_file(str(path), "leak", "mechanism")


def test_a_file_needs_no_name_where_it_has_one_adversary(tmp_path):
    path = tmp_path / "mine.py"
    for text, reason in (
        (TWO, f"has 2 adversaries: press, hold; name one, as {path}:press"),
        (
            "def helper():\n    return 1\n",
            r"a generator function or a Rule; its functions are helper",
        ),
        ("x = 1\n", "a generator function or a Rule$"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidInput, match=reason):
            find_adversary(str(path), FAMILY, 3)
    path.write_text("def only(coins):\n    yield\n")
    assert find_adversary(str(path), FAMILY, 3).__name__ == "only"
