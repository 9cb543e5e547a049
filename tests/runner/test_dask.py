"""A Dask cluster plays the same bits, and what dies there costs what was in flight once."""

import gc
import os
import signal
import socket
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import joblib
import pytest

import simulator.runner.clusters.cluster
import simulator.runner.clusters.dask_cluster
from simulator import Laplace, PureDP, simulate
from simulator.errors import Breach, InvalidInput
from simulator.runner import ClusterLost, WorkerLost, merge_folders, simulate_part
from simulator.runner.clusters.cluster import TASK_BYTES, TASK_SECONDS, TaskSize
from simulator.runner.clusters.dask_cluster import DaskCluster
from simulator.runner.clusters.task import TaskOutcome, play_blocks, require_program
from simulator.runner.store import RunStore
from simulator.runner.store.provenance import fingerprint_of_program
from simulator.runner.worker import Player
from tests.helpers.clusters import When, scheduler, trials_played, watched
from tests.helpers.games import ALICE, PRESS, WITH_ALICE, WITHOUT_ALICE, press_when_ahead
from tests.helpers.same_runs import assert_same

distributed = pytest.importorskip("distributed", reason="needs dpcompose[dask]")

WORKERS = 3
WIDE = PureDP(0.9)


@pytest.fixture(scope="module")
def client():
    """A client of a cluster of three worker processes."""
    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=2, processes=True, dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):  # fmt: skip
        yield connected


@pytest.fixture
def on_dask(client):
    """Every play in a test goes to the cluster, unless it says ``jobs=1``."""
    client.wait_for_workers(WORKERS, timeout=60)
    with joblib.parallel_config("dask", client=client):
        yield client


def play(adversary, **others):
    settings = {"rounds": 20, "trials": 50, "seed": 5, "block_size": 8}
    return simulate(adversary, WIDE, **(settings | others))


# --- the same bits --------------------------------------------------------------------------------


def test_a_cluster_changes_no_bit(on_dask, capsys):
    others = {"trace": True, "keep_views": 11}
    alone = play(press_when_ahead, jobs=1, **others)
    assert_same(alone, play(press_when_ahead, **others))
    assert capsys.readouterr().err == ""


@pytest.mark.nightly
def test_a_rule_is_played_where_the_options_of_the_backend_say(client):
    one = next(iter(client.scheduler_info()["workers"]))  # a compilation is enough
    with joblib.parallel_config("dask", client=client, workers=[one]):
        assert_same(play(PRESS, jobs=1), play(PRESS))


def test_blocks_are_played_by_the_workers_and_with_one_job_here(on_dask, tmp_path):
    def where(coins):
        (tmp_path / str(os.getpid())).touch()
        while True:
            yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)

    play(where, jobs=1)
    assert [int(path.name) for path in tmp_path.iterdir()] == [os.getpid()]
    (tmp_path / str(os.getpid())).unlink()
    play(where)
    pids = set(on_dask.run(os.getpid).values())
    played = {int(path.name) for path in tmp_path.iterdir()}
    assert played
    assert played <= pids


def test_what_a_worker_raises_is_raised_here(on_dask):
    def outsider(coins):
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 2.0)

    with pytest.raises(Breach, match="trial"):
        play(outsider)


def test_a_worker_with_another_program_is_refused(on_dask, monkeypatch):
    other = fingerprint_of_program() | {"numpy": "1.0"}
    monkeypatch.setattr(
        simulator.runner.clusters.dask_cluster, "fingerprint_of_program", lambda: other
    )
    with pytest.raises(InvalidInput, match=r"other versions \(numpy 1\.0 and ") as refusal:
        play(press_when_ahead)
    assert "\n" not in str(refusal.value)


def test_the_sources_are_part_of_the_program():
    here = fingerprint_of_program()
    require_program(here)
    with pytest.raises(InvalidInput, match="sources 0 and "):
        require_program(here | {"sources": "0"})


# --- what dies ------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_killed_worker_costs_its_blocks_in_flight_once(on_dask, tmp_path):
    adversary = watched(tmp_path, seconds=0.005)
    whole = play(adversary, trials=400, jobs=1)
    (tmp_path / "trials").unlink()
    victim = next(iter(on_dask.run(os.getpid).values()))
    with When(tmp_path, 150, lambda: os.kill(victim, signal.SIGKILL)):
        killed = play(adversary, trials=400, out=tmp_path / "run")
    assert_same(whole, killed)
    assert victim not in on_dask.run(os.getpid).values()
    # 8 trials in each experiment; block 0 apart, of which a look at reproducibility plays more
    *begun, _ = sorted(trials_played(tmp_path).values())
    assert begun[0] == 16 < begun[-1] <= 32
    with RunStore.load(tmp_path / "run") as store:
        assert store.done() == {(b, block) for b in (0, 1) for block in range(50)}


