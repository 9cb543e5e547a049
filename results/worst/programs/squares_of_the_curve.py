"""Against the filter SquaresOfCurve: delta is exactly 0.01071,
where 0.01 is promised. It takes at most 452 rounds.
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.05)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.2)),
)
GAINS = (
    (0.05, -0.05),  # by answer
    (0.2, -0.2),  # by answer
)


def adversary(coins):
    loss, played, played_large, most = 0.0, 0, 0, LARGE
    while most >= 0:
        if (
            (0.72 <= loss < 0.87 and 80 <= played < 82)
            or (0.82 <= loss < 1.17 and 1 <= played_large < 6)
            or (0.92 <= loss < 1.07 and 97 <= played < 110)
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
        played += 1
        played_large += move == LARGE
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
