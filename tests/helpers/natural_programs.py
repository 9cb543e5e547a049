"""Generator adversaries as people write them; all of them are in the closed form."""

import functools
import itertools
import math
from dataclasses import dataclass

from simulator import Database, Laplace, RandomizedResponse, counting_query
from simulator.adversaries import Challenge
from simulator.data.queries import counting_scores
from simulator.mechanisms import Exponential, Geometric

EVERYONE = Database({"alice": 1, "bob": 1, "others": 398})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
WEAK, STRONG = Laplace(ALICE, 0.1), Laplace(ALICE, 0.2)
STAKES = [0.05, 0.1, 0.2]
HOSPITALS = [Database({("p", i): 1, ("q", 0): 3}) for i in range(1, 6)]
FIRST = counting_query(lambda record: record[0] == "p")


def mechanism_kept(coins):
    mechanism = WEAK
    while True:
        answer = yield WITHOUT, EVERYONE, mechanism
        mechanism = STRONG if answer > 0.5 else WEAK


def query_anew(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(counting_query("alice"), epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def database_anew(coins):
    epsilon = 0.1
    while True:
        answer = yield EVERYONE.remove("alice"), EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.2 if answer > 0.5 else 0.1


def continuous(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.1 + 0.1 / (1.0 + abs(answer))


def hospitals(coins):
    place = 0
    while True:
        hospital = HOSPITALS[place]
        answer = yield hospital, hospital.add(("p", 0)), Laplace(FIRST, 0.1)
        place = (place + (1 if answer > 2 else 3)) % len(HOSPITALS)


def until_sure(coins):
    total = 0
    while abs(total) < 1:
        answer = yield WITHOUT, EVERYONE, WEAK
        total += 2 * 0.1 * min(max(0.5 - answer, -0.5), 0.5)
    while True:
        yield EVERYONE, EVERYONE, WEAK


def none_at_first(coins):
    last = None
    while True:
        if last is not None and last > 0.5:  # noqa: SIM108 (as one writes it)
            mechanism = STRONG
        else:
            mechanism = WEAK
        last = yield WITHOUT, EVERYONE, mechanism


def modes(coins):
    mode, count = "probe", 0
    while True:
        if mode == "probe":
            answer = yield Challenge(WITHOUT, EVERYONE, Laplace(ALICE, 0.05))
            count = count + 1 if answer > 1 else 0
            if count >= 2:
                mode = "press"
        else:
            answer = yield Challenge(database_0=WITHOUT, database_1=EVERYONE, mechanism=STRONG)
            if answer < 0:
                mode, count = "probe", 0


def loops(coins):
    while True:
        for epsilon in (0.05, 0.1, 0.2):
            answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
            if answer < 0:
                break
        else:
            for i, mechanism in enumerate((WEAK, STRONG)):
                for _ in range(i + 1):
                    yield WITHOUT, EVERYONE, mechanism


def double_when_behind(coins):
    level, evidence = 0, 0
    while True:
        answer = yield WITHOUT, EVERYONE, RandomizedResponse(ALICE, 0.2 / 2 ** (4 - level))
        evidence += 2**level if answer < 0.5 else -(2**level)
        level = min(level + 1, 4) if evidence < 0 else 0


def less_and_less(coins):
    for i in itertools.count():
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2 / math.sqrt(i + 1))


def random_pair(coins):
    people = ("alice", "bob", "others")
    menu = [
        (EVERYONE.remove(leaves), EVERYONE, Laplace(counting_query(counted), 0.2))
        for leaves in people
        for counted in people
    ]
    while True:
        yield menu[int(coins.random() * len(menu))]


def random_stake(coins):
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, coins.choice(STAKES))
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.02 * coins.integers(1, 11))


@dataclass(frozen=True)
class Pressing:
    low: float
    high: float

    def __call__(self, coins):
        epsilon = self.low
        while True:
            answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
            epsilon = self.high if answer > 0.5 else self.low


def with_arguments(coins, low, *, high=0.2):
    epsilon = low
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = high if answer > 0.5 else low


def made_with(first):
    def doubling(coins):
        epsilon = first
        while True:
            answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
            epsilon = min(2 * epsilon, 0.2) if answer > 0.5 else first

    return doubling


def hits(coins, rounds):
    found = 0
    for _ in range(rounds):
        answer = yield WITHOUT, EVERYONE, WEAK
        found += answer > 0.5
    return found


def delegates(coins):
    while True:
        found = yield from hits(coins, 3)
        if found >= 2:
            yield WITHOUT, EVERYONE, STRONG


def switches(coins):
    mechanisms = (
        Laplace(ALICE, 0.2),
        RandomizedResponse(ALICE, 0.2),
        Exponential(counting_scores(("alice", "bob")), 0.2),
        Geometric(ALICE, 0.2),
    )
    place = 0
    while True:
        answer = yield WITHOUT, EVERYONE, mechanisms[place]
        present = answer < 0.5 if place == 2 else answer > 0.5
        if present:
            place = (place + 1) % 4


def helper_within(coins):
    epsilon = 0.1

    def scaled(x):
        return min(max(x * epsilon, 0.05), 0.2)

    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = scaled(answer)


def assigns_in_a_condition(coins):
    epsilon = 0.1
    while True:
        while (answer := (yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon))) < 3:
            pass
        epsilon = 0.2 if epsilon < 0.15 and answer > 5 else 0.1


def posterior(coins):
    p = 0.5
    while True:
        epsilon = 0.01 + 0.19 * abs(2 * p - 1)
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
        ratio = math.exp(-epsilon * (abs(answer - 1) - abs(answer)))
        p = min(max(p * ratio / (p * ratio + (1 - p)), 1e-6), 1 - 1e-6)


def streak(coins):
    run = best = 0
    last_up = False
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, STAKES[min(run, len(STAKES) - 1)])
        up = answer > 0.5
        run = run + 1 if up == last_up else 0
        best = max(best, run)
        last_up = up


NATURAL = {
    **{each.__name__: each for each in (
        mechanism_kept, query_anew, database_anew, continuous, hospitals, until_sure, none_at_first,
        modes, loops, double_when_behind, less_and_less, random_pair, random_stake, delegates,
        switches, helper_within, assigns_in_a_condition, posterior, streak,
    )},
    "an instance": Pressing(0.1, 0.2),
    "a partial function": functools.partial(with_arguments, low=0.1),
    "a closure": made_with(0.05),
}  # fmt: skip
"""By name."""
