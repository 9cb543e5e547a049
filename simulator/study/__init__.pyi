from .collecting import collect
from .comparing import Comparison, compare
from .picture import Growth, growth, picture
from .points import Point
from .quantities import Quantity
from .stopping import StoppingRule
from .study import Study
from .tasks import Task, grid

__all__ = [
    "Comparison",
    "Growth",
    "Point",
    "Quantity",
    "StoppingRule",
    "Study",
    "Task",
    "collect",
    "compare",
    "grid",
    "growth",
    "picture",
]
