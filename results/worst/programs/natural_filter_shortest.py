"""Against the filter natural:1.0,1e-05: delta is exactly 1.693e-05,
where 1e-05 is promised. It takes at most 232 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:0.2,0.0
    --rounds 232 --filter natural:1.0,1e-05 --trials 100000
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.025)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.2)),
)
GAINS = (
    (0.025, -0.025),  # by answer
    (0.2, -0.2),  # by answer
)


def adversary(coins):
    loss, played_small, most = 0.0, 0, LARGE
    while most >= 0:
        if 0.44 <= loss < 0.96 and 10 <= played_small < 31:
            move = LARGE
        else:
            move = SMALL
        move = min(move, most)
        answer = yield MENU[move]
        if math.isnan(answer):  # refused: send the next smaller one
            most = move - 1
            continue
        most = LARGE
        loss += GAINS[move][int(answer)]
        played_small += move == SMALL
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
