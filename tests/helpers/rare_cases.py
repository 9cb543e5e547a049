"""Games of 20 rounds with exact answers, and estimates of their rare events."""

from simulator import PureDP
from simulator.adversaries.registry import make
from simulator.analysis.rare import Setting, enumerate_states, estimate_rare
from simulator.engine.specification import Specification
from simulator.theory import ApproxDP

ALARM = 1e-6
"""The probability that one interval of these tests misses what it should hold, at most."""

FAMILY = PureDP(0.5)
ROUNDS = 20
WORST = make("fixed-worst-case", FAMILY, ROUNDS)
FEIGNING = make("feign-retreat", FAMILY, ROUNDS)
LEAKY = make("fixed-worst-case", ApproxDP(0.5, 0.01), 8)


def estimated(adversary, epsilon=None, trials=4000, method="tilted", **others):
    terms = {"rounds": ROUNDS, "family": FAMILY, "seed": 3} | others
    return estimate_rare(
        adversary, terms.pop("family"), terms.pop("rounds"), trials, epsilon=epsilon,
        method=method, confidence=1 - ALARM, setting=Setting(jobs=1, progress=False), **terms,
    )  # fmt: skip


def unread(adversary):
    """The same adversary, whose source is not in the closed form: it is not enumerated."""

    def play(coins):
        return adversary(coins)

    return play


def graph_of(adversary, b, rounds=ROUNDS, family=FAMILY):
    return enumerate_states(Specification(adversary, family, rounds, 10), b)


def assert_holds(estimate, exact):
    """The ends hold the exact value, and where there is a value too, not twice as much."""
    assert estimate.lower <= exact <= estimate.upper
    assert estimate.no_value or estimate.upper < 2 * exact
