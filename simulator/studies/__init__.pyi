from .collecting import collect
from .comparing import Comparison, compare
from .picture import Growth, growth, picture
from .points import Point
from .quantities import Quantity
from .report import report
from .stopping import StoppingRule
from .study import Study
from .tasks import Task, grid
from .watching import Snapshot

__all__ = [
    "Comparison",
    "Growth",
    "Point",
    "Quantity",
    "Snapshot",
    "StoppingRule",
    "Study",
    "Task",
    "collect",
    "compare",
    "grid",
    "growth",
    "picture",
    "report",
]
