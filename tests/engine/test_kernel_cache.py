"""Kernels that were compiled in another process: the same bits, and never another's code.

A new process is a new process here: numba links functions by their names, and only there may a name
mean something else.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from simulator import ADD_REMOVE, PureDP, Rule
from simulator.engine.compiled.kernel_cache import KernelCache
from simulator.engine.compiled.plain_kernel import Engine
from tests.helpers.games import PRESS

PLAY = """
import hashlib, json, sys
from simulator import PureDP
from simulator.adversaries import make
from simulator.engine.block import Specification, play_block, prepared_engine
from simulator.engine.sampling import Covering, Tilted
from simulator.theory.filters.families import SumFilter
from tests.helpers.games import FINITE, ANYTHING

def told(s):
    engine = prepared_engine(s)
    digest = hashlib.sha256()
    for b in (0, 1):
        outcome = play_block(s, b, 0)
        digest.update(outcome.losses.tobytes())
        if outcome.log_weights is not None:
            digest.update(outcome.log_weights.tobytes())
    if engine is None:
        from simulator.engine.block import covering_engine
        kernel = covering_engine(s, 0)._kernel
    else:
        kernel = engine.kernel
    cache = kernel._cache
    return digest.hexdigest(), getattr(cache, "loaded", 0), getattr(cache, "saved", 0)

family = PureDP(0.2)
rule = make("press-when-ahead", family, 20)
print(json.dumps([
    told(Specification(rule, family, 20, 500, 7)),
    told(Specification(rule, family, 20, 500, 7, filter=SumFilter(1.0))),
    told(Specification(rule, family, 20, 500, 7, sampling=Tilted(2.0))),
    told(Specification(FINITE, ANYTHING, 8, 500, 7, sampling=Covering(2.0))),
]))
"""


def in_a_new_process(program, folder, *arguments):
    """What a program prints as JSON, with its cache in that folder."""
    environment = {**os.environ, "DPCOMPOSE_CACHE": str(folder)}
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    return json.loads(run.stdout)


def test_a_new_process_loads_every_kind_of_kernel_and_plays_the_same_bits(tmp_path):
    off, cold, warm = (
        in_a_new_process(PLAY, folder) for folder in ("off", tmp_path / "c", tmp_path / "c")
    )
    assert [bits for bits, *_ in off] == [bits for bits, *_ in cold] == [bits for bits, *_ in warm]
    assert [counts for _, *counts in off] == [[0, 0]] * 4
    assert [counts for _, *counts in cold] == [[0, 1]] * 4
    assert [counts for _, *counts in warm] == [[1, 0]] * 4


FROM_A_FILE = """
import json, sys
from simulator import PureDP
from simulator.adversaries.loading import find_adversary
from simulator.engine.block import Specification, play_block, prepared_engine

family = PureDP(0.2)
s = Specification(find_adversary(sys.argv[1], family, 20), family, 20, 300, 7)
cache = prepared_engine(s).kernel._cache
print(json.dumps([play_block(s, 0, 0).losses.tolist(), cache.loaded, cache.saved]))
"""
RULE_OF_A_FILE = """
from simulator import Challenge, Laplace, Rule
from simulator.adversaries.people import ALICE, EVERYONE, WITHOUT_ALICE

menu = tuple(Challenge(WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1 * i)) for i in (1, 2))


def step(state, i, answer, coins):
    return state, 1 if answer > BAR else 0


press = Rule(step, menu)
"""


def test_a_rule_of_a_file_is_compiled_once_until_the_file_changes(tmp_path):
    file = tmp_path / "mine.py"
    played = []
    for bar in (0.5, 0.5, -3.0, 0.5):
        file.write_text(f"BAR = {bar}\n{RULE_OF_A_FILE}")
        played.append(in_a_new_process(FROM_A_FILE, tmp_path / "c", f"{file}:press"))
    (first, *cold), (again, *warm), (other, *changed), (back, *kept) = played
    assert first == again == back != other
    assert cold[0] == changed[0] == 0
    assert warm == kept == [1, 0]


ONE_NAME = """
import json, math, sys
import numba
from simulator import Laplace, PureDP, Rule
from simulator.engine import compiling, kept_kernels
from simulator.engine.block import Specification, engine_for, play_block
from tests.helpers.games import ALICE, on_alice