@pytest.mark.nightly
def test_a_block_that_kills_its_worker_is_named_and_costs_no_other(on_dask, tmp_path, monkeypatch):
    adversary = watched(tmp_path, deaths=100)
    whole = play(adversary, jobs=1, keep_views=50)
    (tmp_path / "fatal").write_text(str(whole.views[17].coins[0]))
    monkeypatch.setattr(on_dask.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(WorkerLost, match="died twice while playing experiment 0, block 2;") as lost:
        play(adversary, experiments=(0,), keep_views=50, out=tmp_path / "run")
    assert "\n" not in str(lost.value)
    assert (tmp_path / "deaths").read_text() == "2"
    with RunStore.load(tmp_path / "run") as store:
        assert store.done() == {(0, block) for block in range(7) if block != 2}
    (tmp_path / "fatal").unlink()
    assert_same(whole, play(adversary, keep_views=50, out=tmp_path / "run"))


@pytest.mark.nightly
def test_a_scheduler_that_dies_leaves_a_folder_that_resumes_elsewhere(tmp_path):
    adversary = watched(tmp_path, seconds=0.01)
    whole = play(adversary, trials=200, jobs=1)
    (tmp_path / "trials").unlink()
    with (
        scheduler(tmp_path) as (address, kill),
        distributed.Client(address, set_as_default=False, timeout=60) as client,
    ):
        with (
            When(tmp_path, 100, kill),
            joblib.parallel_config("dask", client=client),
            pytest.raises(ClusterLost, match="is gone") as lost,
        ):
            play(adversary, trials=200, out=tmp_path / "run")
        client.close(timeout=1)
    assert "\n" not in str(lost.value)
    with RunStore.load(tmp_path / "run") as store:
        stored = len(store.done())
    assert 0 < stored < 50
    assert f"{stored} of 50 blocks are stored in {tmp_path / 'run'}" in str(lost.value)
    assert_same(whole, play(adversary, trials=200, jobs=1, out=tmp_path / "run"))


@pytest.mark.nightly
def test_workers_that_all_go_away_end_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(simulator.runner.clusters.cluster, "PATIENCE", 1.0)
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask", client=client),
        When(tmp_path, 20, lambda: cluster.scale(0)),
        pytest.raises(ClusterLost, match="has had no workers for 1 seconds"),
    ):
        play(watched(tmp_path, seconds=0.01), trials=400)


def test_a_cluster_without_workers_is_refused_and_nothing_is_written(tmp_path):
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask", client=client, wait_for_workers_timeout=0.5),
        pytest.raises(InvalidInput, match=r"has no workers, and none joined within 0\.5 s") as lost,
    ):
        play(PRESS, out=tmp_path / "run")
    assert "\n" not in str(lost.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("scheme", "why"),
    [
        ("", "silent for 1 seconds"),
        ("tcp://", "silent for 1 seconds"),
        ("tls://", "TLS expects"),
        ("http://", "unknown address scheme"),
        ("inproc://", "ValueError"),
    ],
)
def test_whoever_is_no_scheduler_is_refused_soon_and_in_one_line(scheme, why, monkeypatch, capfd):
    """Somebody listens there and says nothing, as a scheduler does that is stopped."""
    monkeypatch.setattr(simulator.runner.clusters.dask_cluster, "CONNECT_SECONDS", 1.0)
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"{scheme}127.0.0.1:{listener.getsockname()[1]}"
        with (
            pytest.raises(InvalidInput, match=f"no Dask scheduler answers at .*{why}") as refusal,
            simulator.runner.clusters.dask_cluster.dask_cluster(address),
        ):
            pass
    gc.collect()
    assert time.monotonic() - began < 15.0
    assert "\n" not in str(refusal.value)
    assert capfd.readouterr().err == ""


@pytest.mark.nightly
def test_ctrl_c_leaves_the_cluster_to_others_and_a_folder_that_resumes(on_dask, tmp_path):
    adversary = watched(tmp_path, seconds=0.005)
    whole = play(adversary, trials=400, jobs=1)
    (tmp_path / "trials").unlink()
    pressed = []

    def press():
        pressed.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), When(tmp_path, 100, press):
        play(adversary, trials=400, out=tmp_path / "run")
    # a tenth of a second on an idle machine; tests share theirs
    assert time.monotonic() - pressed[0] < 5
    with RunStore.load(tmp_path / "run") as store:
        assert 0 < len(store.done()) < 100
    assert_same(whole, play(adversary, trials=400, out=tmp_path / "run"))


