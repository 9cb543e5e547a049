"""Against (1.82671, 1e-05) for 1000 rounds: delta is 7.26e-07 [1.39e-08, 0.01576] (99.9%, 2000 plays),
where 1e-05 is promised. It takes at most 1000 rounds.
"""

import math

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Gaussian, PoissonSubsampled

SMALL, LARGE = 0, 1
MENU = (
    (WITHOUT_ALICE, EVERYONE, PoissonSubsampled(Gaussian(ALICE, 1), 0.01)),
    (EVERYONE, WITHOUT_ALICE, PoissonSubsampled(Gaussian(ALICE, 1), 0.01)),
)


def adversary(coins):
    loss, played, played_small, played_large = 0.0, 0, 0, 0
    while True:
        if (
            (0.07 <= loss < 0.69 and 568 <= played < 959)
            or (583 <= played_small < 598 and 2 <= played_large < 246)
        ):
            move = LARGE
        elif 1.6 <= loss < 1.762 and 839 <= played < 934:
            move = SMALL
        elif (
            (0.31 <= loss < 1.041 and 628 <= played_small < 899)
            or (0.75 <= loss < 1.762 and 839 <= played < 1000)
        ):
            move = LARGE
        else:
            move = SMALL
        answer = yield MENU[move]
        if move == SMALL:
            loss += -math.log(0.99 + 0.01 * math.exp((answer - 0.5) / 1**2))
        else:
            loss += math.log(0.99 + 0.01 * math.exp((answer - 0.5) / 1**2))
        played += 1
        played_small += move == SMALL
        played_large += move == LARGE