MANY = "".join(f"    if x > {k}.25:\\n        s += math.sin(x * {k}) * math.cos(s)\\n"
               for k in range(100))

def rule_with(bar):
    # too long for LLVM to inline: it is called by its name
    space = {"math": math, "bar": bar, "__name__": "__main__"}
    exec("def helper(x):\\n    s = 0.0\\n" + MANY + "    return x > bar + 0.0 * s\\n", space)
    helper = numba.njit(space["helper"])

    def step(state, i, answer, coins):
        return state, 1 if helper(answer) else 0

    return Rule(step, on_alice(Laplace(ALICE, 0.1), Laplace(ALICE, 0.2)))

if sys.argv[1] == "named by numba":
    compiling.name_uniquely = lambda: None
    kept_kernels._FIRST = 0
told = []
for bar in sys.argv[2:]:
    s = Specification(rule_with(float(bar)), PureDP(0.2), 40, 200, 7, block_size=200)
    cache = engine_for(s).kernel._cache
    told.append([play_block(s, 0, 0).losses.tolist(), cache.loaded])
print(json.dumps(told))
"""


@pytest.mark.parametrize("names", ["named uniquely", "named by numba"])
def test_two_functions_of_one_name_from_two_processes_are_told_apart(tmp_path, names):
    ((first, loaded),) = in_a_new_process(ONE_NAME, tmp_path, names, "0.5")
    assert loaded == 0
    ((second, loaded),) = in_a_new_process(ONE_NAME, tmp_path, names, "-3")
    assert loaded == 0
    assert first != second
    both = in_a_new_process(ONE_NAME, tmp_path, names, "0.5", "-3")
    if names == "named uniquely":
        assert both == [[first, 1], [second, 1]]
    else:  # what it would come to: the second rule plays with the first one's helper
        assert both == [[first, 1], [first, 1]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of the test's own, in a process that knows no kernel yet."""
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(KernelCache, "known", {})
    return tmp_path / "cache"


TWICE = """
import json, pathlib, sys
import numpy as np
from simulator import ADD_REMOVE, PureDP, Rule
from simulator.engine.compiled.kernel_cache import KernelCache
from simulator.engine.compiled.plain_kernel import Engine
from tests.helpers.games import PRESS

def told(rule):
    engine = Engine.build(rule, PureDP(0.2), ADD_REMOVE)
    found = np.zeros(50)
    engine.play(0, np.random.default_rng(1), np.random.default_rng(2), found, 20)
    return found.tolist(), engine.kernel._cache.loaded, engine.kernel._cache.saved

first = told(PRESS)
if sys.argv[2] == "damage":
    (file,) = pathlib.Path(sys.argv[1]).iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    KernelCache.known.clear()
print(json.dumps([first, told(Rule(PRESS.step, PRESS.menu))]))
"""


def test_a_damaged_file_is_compiled_anew_and_replaced(tmp_path):
    first, again = in_a_new_process(TWICE, tmp_path, str(tmp_path), "damage")
    assert first[1:] == again[1:] == [0, 1]
    assert first[0] == again[0]


def test_an_equal_rule_is_compiled_once_in_a_process(tmp_path):
    first, again = in_a_new_process(TWICE, tmp_path, str(tmp_path), "leave")
    assert (first[1:], again[1:]) == ([0, 1], [1, 0])
    assert first[0] == again[0]


def test_a_folder_that_cannot_be_made_costs_only_the_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(KernelCache, "known", {})
    engine = Engine.build(PRESS, PureDP(0.2), ADD_REMOVE)
    assert engine.complaint == ""
    assert engine.kernel._cache.saved == 0


def test_code_with_an_address_of_this_process_is_not_kept(folder):
    large = np.zeros(1 << 18)  # numba looks such an array up where it is

    def step(state, i, _answer, _coins):
        return state, int(large[i])

    engine = Engine.build(Rule(step, PRESS.menu), PureDP(0.2), ADD_REMOVE)
    assert engine.complaint == ""
    assert engine.kernel._cache.saved == 0
    assert not KernelCache.known
