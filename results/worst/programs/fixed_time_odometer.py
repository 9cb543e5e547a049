"""Against the odometer FixedTimeOdometer: delta is exactly 0.9955,
where 0.05 is promised. It takes at most 60 rounds.
"""

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 1)),
)


def adversary(coins):
    while True:
        yield MENU[0]
