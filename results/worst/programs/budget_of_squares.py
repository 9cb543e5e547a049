"""Against the filter BudgetOfSquares: delta is 1.05e-06 [5.547e-07, 0.03135] (99.9%, 1000 plays),
where 1e-06 is promised. It takes at most 20000 rounds.
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

QUERY_1, QUERY_2, QUERY_3, QUERY_4, QUERY_5, QUERY_6, QUERY_7, QUERY_8, QUERY_9, QUERY_10, QUERY_11, QUERY_12, QUERY_13, QUERY_14, QUERY_15, QUERY_16, QUERY_17, QUERY_18, QUERY_19, QUERY_20, QUERY_21, QUERY_22, QUERY_23, QUERY_24, QUERY_25, QUERY_26, QUERY_27, QUERY_28 = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.007)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.014)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.021)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.028)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.035)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.042)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.049)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.056)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.063)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.07)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.077)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.084)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.091)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.098)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.105)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.112)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.119)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.126)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.133)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.14)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.147)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.154)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.161)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.168)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.175)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.182)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.189)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.196)),
)
GAINS = (
    (0.007, -0.007),  # by answer
    (0.014, -0.014),  # by answer
    (0.021, -0.021),  # by answer
    (0.028, -0.028),  # by answer
    (0.035, -0.035),  # by answer
    (0.042, -0.042),  # by answer
    (0.049, -0.049),  # by answer
    (0.056, -0.056),  # by answer
    (0.063, -0.063),  # by answer
    (0.07, -0.07),  # by answer
    (0.077, -0.077),  # by answer
    (0.084, -0.084),  # by answer
    (0.091, -0.091),  # by answer
    (0.098, -0.098),  # by answer
    (0.105, -0.105),  # by answer
    (0.112, -0.112),  # by answer
    (0.119, -0.119),  # by answer
    (0.126, -0.126),  # by answer
    (0.133, -0.133),  # by answer
    (0.14, -0.14),  # by answer
    (0.147, -0.147),  # by answer
    (0.154, -0.154),  # by answer
    (0.161, -0.161),  # by answer
    (0.168, -0.168),  # by answer
    (0.175, -0.175),  # by answer
    (0.182, -0.182),  # by answer
    (0.189, -0.189),  # by answer
    (0.196, -0.196),  # by answer
)


def adversary(coins):
    loss, most = 0.0, QUERY_28
    while most >= 0:
        if loss < 0.975:
            move = QUERY_1
        elif loss >= 0.97:
            move = QUERY_21
        else:
            move = QUERY_1
        move = min(move, most)
        answer = yield MENU[move]
        if math.isnan(answer):  # refused: send the next smaller one
            most = move - 1
            continue
        most = QUERY_28
        loss += GAINS[move][int(answer)]
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
