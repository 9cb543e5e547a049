"""Against (1.82671, 1e-05) for 1000 rounds: delta is 1.528e-05 [1.063e-05, 0.00159] (99.9%, 20000 plays),
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
    loss = 0.0
    while True:
        if loss < 1.826707565:
            move = LARGE
        else:
            move = SMALL
        answer = yield MENU[move]
        if move == SMALL:
            loss += -math.log(0.99 + 0.01 * math.exp((answer - 0.5) / 1**2))
        else:
            loss += math.log(0.99 + 0.01 * math.exp((answer - 0.5) / 1**2))
