"""Against the filter threshold:1.0,0.05,0.0: delta is exactly 0.2254,
where 0.05 is promised. It takes at most 6 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:1.0,0.0
    --rounds 6 --filter threshold:1.0,0.05,0.0 --trials 100000
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.1)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 1)),
)


def adversary(coins):
    played, most = 0, LARGE
    while most >= 0:
        if played >= 1:
            move = LARGE
        else:
            move = SMALL
        move = min(move, most)
        answer = yield MENU[move]
        if math.isnan(answer):  # refused: send the next smaller one
            most = move - 1
            continue
        most = LARGE
        played += 1
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
