"""A Ray cluster plays the same bits, and names a block that kills its workers."""

import joblib
import pytest

from simulator import PureDP, simulate
from simulator.runner import WorkerLost
from simulator.runner.store import RunStore
from tests.helpers.clusters import watched
from tests.helpers.games import press_when_ahead

ray = pytest.importorskip("ray", reason="needs dpcompose[ray]")


@pytest.fixture(scope="module")
def _cluster():
    from ray.util.joblib import register_ray

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    register_ray()
    yield
    ray.shutdown()


@pytest.fixture
def _on_ray(_cluster):
    with joblib.parallel_config("ray"):
        yield


def play(adversary, **others):
    settings = {"rounds": 20, "trials": 50, "seed": 5, "block_size": 8}
    return simulate(adversary, PureDP(0.9), **(settings | others))


@pytest.mark.usefixtures("_on_ray")
def test_ray_changes_no_bit():
    others = {"trace": True, "keep_views": 11}
    alone, result = play(press_when_ahead, jobs=1, **others), play(press_when_ahead, **others)
    for b in (0, 1):
        assert result.losses(b).tobytes() == alone.losses(b).tobytes()
        assert result.traces[b].tobytes() == alone.traces[b].tobytes()
    assert result.views == alone.views


@pytest.mark.usefixtures("_on_ray")
def test_a_block_that_kills_its_worker_on_ray_is_named_and_costs_no_other(tmp_path):
    adversary = watched(tmp_path, deaths=100)
    whole = play(adversary, jobs=1, keep_views=50)
    (tmp_path / "fatal").write_text(str(whole.views[17].coins[0]))
    with pytest.raises(WorkerLost, match="died twice while playing experiment 0, block 2;"):
        play(adversary, experiments=(0,), keep_views=50, out=tmp_path / "run")
    with RunStore.load(tmp_path / "run") as store:
        assert store.done() == {(0, block) for block in range(7) if block != 2}
