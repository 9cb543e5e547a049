from .lost import (
    ClusterLost as ClusterLost,
    WorkerLost as WorkerLost,
)
from .merged import Merged as Merged
from .merging import merge_folders as merge_folders
from .partial_runs import (
    StoredPart as StoredPart,
    simulate_part as simulate_part,
)

__all__ = [
    "ClusterLost",
    "Merged",
    "StoredPart",
    "WorkerLost",
    "merge_folders",
    "simulate_part",
]
