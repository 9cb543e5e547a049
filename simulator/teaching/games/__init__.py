"""Games beyond Algorithm 1: interactive, continual, selected and shared; one file each.

A game is a function that yields rows: exact values, worst cases by search, plays, proved bounds and
wrong claims. Rows of one quantity are compared, and every wrong claim must be exceeded::

    from simulator.teaching.games import find

    outcome = find("concurrent").play(epsilon=0.5)
    print(outcome.as_expected)

``dpcompose game`` lists and plays them. A game of your own is one file, here or anywhere:
``dpcompose game path/to/file.py``, or an entry point of the group ``dpcompose.games``.
"""

from simulator.foundations.attached import furnish
from simulator.foundations.knobs import Within, one_of
from simulator.teaching.games.model import Variant, game
from simulator.teaching.games.outcome import GameOutcome, JudgedRow, Standing
from simulator.teaching.games.registry import all_games, find
from simulator.teaching.games.rows import (
    GameRow,
    RowKind,
    bound,
    exact,
    played,
    reached,
    worst,
    wrong,
)

__all__ = [
    "GameOutcome",
    "GameRow",
    "JudgedRow",
    "RowKind",
    "Standing",
    "Variant",
    "Within",
    "all_games",
    "bound",
    "exact",
    "find",
    "game",
    "one_of",
    "played",
    "reached",
    "worst",
    "wrong",
]

furnish(globals())
