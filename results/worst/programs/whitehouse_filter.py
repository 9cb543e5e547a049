"""Against the filter whitehouse:1.0,1e-05,0.0: delta is 2.625e-08 [2.005e-08, 0.003936] (99.9%, 8012 plays),
where 1e-05 is promised. It takes at most 832 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:0.1,0.0
    --rounds 832 --filter whitehouse:1.0,1e-05,0.0 --trials 100000
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.01)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.1)),
)
GAINS = (
    (0.01, -0.01),  # by answer
    (0.1, -0.1),  # by answer
)


def adversary(coins):
    loss, played, most = 0.0, 0, LARGE
    while most >= 0:
        if loss >= 0.933 and played >= 315:
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
        played += 1
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