@pytest.mark.nightly
def test_begun_here_continued_there_after_a_kill_and_merged_is_the_whole(on_dask, tmp_path):
    adversary = watched(tmp_path, seconds=0.003)
    settings = {"trials": 400, "trace": True, "keep_views": 11}
    whole = play(adversary, jobs=1, **settings)
    (tmp_path / "trials").unlink()

    def press():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), When(tmp_path, 100, press):
        play(adversary, jobs=1, out=tmp_path / "here", **settings)
    part = {"rounds": 20, "seed": 5, "block_size": 8, "jobs": 1} | settings
    simulate_part(adversary, WIDE, part="2/2", out=tmp_path / "elsewhere", **part)
    (tmp_path / "trials").unlink()
    victim = next(iter(on_dask.run(os.getpid).values()))
    part |= {"jobs": None}
    with When(tmp_path, 100, lambda: os.kill(victim, signal.SIGKILL)):
        simulate_part(adversary, WIDE, part="1/2", out=tmp_path / "here", **part)
    merged = merge_folders([tmp_path / "here", tmp_path / "elsewhere"], tmp_path / "whole")
    assert merged.complete
    result = play(adversary, jobs=1, out=tmp_path / "whole", **settings)
    assert result.rounds_played == 0
    assert_same(whole, result)


# --- tasks ----------------------------------------------------------------------------------------


def outcomes_of(count, seconds):
    specification = play(press_when_ahead, trials=8, jobs=1).specification
    played = play_blocks(Player(specification), ((0, 0),), fingerprint_of_program())
    return TaskOutcome(played.outcomes * count, seconds)


def test_a_scheduler_that_is_lost_is_named_with_the_reason():
    connected = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://x:1"), status="closed")
    cluster = DaskCluster(SimpleNamespace(client=connected))
    with pytest.raises(ClusterLost, match=r"at tcp://x:1 is gone \(its client is closed\)$"):
        cluster.slots()
    with pytest.raises(ClusterLost, match=r"at tcp://x:1 is gone \(its tasks were cancelled\)$"):
        cluster.outcome_of(distributed.CancelledError())


def test_a_task_grows_until_it_lasts_long_enough():
    size, sizes = TaskSize(), []
    for _ in range(6):
        sizes.append(size.next(10**6, 4))
        size.measure(outcomes_of(sizes[-1], 0.01 * sizes[-1]))
    assert sizes == [1, 4, 16, 64, int(TASK_SECONDS / 0.01), int(TASK_SECONDS / 0.01)]


@pytest.mark.nightly
def test_a_task_sends_back_no_megabytes(monkeypatch):
    monkeypatch.setattr(
        simulator.runner.clusters.cluster, "size_of", lambda outcome: TASK_BYTES // 3
    )
    size = TaskSize()
    for _ in range(4):
        size.measure(outcomes_of(1, 1e-6))
    assert size.next(10**6, 4) == 3


@pytest.mark.nightly
def test_the_last_blocks_are_shared_out():
    size = TaskSize()
    size.blocks = 100
    assert size.next(80, 4) == 10
    assert size.next(3, 4) == 1


@pytest.mark.nightly
def test_an_error_comes_back_with_the_blocks_before_it(tmp_path):
    def late(coins):
        if trials_played(tmp_path)["0"] >= 9:
            raise ValueError("enough")
        with (tmp_path / "trials").open("a") as trials:
            trials.write("0\n")
        while True:
            yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)

    specification = play(press_when_ahead, jobs=1).specification
    broken = replace(specification, adversary=late)
    played = play_blocks(Player(broken), ((0, 1), (0, 2)), fingerprint_of_program())
    assert [outcome.block for outcome in played.outcomes] == [1]
    assert isinstance(played.error, Breach)


class Doomed:
    """A cluster that gives up the first four tasks, and whatever holds block 0."""

    def __init__(self):
        self.waiting, self.sent = [], 0

    def slots(self):
        return 2

    def submit(self, play, keys):
        self.sent += 1
        self.waiting.append((self.sent, play, keys))
        return self.sent

    def finished(self):
        task, play, keys = self.waiting.pop(0)
        if task <= 4 or (0, 0) in keys:
            return [(task, simulator.runner.clusters.cluster.GivenUp())]
        return [(task, play_blocks(play, keys, fingerprint_of_program()))]

    def forget(self, tasks):
        """Nothing is under way."""


@pytest.mark.nightly
def test_all_suspects_are_played_before_the_fatal_block_is_named():
    specification = play(press_when_ahead, trials=32, jobs=1).specification
    keys, finished = [(0, block) for block in range(4)], []
    played = simulator.runner.clusters.cluster.cluster_outcomes(
        Doomed(), Player(specification), keys
    )
    with pytest.raises(WorkerLost, match="experiment 0, block 0;"):
        finished.extend(outcome.block for outcome in played)
    assert sorted(finished) == [1, 2, 3]
