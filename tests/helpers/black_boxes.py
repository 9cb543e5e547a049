"""Black boxes, and how the tests play them."""

from simulator import Database, PureDP, simulate

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
FAMILY = PureDP(1.0)


def play(adversary, rounds=4, trials=20, **others):
    settings = {"family": FAMILY, "seed": 3, "jobs": 1, "block_size": 8} | others
    return simulate(adversary, settings.pop("family"), rounds, trials, **settings)


def always(mechanism):
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, mechanism

    return adversary


def noisy(database, rng):
    return database.count_of("alice") + rng.laplace()
