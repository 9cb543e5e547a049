"""A saved policy is the policy: the file names it, and its rule plays the same bits."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

from simulator.adversaries.contract import Challenge
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.data.queries import counting_query
from simulator.engine.compiled.plain_kernel import Engine
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms import Laplace
from simulator.theory import FiniteLaw
from simulator.theory.filters.named import parse_filter
from simulator.worst import Policy, worst_case
from simulator.worst.menu_parsing import parse_entry
from simulator.worst.policy_files import challenge_text, packed, read, unpacked

SKEWED = FiniteLaw.from_probabilities((0.7, 0.2, 0.1), (0.5, 0.2, 0.3))
GAMES = {
    "responses": {"menu": "randomized-response:0.1,randomized-response:0.3", "rounds": 6},
    "noise": {"menu": "laplace:0.3,gdp:0.37", "rounds": 4, "experiment": 1},
    "table": {"menu": [SKEWED, "geometric:0.3", "approx:0.2,1e-3"], "rounds": 4},
    "range": {"menu": "exponential:0.7", "rounds": 4, "relation": REPLACE_ONE},
    "free": {"menu": "randomized-response:0.1..0.3", "filter": parse_filter("sum:0.9")},
}


@pytest.mark.parametrize("name", GAMES)
def test_a_loaded_policy_is_the_one_that_was_saved(name, tmp_path):
    policy = worst_case(**GAMES[name], epsilon=0.4, tolerance=0.1, seconds=1e-9).policy
    path = policy.save(tmp_path / "found.py", ("A header.",))
    names = runpy.run_path(str(path))
    loaded = names["policy"]
    for what in ("menu", "labels", "relation", "experiment", "epsilon", "grid"):
        assert getattr(loaded, what) == getattr(policy, what)
    for what in ("follow", "table", "thresholds"):
        np.testing.assert_array_equal(getattr(loaded, what), getattr(policy, what))
    assert loaded.value == pytest.approx(policy.value, rel=1e-12)
    losses = []
    for rule in (policy.adversary, names["worst_case"]):
        engine = Engine.build(rule, policy.family, policy.relation, compiled=False)
        coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
        losses.append(np.empty(50))
        engine.play(0, coins, noise, losses[-1], policy.rounds)
    np.testing.assert_array_equal(losses[0], losses[1])
    assert losses[0].std() > 0.0


@pytest.mark.parametrize("relation", ["add/remove-one", "replace-one"])
def test_a_file_is_run_by_the_commands(dpcompose, tmp_path, relation):
    path = tmp_path / "found.py"
    game = ("--menu", "randomized-response:0.1,approx:0.3,1e-3", "--rounds", 5, "--epsilon", 0.4)
    game += ("--relation", relation)
    found = dpcompose("worst-case", *game, "--save", path, "--json").json
    text = path.read_text()
    header = [line for line in text.splitlines() if line.startswith("#")]
    assert repr(found["delta"]["lower"]) in " ".join(header)
    (command,) = [line[1:].split() for line in header if "dpcompose estimate-rare" in line]
    assert command[:3] == ["dpcompose", "estimate-rare", "found.py:worst_case"]
    event = dpcompose(
        "estimate-rare", f"{path}:worst_case", *command[3:], "--trials", 4000, "--jobs", 1, "--json"
    ).json
    assert event["delta"]["lower"] <= found["delta"]["upper"]
    assert found["delta"]["lower"] <= event["delta"]["upper"]


@pytest.mark.parametrize(
    "entry",
    ["randomized-response:0.1", "laplace:0.3", "geometric:0.7", "gaussian:0.3", "approx:0.1,1e-05"],
)
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE])
def test_every_mechanism_is_written_to_the_bit(entry, relation):
    challenge = read(entry, relation)
    assert relation.are_neighbours(*challenge[:2])
    assert challenge_text(challenge, relation) == entry
    assert challenge.mechanism == parse_entry(entry).challenge.mechanism


def test_every_sigma_is_kept():
    for mu in np.random.default_rng(1).uniform(0.01, 3.0, 300):
        challenge = read(f"gdp:{float(mu)!r}", ADD_REMOVE)
        assert read(challenge_text(challenge, ADD_REMOVE), ADD_REMOVE) == challenge


def test_a_mechanism_without_a_name_cannot_be_saved(tmp_path):
    without = Database({"alice": 1, "others": 398})
    challenge = Challenge(without, without.add("bob"), Laplace(counting_query("bob"), 0.1))
    policy = worst_case([challenge], epsilon=0.05, rounds=1).policy
    with pytest.raises(NotApplicable, match="has no name in a menu"):
        policy.save(tmp_path / "found.py")
    assert not (tmp_path / "found.py").exists()


def test_tables_survive_packing():
    numbers = np.random.default_rng(2).integers(-1, 30, (7, 90))
    np.testing.assert_array_equal(unpacked(packed(numbers)), numbers)
    for damaged in ("", "3,4:", "3,4:abc", packed(numbers)[:-5], "1,1:" + packed(numbers)[5:]):
        with pytest.raises(InvalidInput, match="damaged"):
            unpacked(damaged)


def test_a_file_whose_parts_do_not_fit_is_refused():
    values = {
        "menu": ("laplace:0.1",), "labels": ("laplace:0.1",), "relation": "add/remove-one",
        "experiment": 0, "epsilon": 0.1, "grid": (0.1, -1, 3, 0.0),
        "follow": packed(np.array([[-1], [0]])), "table": packed(np.zeros((2, 3))),
    }  # fmt: skip
    Policy.read(**values)
    for name, wrong in (
        ("table", packed(np.zeros((2, 4)))),
        ("labels", ()),
        ("relation", "cousins"),
        ("menu", ("laplace:0.1..0.2",)),
        ("menu", (7,)),
        ("thresholds", (0.0,)),
    ):
        with pytest.raises(InvalidInput):
            Policy.read(**values | {name: wrong})
