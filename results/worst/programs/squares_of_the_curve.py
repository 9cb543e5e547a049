"""Against the filter SquaresOfCurve: delta is 0.009196 [0.006654, 0.04055] (99.9%, 1000 plays),
where 0.01 is promised. It takes at most 7080 rounds.
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.02)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.2)),
)
GAINS = (
    (0.02, -0.02),  # by answer
    (0.2, -0.2),  # by answer
)


def adversary(coins):
    loss, played, most = 0.0, 0, LARGE
    while most >= 0:
        if 1.07 <= loss < 1.21 and 214 <= played < 665:
            move = SMALL
        elif (
            (0.79 <= loss < 0.81 and 123 <= played < 393)
            or 0.95 <= loss < 1.21
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
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
