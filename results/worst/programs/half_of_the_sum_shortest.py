"""Against the promise half_of_the_sum: delta is exactly 0.2876,
where 1e-06 is promised. It takes at most 1 round.
"""

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 1)),
)


def adversary(coins):
    while True:
        yield MENU[0]
