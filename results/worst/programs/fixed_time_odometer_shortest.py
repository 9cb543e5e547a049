"""Against the odometer FixedTimeOdometer: delta is exactly 0.2369,
where 0.05 is promised. It takes at most 2 rounds.
"""

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 1)),
)


def adversary(coins):
    while True:
        yield MENU[0]
