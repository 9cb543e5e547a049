"""Results and all that the library is made of: equal to what is read back in another process."""

import pickle
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, Result, counting_query, rule, simulate
from simulator.adversaries import make, registry
from simulator.analysis import Tilted
from simulator.errors import InvalidInput
from simulator.foundations.frames import holds_same
from simulator.theory import parse_filter, parse_guarantee
from tests.helpers.mechanism_cases import CASES

FAMILY = PureDP(0.2)
FILTERS = ("sum:1", "rogers:1,1e-6", "whitehouse:1,1e-6", "zcdp:1,1e-6", "renyi:1,1e-6",
           "natural:1,1e-5")  # fmt: skip
ELSEWHERE = """
import pickle, re, sys
things = pickle.load(sys.stdin.buffer)
result, plays = things["result"], things["adversaries"]
print(len(things), result.delta(0.1), result.transcript(result.views[0]).turns[-1].total)
for name, adversary in plays.items():
    rng = __import__("numpy").random.default_rng(1)
    print(name, re.sub(" at 0x[0-9a-f]+", "", str(next(adversary(rng))[2])))
"""


def played(seed=0, name="press-when-ahead", **options):
    return simulate(
        make(name, FAMILY, 10), FAMILY, 10, 200, seed=seed, jobs=1, progress=False, **options
    )


def library():
    """Every adversary of the library, made for a family that it plays in."""
    made = {}
    for entry in registry.entries():
        for family in ("pure:0.5", "gaussian:0.5", "subsampled-gaussian:1,0.05"):
            try:
                made[entry.name] = registry.make(entry.name, parse_guarantee(family), 10)
                break
            except InvalidInput:
                continue
    return made


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        {"trace": True, "keep_views": 3},
        {"keep": "summary"},
        {"sampling": Tilted(1.0), "keep": "summary"},
        {"name": "mechanism-switcher", "keep_views": 2},
        {"filter": parse_filter("sum:1")},
    ],
)
def test_a_result_equals_itself_read_back_and_no_other(options):
    result = played(**options)
    again = played(**options)
    assert result == again
    assert pickle.loads(pickle.dumps(result)) == result
    assert result != played(seed=1, **options)
    assert result != replace(result, weights={}, sample={0: result.sample[0]})
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


def test_what_a_result_gives_is_compared_without_an_error():
    """Equality of fields that are arrays has no truth value, and raised."""
    one, other = played(trace=True, keep_views=1), played(seed=1, trace=True, keep_views=1)
    for ask in (
        lambda r: r.delta_band([0.1, 0.2]),
        lambda r: r.tail_band([0.1, 0.2]),
        lambda r: r.trade_off(),
        lambda r: r.moment_band(),
        lambda r: r.delta([0.1, 0.2]),
    ):
        assert ask(one) == ask(one) == pickle.loads(pickle.dumps(ask(one)))
        assert ask(one) != ask(other)
        assert ask(one) != 3


def test_a_stored_result_equals_the_one_that_was_played(tmp_path):
    """Views read back had numpy's numbers for answers, which a transcript shows otherwise."""
    result = played(out=tmp_path / "run", keep_views=2)
    loaded = Result.load(tmp_path / "run")
    assert loaded == result
    assert {type(answer) for view in loaded.views for answer in view.answers} == {float}


def test_values_with_arrays_in_them_are_compared():
    nan = np.array([1.0, np.nan])
    assert holds_same({"a": [nan, "x"]}, {"a": [nan.copy(), "x"]})
    assert holds_same(float("nan"), float("nan"))
    assert not holds_same({"a": nan}, {"a": nan + 1})
    assert not holds_same({"a": nan}, {"b": nan})
    assert not holds_same((1, 2), (1, 2, 3))
    assert not holds_same([1], (1,))


def test_everything_of_the_library_travels_to_another_process():
    result = played(keep_views=1)
    adversaries = library()
    assert adversaries.keys() == {entry.name for entry in registry.entries()}
    playing = {name: each for name, each in adversaries.items() if name != "dp-sgd"}
    things = {
        "result": result, "adversaries": playing, "others": adversaries,
        "filters": [parse_filter(text) for text in FILTERS],
        "running": [parse_filter(text).fresh() for text in FILTERS],
        "mechanisms": [case.mechanism for case in CASES],
    }  # fmt: skip
    there = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=pickle.dumps(things), capture_output=True,
        check=False,
    )  # fmt: skip
    assert there.stderr.decode() == ""
    first, *moves = there.stdout.decode().splitlines()
    total = result.transcript(result.views[0]).turns[-1].total
    assert first == f"{len(things)} {result.delta(0.1)} {total}"
    first_moves = {name: next(each(np.random.default_rng(1))) for name, each in playing.items()}
    assert moves == [
        f"{name} {re.sub(' at 0x[0-9a-f]+', '', str(move[2]))}"
        for name, move in first_moves.items()
    ]


EVERYONE = Database({"alice": 1, "others": 9})
WITHOUT = EVERYONE.remove("alice")


def test_a_rule_whose_query_is_a_local_function_can_be_pickled():
    query = counting_query(lambda record: record == "alice", name="alice")

    @rule(menu=[(WITHOUT, EVERYONE, Laplace(query, 0.1))])
    def always(state, i, answer, coins):
        return state, 0

    again = pickle.loads(pickle.dumps(always))
    assert again.menu[0].mechanism.query(EVERYONE) == 1
    assert again.name == always.name
