"""Against the promise half_of_the_sum: delta is 0.3906 [0.3857, 0.3961] (99.9%, 20000 plays),
where 1e-06 is promised. It takes at most 8 rounds.
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 1)),
)
GAINS = (
    (1, -1),  # by answer
)


def adversary(coins):
    loss = 0.0
    while True:
        if loss >= 3:
            break
        answer = yield MENU[0]
        if math.isnan(answer):  # refused
            break
        loss += GAINS[0][int(answer)]
    while True:  # stopped: nothing more is lost
        yield EVERYONE, EVERYONE, MENU[0][2]
