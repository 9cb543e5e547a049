"""Against the filter residue:1.0,0.01,0.0: delta is 0.01025 [0.009343, 0.01361] (99.9%, 9429 plays),
where 0.01 is promised. It takes at most 707 rounds.
Play it: dpcompose simulate FILE.py:adversary --family approx:0.02,0.0
    --rounds 707 --filter residue:1.0,0.01,0.0 --trials 100000
"""

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import RandomizedResponse

MENU = (
    (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.02)),
)


def adversary(coins):
    while True:
        yield MENU[0]
