"""Against the filter threshold:1.0,0.05,0.0: delta is exactly 0.3507,
where 0.05 is promised. It takes at most 24 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:1.0,0.0
    --rounds 24 --filter threshold:1.0,0.05,0.0 --trials 100000
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.1)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 1)),
)
GAINS = (
    (0.1, -0.1),  # by answer
    (1, -1),  # by answer
)


def adversary(coins):
    loss, played_small, played_large, most = 0.0, 0, 0, LARGE
    while most >= 0:
        if (
            loss < -0.07
            or played_large >= 1
            or played_small >= 9
        ):
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
        played_large += move == LARGE
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
