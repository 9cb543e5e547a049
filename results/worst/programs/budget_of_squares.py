"""Against the filter BudgetOfSquares: delta is 7.957e-07 [6.835e-07, 0.00173] (99.9%, 18214 plays),
where 1e-06 is promised. It takes at most 1098 rounds.
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
    loss, played, played_large, most = 0.0, 0, 0, LARGE
    while most >= 0:
        if (
            played_large >= 1
            or (played >= 449 and 0.923 <= loss < 1.073)
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
