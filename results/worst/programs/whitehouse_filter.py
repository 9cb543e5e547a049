"""Against the filter whitehouse:1.0,1e-05,0.0: delta is exactly 1.977e-08,
where 1e-05 is promised. It takes at most 1040 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:0.2,0.0
    --rounds 1040 --filter whitehouse:1.0,1e-05,0.0 --trials 100000
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

QUERY_1, QUERY_2, QUERY_3, QUERY_4, QUERY_5, QUERY_6, QUERY_7, QUERY_8, QUERY_9, QUERY_10 = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.02)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.04)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.06)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.08)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.1)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.12)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.14)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.16)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.18)),
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.2)),
)
GAINS = (
    (0.02, -0.02),  # by answer
    (0.04, -0.04),  # by answer
    (0.06, -0.06),  # by answer
    (0.08, -0.08),  # by answer
    (0.1, -0.1),  # by answer
    (0.12, -0.12),  # by answer
    (0.14, -0.14),  # by answer
    (0.16, -0.16),  # by answer
    (0.18, -0.18),  # by answer
    (0.2, -0.2),  # by answer
)


def adversary(coins):
    loss, played, most = 0.0, 0, QUERY_10
    while most >= 0:
        if 0.93 <= loss < 0.97 and played == 88:
            move = QUERY_4
        elif played == 91 and 0.93 <= loss < 0.99:
            move = QUERY_2
        elif 0.97 <= loss < 0.99 and 96 <= played < 100:
            move = QUERY_1
        elif 0.95 <= loss < 0.97 and played == 96:
            move = QUERY_2
        elif 0.97 <= loss < 1.01:
            move = QUERY_5
        else:
            move = QUERY_1
        move = min(move, most)
        answer = yield MENU[move]
        if math.isnan(answer):  # refused: send the next smaller one
            most = move - 1
            continue
        most = QUERY_10
        loss += GAINS[move][int(answer)]
        played += 1
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
