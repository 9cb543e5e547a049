"""A stored run read back: the same numbers, or one line on why not."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, Result, counting_query, estimate_rare, simulate
from simulator.adversaries import make
from simulator.adversaries.registry import OfLibrary
from simulator.analysis import Guarded, Setting, Steered, Tilted
from simulator.analysis.loading import UnknownAdversary
from simulator.analysis.run_picture import picture
from simulator.engine.sampling import Covering, parse_sampling
from simulator.errors import InvalidInput
from simulator.runner import merge_folders, simulate_part
from simulator.runner.play import opened
from simulator.runner.store import RunStore
from simulator.theory import parse_filter

FAMILY, ROUNDS = PureDP(0.2), 10
EVERYONE = Database({"alice": 1, "others": 9})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def my_own(coins):
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)


def another(coins):
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.05)


another.__name__ = another.__qualname__ = "my_own"


def stored(folder, adversary="press-when-ahead", trials=300, **options):
    """A run of several blocks in a folder, and its result."""
    if isinstance(adversary, str):
        adversary = make(adversary, FAMILY, ROUNDS)
    options = {"block_size": 32, "jobs": 1, "progress": False} | options
    return simulate(adversary, FAMILY, ROUNDS, trials, out=folder, **options)


def same(one, other):
    """Whether two results hold the same, and estimate the same."""
    assert one.specification.describe() == other.specification.describe()
    assert one.sample.keys() == other.sample.keys()
    for b in one.sample:
        for name in ("least", "largest", "low_means", "high_means"):
            ours, theirs = getattr(one.sample[b], name), getattr(other.sample[b], name)
            np.testing.assert_array_equal(ours, theirs)
        assert one.delta(0.4, b) == other.delta(0.4, b)
        assert one.tail(0.4, b) == other.tail(0.4, b)
    assert one.views == other.views
    assert one.traces.keys() == other.traces.keys()
    for b in one.traces:
        np.testing.assert_array_equal(one.traces[b], other.traces[b])


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"keep_views": 40, "trace": True},
        {"experiments": (1,)},
        {"keep": "summary", "trace": True},
        {"filter": parse_filter("sum:1")},
        {"sampling": Tilted(1.0)},
        {"sampling": Tilted(1.0), "keep": "summary"},
        {"sampling": Guarded(Tilted(1.0), 0.5, 0.25)},
        {"sampling": Guarded(Tilted(1.0), 0.5, 0.25), "keep": "summary", "trials": 320},
    ],
)
def test_a_stored_run_is_read_back_to_the_bit(tmp_path, options):
    result = stored(tmp_path / "run", **options)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    loaded = Result.load(tmp_path / "run")
    same(loaded, result)
    assert not isinstance(loaded.specification.adversary, UnknownAdversary)
    for view in loaded.views[:2]:
        assert loaded.replay(view) == result.replay(next(v for v in result.views if v == view))
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    same(pickle.loads(pickle.dumps(loaded)), result)


def test_an_adversary_of_ones_own_has_a_stand_in_that_refuses(tmp_path):
    result = stored(tmp_path / "run", my_own, keep_views=3, trace=True)
    loaded = Result.load(tmp_path / "run")
    same(loaded, result)
    assert loaded.specification.adversary == UnknownAdversary("my_own")
    with pytest.raises(InvalidInput, match=r"name of my_own.*pass adversary= to Result.load"):
        loaded.replay(loaded.views[0])
    with pytest.raises(InvalidInput, match="pass adversary="):
        simulate(loaded.specification.adversary, FAMILY, ROUNDS, 10, jobs=1, progress=False)
    paths = [line for line in picture(loaded, "mine").axes[2].lines if line.get_linewidth() < 0.5]
    assert paths == []
    own = Result.load(tmp_path / "run", adversary=my_own)
    assert own.replay(own.views[0]) == result.replay(result.views[0])
    paths = [line for line in picture(own, "mine").axes[2].lines if line.get_linewidth() < 0.5]
    assert len(paths) == 3


def test_what_is_not_what_was_played_is_refused(tmp_path):
    stored(tmp_path / "run", my_own)
    with pytest.raises(InvalidInput, match=r"played with something else \(code.adversary"):
        Result.load(tmp_path / "run", adversary=another)
    with pytest.raises(InvalidInput, match=r"family: \"pure:0.2\" there"):
        Result.load(tmp_path / "run", family=PureDP(0.3))


@pytest.mark.nightly
def test_an_adversary_with_a_name_of_the_library_and_other_code_is_not_the_librarys(tmp_path):
    library = make("double-when-behind", FAMILY, ROUNDS)
    stored(tmp_path / "run", OfLibrary(library.func, "press-when-ahead", FAMILY, ROUNDS))
    assert isinstance(Result.load(tmp_path / "run").specification.adversary, UnknownAdversary)


def test_weighted_runs_say_what_to_pass(tmp_path):
    steered = Steered(np.array([0.0, 1.0]), np.array([[0, 1]]), (0.0, 1.0))
    result = stored(tmp_path / "steered", sampling=steered)
    with pytest.raises(InvalidInput, match=r"steered:.* cannot be made from its text: pass sampl"):
        Result.load(tmp_path / "steered")
    same(Result.load(tmp_path / "steered", sampling=steered), result)
    stored(tmp_path / "mine", my_own, sampling=Tilted(1.0))
    with pytest.raises(InvalidInput, match="depends on the adversary my_own: pass adversary="):
        Result.load(tmp_path / "mine")
    Result.load(tmp_path / "mine", adversary=my_own)


@pytest.mark.parametrize(
    "sampling",
    [Tilted(-0.1), Covering(1e-300), Guarded(Tilted(1 / 3), 0.1, 0.25)],
)
def test_measures_are_read_from_their_texts(sampling):
    assert parse_sampling(str(sampling)) == sampling


@pytest.mark.parametrize(
    "text", ["", "tilted", "tilted:x", "tilted:1,2", "covering:-1", "steered:ab", "guarded:1,2:x"]
)
def test_other_texts_are_no_measures(text):
    with pytest.raises(InvalidInput, match="no sampling measure"):
        parse_sampling(text)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"keep": "summary"},
        {"keep_views": 300},
        {"keep": "summary", "sampling": Tilted(1.0)},
    ],
)
def test_of_an_interrupted_run_what_is_there_from_the_first_block_on(tmp_path, options, capfd):
    """Blocks 0 to 3 of experiment 0, and 0 to 2 and 5 of experiment 1."""
    whole = stored(tmp_path / "whole", **options)
    left = tmp_path / "left"
    with (
        opened(tmp_path / "whole", whole.specification) as source,
        opened(left, whole.specification) as target,
    ):
        for record in source.read():
            if record.block in ((0, 1, 2, 3), (0, 1, 2, 5))[record.experiment]:
                target.append(
                    record.experiment, record.block, record.arrays, blocks=record.blocks,
                    adds=record.adds,
                )  # fmt: skip
    loaded = Result.load(left)
    assert "left holds 96 of 300 trials" in capfd.readouterr().err
    same(
        loaded,
        stored(None, trials=96, **options | {"keep_views": min(96, options.get("keep_views", 0))}),
    )


def test_a_goal_that_was_raised_and_not_reached_leaves_what_there_was(tmp_path, capfd):
    """The last block of 300 trials is short, and is not that of a longer run."""
    result = stored(tmp_path / "run", keep_views=5)
    with opened(tmp_path / "run", replace(result.specification, trials=9000, keep_views=70)):
        pass
    same(Result.load(tmp_path / "run"), result)
    assert "holds 300 of 9000 trials" in capfd.readouterr().err
    longer = stored(tmp_path / "run", trials=9000, keep_views=70)
    same(Result.load(tmp_path / "run"), longer)


def test_parts(tmp_path):
    adversary = make("press-when-ahead", FAMILY, ROUNDS)
    for part in ("1/2", "2/2"):
        simulate_part(
            adversary, FAMILY, ROUNDS, 2000, part=part, out=tmp_path / part[0], jobs=1,
            progress=False, block_size=32,
        )  # fmt: skip
    trials = Result.load(tmp_path / "1").specification.trials
    assert 0 < trials < 2000
    same(Result.load(tmp_path / "1"), stored(None, trials=trials))
    with pytest.raises(InvalidInput, match=r"does not hold block 0 .* merge them"):
        Result.load(tmp_path / "2")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "must name a folder, not be empty; the working folder is '.'"),
        (b"run", "must be a folder, as text or a path, not b'run'"),
        ("run\0", "can be none"),
    ],
)
def test_a_path_that_names_no_folder_is_refused_wherever_a_run_is_named(
    tmp_path, monkeypatch, text, line
):
    """An empty one was taken for the working folder, and the run in it was read."""
    stored(tmp_path)
    stored(tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    def a_pilot(*anything):
        raise AssertionError("was played")

    monkeypatch.setattr("simulator.runner.play.trials_that_fit", a_pilot)
    monkeypatch.setattr("simulator.analysis.rare.events.choose", a_pilot)
    game = make("press-when-ahead", FAMILY, ROUNDS), FAMILY, ROUNDS
    for door in (
        lambda: Result.load(text),
        lambda: RunStore.load(text),
        lambda: stored(text),
        lambda: simulate(*game, seconds=9.0, out=text, jobs=1),
        lambda: simulate_part(*game, 100, part=(1, 2), out=text, jobs=1),
        lambda: estimate_rare(*game, 100, epsilon=1.0, setting=Setting(out=text, jobs=1)),
        lambda: merge_folders([text], "new"),
        lambda: merge_folders(["run"], text),
    ):
        with pytest.raises(InvalidInput) as refusal:
            door()
        assert line in str(refusal.value)
        assert "\n" not in str(refusal.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_no_run_is_refused(tmp_path):
    for folder, line in (
        (tmp_path / "nowhere", "is not the folder"),
        (3, "must be a folder"),
        (tmp_path, "cannot read"),
    ):
        with pytest.raises(InvalidInput, match=line):
            Result.load(folder)
    result = stored(tmp_path / "empty")
    (tmp_path / "empty" / "blocks.log").unlink()
    with pytest.raises(InvalidInput, match="cannot read"):
        Result.load(tmp_path / "empty")
    with opened(tmp_path / "empty", result.specification):
        pass
    with pytest.raises(InvalidInput, match="holds no block yet"):
        Result.load(tmp_path / "empty")
    path = tmp_path / "empty" / "specification.json"
    written = json.loads(path.read_text())
    written["specification"]["family"] = "pure:0.3"
    path.write_text(json.dumps(written))
    with pytest.raises(InvalidInput, match="was changed after it was written"):
        Result.load(tmp_path / "empty")
