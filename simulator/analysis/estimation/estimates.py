"""Estimates at several points: a sequence of them, with their values and ends as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.estimation.estimate import Estimate
from simulator.foundations.curves import Floats, Series, several
from simulator.foundations.errors import Refusal


class Estimates(Series[Estimate]):
    """One estimate for each of several points, in their order; compared and indexed as a sequence.

    The intervals are not simultaneous; a band, such as ``result.delta_band``, is. A refused point
    has no value but trivial ends, and its ``no_value`` is the reason; if all points are refused an
    error is raised.

    Attributes
    ----------
    at : the name of the points, such as "epsilon".
    points : float64, shape (points,), where the estimates are.
    of : the name of what is estimated, such as "delta of epsilon".

    >>> import numpy as np
    >>> from simulator.analysis.estimation import Estimates, tail
    >>> losses = np.linspace(-1.0, 2.0, 200)
    >>> estimates = Estimates("threshold", [0.0, 1.0], [tail(losses, t) for t in (0.0, 1.0)])
    >>> estimates.value.round(3).tolist()
    [0.665, 0.335]
    """

    _noun = "estimate"

    @property
    def value(self) -> Floats:
        """The values, float64 of shape (points,); NaN where an estimate has none."""
        return np.array([e.value for e in self], dtype=np.float64)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The points, the values, the ends of the intervals, their confidence and method."""
        ends = super().columns()
        for name, kind in (("confidence", np.float64), ("method", np.str_)):
            ends[name] = np.array([getattr(e, name) for e in self], dtype=kind)
        return ends


def at_points(
    name: str,
    points: ArrayLike,
    estimate: Callable[[float], Estimate],
    ends: tuple[float, float],
    *,
    confidence: float,
    of: str,
) -> Any:
    """The estimate at one point, or the Estimates at several.

    A refused point among several has ``ends`` and the reason. Raises InvalidInput unless the points
    are numbers of shape (points,), and Refusal if all of them are refused.
    """
    array = several(name, points)
    if array is None:
        return estimate(points)  # type: ignore[arg-type]
    found: list[Estimate] = []
    refusals: list[Refusal] = []
    for point in array:
        try:
            found.append(estimate(float(point)))
        except Refusal as refusal:
            refusals.append(refusal)
            found.append(Estimate.refused(str(refusal), ends, float(confidence)))
    if refusals and len(refusals) == len(found):
        raise refusals[0]
    return Estimates(name, array, found, of)
