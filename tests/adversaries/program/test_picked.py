"""Programs that pick one of many objects: play decides the place alone."""

import random

import pytest

from simulator import Database, Laplace, PureDP, counting_query, estimate_rare, simulate
from simulator.adversaries.program import machine
from simulator.adversaries.program.forms import NotRead
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.engine.compiled import worth
from tests.helpers.random_programs import PLAYED, PRELUDE, Author, compared, function_of

MANY = 70
PICKED = f"""
OF_SIZE = [Database({{"others": 100 + k}}) for k in range({MANY})]
PAIRS = [(each, each.add("bob")) for each in OF_SIZE]
CHALLENGES = [(w, b, Laplace(BOB, 0.1 + 0.001 * (k % 5))) for k, (w, b) in enumerate(PAIRS)]
LABELLED = tuple((k, w, b, 0.01 * (k + 1)) for k, (w, b) in enumerate(PAIRS))
SHORT = PAIRS[:-1]
RAGGED = [*PAIRS, (EVERYONE,)]
"""


def written(body):
    lines = "\n".join("    " + line for line in body.splitlines())
    return function_of(f"{PRELUDE}{PICKED}\n\ndef adversary(coins):\n{lines}\n")


READ = {
    "a loop": "while True:\n    for w, b in PAIRS:\n        yield w, b, WEAK",
    "a loop that ends": "for w, b in PAIRS[:66]:\n    yield w, b, WEAK",
    "coins": "while True:\n    w, b = PAIRS[coins.integers(70)]\n    yield w, b, Laplace(BOB, 0.1)",
    "a table of challenges": (
        "a = 0.0\nwhile True:\n    i = int(min(max(a, -60.0), 60.0)) if a == a else 7\n"
        "    a = yield CHALLENGES[i % 70]"
    ),
    "its parts": (
        "i = 3\nwhile True:\n    c = CHALLENGES[i]\n    a = yield c[0], c[1], c[-1]\n"
        "    i = (i + (1 if a > 0.5 else 7)) % 70"
    ),
    "numbers beside it": (
        "e = 0.1\nwhile True:\n    for k, w, b, weight in LABELLED:\n"
        "        e = clipped(0.1 * weight + (0.01 if k % 2 else 0.0))\n"
        "        yield w, b, Laplace(BOB, e)"
    ),
    "what was picked before": (
        "before = PAIRS[5]\ni = 0\nwhile True:\n    now = PAIRS[i * i % 70]\n"
        "    a = yield before[0], before[1], WEAK\n    i += 1\n"
        "    if a > 0.0:\n        before = now"
    ),
    "from the end": (
        "i = 0\nwhile True:\n    i += 1\n    w, b = PAIRS[-(i % 70) - 1]\n    yield w, b, STRONG"
    ),
    "beyond the end": "i = 60\nwhile True:\n    i += 1\n    w, b = PAIRS[i]\n    yield w, b, WEAK",
    "two places": (
        "i = 0\nwhile True:\n    i += 1\n    w, b = PAIRS[i][0], PAIRS[i if i < 9 else 2 * i][1]\n"
        "    yield w, b, WEAK"
    ),
    "one of them is fixed": "i = 0\nwhile True:\n    i += 1\n    yield OF_SIZE[i], EVERYONE, WEAK",
}


@pytest.mark.parametrize("name", READ)
def test_what_is_picked_is_sent(name):
    adversary = written(READ[name])
    stops = {"a loop that ends": 25, "beyond the end": 9, "two places": 8}
    assert compared(adversary, PLAYED) == len(PLAYED) * stops.get(name, len(PLAYED[0]))
    assert len(machine_of(read(adversary)).segments) < 20


REFUSED = {
    "is of one of many objects": "for w, b in PAIRS:\n"
    "    yield w, b, WEAK if w is None else STRONG",
    "the attribute size of": "for w, b in PAIRS:\n    yield w, b, WEAK if w.size else STRONG",
    "tuples of two lengths": "for i in range(40):\n    yield PAIRS[i][0], SHORT[i][1], WEAK",
    "not all have so many": "for w, b in RAGGED:\n    yield w, b, WEAK",
    "tuples, of which not all have so many": "for c in PAIRS:\n    yield c[0], c[2], WEAK",
    "not all are tuples": "for each in OF_SIZE:\n    yield each[0], each[1], WEAK",
    "by other than a whole number": "for c in CHALLENGES:\n    yield c[0], c[1], c[None]",
    "the truth of": "for w, b in PAIRS:\n    yield w, b, WEAK if w else STRONG",
    "that are not numbers": "for w, b in PAIRS:\n    yield w, b, WEAK if w == b else STRONG",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_depends_on_the_object_is_refused(reason):
    with pytest.raises(NotRead, match=reason):
        machine_of(read(written(REFUSED[reason])))


def with_picked_pairs(source):
    """The program with other databases in every round."""
    places = "PAIRS[(i * 7 + j) % 70][0], PAIRS[(i * 7 + j) % 70][1]"
    head, body = source.split("\ndef adversary", 1)
    return f"{head}{PICKED}\ndef adversary{body.replace('WITHOUT, EVERYONE', places)}"


def rounds_agreed(seeds):
    found = 0
    for seed in seeds:
        try:
            adversary = function_of(with_picked_pairs(Author(random.Random(seed).choice).program()))
            found += compared(adversary, PLAYED[:4])
        except NotRead:
            pass
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_programs_of_chance_agree():
    assert rounds_agreed(range(12)) > 100


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_place_that_is_taken_for_another_is_found(monkeypatch):
    """As the objects of two places were, if nothing compared the places."""
    do = machine.Builder.do

    def unchecked(self, target, operation, operands, *rest):
        return do(self, target, "copy" if operation == "same" else operation,
                  operands[:1] if operation == "same" else operands, *rest)  # fmt: skip

    monkeypatch.setattr(machine.Builder, "do", unchecked)
    with pytest.raises(AssertionError):
        compared(written(READ["two places"]), PLAYED)


PAIRS = []
for size in range(100, 400):
    database = Database({"others": size})
    PAIRS.append((database, database.add("bob")))


def others_each_round(coins):
    """Another pair of databases in every round."""
    while True:
        for without, everyone in PAIRS:
            yield without, everyone, Laplace(counting_query("bob"), 0.1)


def test_a_game_over_many_databases_is_compiled_and_its_rare_events_are_bounded(monkeypatch):
    game = {"family": PureDP(0.1), "rounds": 40, "seed": 3}
    event = estimate_rare(others_each_round, trials=2_000, epsilon=2.0, **game)
    assert event.method == "covering"
    found = []
    for worth_compiling in (0, 10**9):
        for name in ("WORTH_COMPILING", "WORTH_A_LOOK"):
            monkeypatch.setattr(worth, name, worth_compiling)
        result = simulate(others_each_round, trials=300, jobs=1, progress=False, **game)
        found.append([result.losses(b).tobytes() for b in (0, 1)])
    assert found[0] == found[1]
