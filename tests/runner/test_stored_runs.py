"""A stored run serves the same game only, and a larger run of it to the bit."""

import json
import pickle
import shutil
import sys
from functools import partial

import numpy as np
import pytest

import simulator.engine.specification
import simulator.runner.worker
from simulator import Laplace, PureDP, counting_query, simulate
from simulator.adversaries import Rule, make
from simulator.analysis import Tilted
from simulator.analysis.loading import UnknownAdversary
from simulator.analysis.result import Result
from simulator.engine.block import engine_for
from simulator.engine.specification import Specification
from simulator.errors import InvalidInput
from simulator.runner.store import RunStore
from simulator.theory import SumFilter
from tests.helpers.games import PRESS, WITH_ALICE, WITHOUT_ALICE, press_when_ahead
from tests.helpers.same_runs import assert_same

ALICE = counting_query("alice")
SHARP = 0.1


def play(adversary=press_when_ahead, **others):
    settings = {"rounds": 4, "trials": 20, "seed": 5, "block_size": 8, "jobs": 1, "keep_views": 3}
    return simulate(adversary, others.pop("family", PureDP(0.9)), **(settings | others))


def sharp(coins):
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, SHARP)


# --- what has changed ---------------------------------------------------------------------------


def test_a_resume_is_refused_where_a_global_has_changed(tmp_path, monkeypatch):
    play(sharp, out=tmp_path)
    assert play(sharp, out=tmp_path).rounds_played == 0
    monkeypatch.setattr(sys.modules[__name__], "SHARP", 0.2)
    with pytest.raises(InvalidInput, match=r"code\.adversary: .* there, .* here"):
        play(sharp, out=tmp_path)


class Generous(SumFilter):
    name = "own"

    @staticmethod
    def step(state, epsilon, delta):
        return True, state


def test_a_resume_is_refused_where_the_step_of_a_filter_was_edited(tmp_path, monkeypatch):
    play(filter=Generous(0.3), out=tmp_path)
    monkeypatch.setattr(
        Generous, "step", staticmethod(lambda state, epsilon, delta: (False, state))
    )
    with pytest.raises(InvalidInput, match=r"code\.filter"):
        play(filter=Generous(0.3), out=tmp_path)


def test_what_is_not_covered_is_in_the_record_and_counts(tmp_path):
    def careless(coins):
        open("/dev/null").close()
        yield from press_when_ahead(coins)

    play(careless, out=tmp_path)
    stored = json.loads((tmp_path / "specification.json").read_text())["specification"]
    assert stored["not_covered"] == ["adversary: " + careless.__qualname__ + " uses open"]


LEVEL = 0


def level_step(state, i, answer, coins):
    return state, LEVEL


@pytest.mark.nightly
def test_a_kernel_is_played_for_the_globals_it_was_compiled_with_alone(monkeypatch):
    menu = [(WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, e)) for e in (0.1, 0.9)]
    rule = Rule(level_step, menu)
    low = play(rule)
    monkeypatch.setattr(sys.modules[__name__], "LEVEL", 1)
    high = play(rule)
    assert np.abs(low.losses(0)).max() <= 4 * 0.1 + 1e-12 < np.abs(high.losses(0)).max()
    s = Specification(rule, PureDP(0.9), 4, 20)
    assert engine_for(s) is engine_for(Specification(rule, PureDP(0.9), 5, 90, 7))
    monkeypatch.setattr(sys.modules[__name__], "LEVEL", 0)
    with pytest.raises(InvalidInput, match="the adversary of level_step has changed since"):
        simulator.runner.play.run(s, (0,), 1)


def test_states_of_other_types_have_kernels_of_their_own():
    menu = [(WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1))]
    keys = {
        Specification(Rule(level_step, menu, state), PureDP(0.9), 4, 20).code.digest
        for state in (0, 0.0, -0.0, False, (0,), (0.0,))
    }
    assert len(keys) == 6


