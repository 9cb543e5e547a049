"""Errors of workers and clusters that were lost."""

from simulator.foundations.errors import DpcomposeError
from simulator.runner.gathering import Key


class WorkerLost(DpcomposeError):
    """A block whose worker died twice."""

    exit_code = 4


class ClusterLost(DpcomposeError):
    """A cluster whose scheduler, or whose every worker, is lost."""

    exit_code = 4


def died_twice(key: Key) -> WorkerLost:
    """The error for a block whose workers died twice."""
    return WorkerLost(
        f"a worker died twice while playing experiment {key[0]}, block {key[1]}; "
        "it may be out of memory: try fewer jobs, or a smaller block_size"
    )
