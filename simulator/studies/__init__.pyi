from .collecting import collect as collect
from .comparing import (
    Comparison as Comparison,
    compare as compare,
)
from .picture import (
    Growth as Growth,
    growth as growth,
    picture as picture,
)
from .points import Point as Point
from .quantities import Quantity as Quantity
from .report import report as report
from .stopping import StoppingRule as StoppingRule
from .study import Study as Study
from .tasks import (
    Task as Task,
    grid as grid,
)
from .watching import Snapshot as Snapshot

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
