"""A study on a cluster of Dask or of Ray has the numbers of one on this machine."""

import contextlib

import joblib
import pytest

from simulator.studies import Study, Task, collect
from tests.studies.games import adaptive, raising, steady


@contextlib.contextmanager
def on_dask():
    distributed = pytest.importorskip("distributed", reason="needs dpcompose[dask]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask", client=client),
    ):  # fmt: skip
        yield


@contextlib.contextmanager
def on_ray():
    ray = pytest.importorskip("ray", reason="needs dpcompose[ray]")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config("ray"):
            yield
    finally:
        ray.shutdown()


def tasks():
    wanted = ["tail(epsilon=0.5)", "epsilon(delta=0.1)", "bound delta(epsilon=0.5)"]
    players = adaptive, steady, "press-when-ahead", "fixed-worst-case", raising
    return [Task(player, "pure:0.2", rounds, wanted) for player in players for rounds in (5, 8)]


def rows(points):
    return sorted(tuple((point.row() | {"seconds": ""}).values()) for point in points)


@pytest.mark.nightly
@pytest.mark.parametrize("cluster", [on_dask, on_ray])
def test_a_cluster_changes_no_number(cluster, tmp_path):
    settings = {"trials": 4000, "width": 0.2}
    alone = rows(Study.of(collect(tasks(), jobs=1, **settings)))
    with cluster():
        found = rows(Study.of(collect(tasks(), tmp_path / "study.csv", **settings)))
    assert found == alone
    assert rows(Study.load(tmp_path / "study.csv")) == alone
