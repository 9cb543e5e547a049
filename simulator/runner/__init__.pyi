from .lost import ClusterLost, WorkerLost
from .merging import Merged, merge_folders
from .partial_runs import StoredPart, simulate_part

__all__ = [
    "ClusterLost",
    "Merged",
    "StoredPart",
    "WorkerLost",
    "merge_folders",
    "simulate_part",
]