def test_a_worker_that_finds_another_state_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    source = (
        "from tests.helpers.games import *\nfrom simulator import Laplace, counting_query\n"
        "SHARP = 0.1\ndef adversary(coins):\n    while True:\n"
        "        yield WITHOUT_ALICE, WITH_ALICE, Laplace(counting_query('alice'), SHARP)\n"
    )
    (tmp_path / "importable.py").write_text(source)
    import importable

    s = Specification(importable.adversary, PureDP(0.9), 4, 20)
    pickled = simulator.runner.worker.Player(s).pickled
    assert simulator.runner.worker.unpickled(pickled) == s
    monkeypatch.setattr(importable, "SHARP", 0.3)  # here, and not where the module is imported
    with pytest.raises(InvalidInput, match="differs in a worker process"):
        simulator.runner.worker.unpickled(bytes(bytearray(pickled)) + b" ")


# --- larger runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("adversary", [PRESS, press_when_ahead])
@pytest.mark.parametrize("others", [{"trace": True}, {"sampling": Tilted(1.0)}])
def test_a_run_that_is_raised_is_the_larger_run(adversary, others, tmp_path):
    play(adversary, out=tmp_path, **others)
    raised = play(adversary, trials=37, keep_views=11, out=tmp_path, **others)
    whole = play(adversary, trials=37, keep_views=11, **others)
    assert_same(raised, whole)
    # blocks 0 and 1 keep more views, 2 was short, 3 and 4 are new: all but none are played again
    again = play(adversary, trials=37, keep_views=11, out=tmp_path, **others)
    assert again.rounds_played == 0
    assert_same(again, whole)
    longer = play(adversary, trials=45, keep_views=11, out=tmp_path, **others)
    assert longer.rounds_played == 2 * 4 * (8 + 5)  # the short block 4, and block 5
    assert_same(longer, play(adversary, trials=45, keep_views=11, **others))


def test_a_run_is_not_lowered(tmp_path):
    play(out=tmp_path)
    for lower in ({"trials": 19}, {"keep_views": 2}):
        with pytest.raises(InvalidInput, match="goes further already") as refusal:
            play(out=tmp_path, **lower)
        assert "\n" not in str(refusal.value)


# --- foreign blocks -----------------------------------------------------------------------------


@pytest.mark.parametrize("other", [{"seed": 6}, {"rounds": 3}, {"block_size": 5}])
def test_a_log_copied_from_another_run_is_refused(other, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    play(out=here)
    play(out=there, **other)
    shutil.copy(there / "blocks.log", here / "blocks.log")
    with pytest.raises(InvalidInput, match="another run") as refusal:
        play(out=here)
    assert "\n" not in str(refusal.value)


def test_a_crafted_block_in_a_folder_names_the_folder(tmp_path):
    play(out=tmp_path)
    s = play().specification
    shutil.rmtree(tmp_path)
    with RunStore.open(tmp_path, s.identity(), s.goal()) as store:
        store.append(0, 1, {"losses": np.full(8, np.nan)})
    with pytest.raises(InvalidInput, match="losses that are not numbers; name another folder"):
        play(out=tmp_path)


# --- pickling -----------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["patient-hunter", "double-when-behind", "random-pair"])
def test_results_of_library_adversaries_pickle(name):
    family = PureDP(0.2)
    adversary = make(name, family, 4)
    assert pickle.loads(pickle.dumps(adversary)).name == name
    result = play(adversary, family=family, trials=2)
    restored = pickle.loads(pickle.dumps(result))
    assert_same(restored, result)
    assert restored.specification.code == result.specification.code
    assert restored.specification.code_now() == restored.specification.code
    assert restored.replay(restored.views[0]).loss == result.losses(0)[0]


def test_decorated_and_nested_adversaries_pickle():
    def nested(coins):
        yield from press_when_ahead(coins)

    for adversary in (PRESS, nested):
        result = play(adversary)
        assert_same(pickle.loads(pickle.dumps(result)), result)
    assert pickle.loads(pickle.dumps(PRESS)).name == PRESS.name


def test_a_run_whose_digests_are_of_another_format_is_read_and_not_resumed(tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(simulator.engine.specification, "FORMAT", 1)
        played = play(out=tmp_path)
    read = Result.load(tmp_path)
    assert isinstance(read.specification.adversary, UnknownAdversary)
    np.testing.assert_array_equal(read.losses(), played.losses())
    load_as = partial(Result.load, tmp_path, adversary=press_when_ahead)
    for again in (partial(play, out=tmp_path), load_as):
        with pytest.raises(InvalidInput, match="by another version of this program"):
            again()
