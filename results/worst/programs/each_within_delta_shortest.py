"""Against the filter each within delta:1.0,0.05,0.0: delta is exactly 0.0549,
where 0.05 is promised. It takes at most 59 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:0.1,0.0
    --rounds 59 --filter each within delta:1.0,0.05,0.0 --trials 100000
"""

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.1)),
)


def adversary(coins):
    while True:
        yield MENU[0]
