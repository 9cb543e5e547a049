"""Against the filter clt:1.0,1e-05,0.0: delta is 0.002357 [0.002099, 0.003943] (99.9%, 20000 plays),
where 1e-05 is promised. It takes at most 1 round.
delta is that of the exchanged experiments: of b = 1 against b = 0.
Play it: dpcompose simulate FILE.py:adversary --family approx:0.001,0.07627717157227591
    --rounds 1 --filter clt:1.0,1e-05,0.0 --trials 100000
"""

from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Gaussian, PoissonSubsampled

MENU = (
    (WITHOUT_ALICE, EVERYONE, PoissonSubsampled(Gaussian(ALICE, 1), 0.2)),
)


def adversary(coins):
    while True:
        yield MENU[0]
