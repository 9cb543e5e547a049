"""Ready patches: within them a library's mechanisms are events of the current tape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np

from simulator.auditing.pipelines.mechanisms import METRICS, call, norm
from simulator.auditing.pipelines.releases import MOST_PER_SCALE
from simulator.auditing.pipelines.tape import Declared, current
from simulator.foundations.errors import InvalidInput
from simulator.theory.events import discrete_laplace, laplace
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP

_PRIVATE = ("utility", "measure")
"""Attributes of a mechanism of diffprivlib that hold data."""


def installed(module: str, patch: str) -> Any:
    """The module; raises InvalidInput where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidInput(f"the patch {patch!r} needs {module}: {error}") from None


@contextmanager
def diffprivlib_recorded() -> Iterator[None]:
    """Within, every mechanism of diffprivlib records ``randomise``: also those of its models."""
    mechanisms = installed("diffprivlib.mechanisms", "diffprivlib")
    with ExitStack() as stack:
        for name in dir(mechanisms):
            cls = getattr(mechanisms, name)
            if isinstance(cls, type) and "randomise" in vars(cls):
                patch = _randomise(vars(cls)["randomise"])
                stack.enter_context(mock.patch.object(cls, "randomise", patch))
        yield


def _randomise(original: Callable[..., Any]) -> Callable[..., Any]:
    def randomise(self: Any, *values: Any) -> Any:
        if current() is None:
            return original(self, *values)
        public = {
            name: value for name, value in vars(self).items()
            if "rng" not in name and name not in _PRIVATE and not name.startswith("_")
        }  # fmt: skip
        inputs, scores = values[0] if values else None, getattr(self, "utility", None)
        sensitivity, distance = getattr(self, "sensitivity", None), _distance(inputs)
        if scores is not None:
            inputs, distance = np.asarray(scores, dtype=float), norm(float("inf"))
            measure = getattr(self, "measure", None)
            if measure is not None:  # of an exponential mechanism, which may depend on data too
                inputs, sensitivity = np.concatenate([inputs, np.asarray(measure, float)]), None
        declared = Declared(
            sensitivity, "l2" if scores is None else "linf", distance, _privacy(self),
            _law(self, type(self).__name__),
        )  # fmt: skip
        return call(type(self).__name__, inputs, public, declared, lambda: original(self, *values))

    return randomise


def _law(mechanism: Any, name: str) -> Callable[[Any, Any], Any] | None:
    """The law of plain Laplace and geometric noise; None where the promise is all that is known."""
    if name not in ("Laplace", "Geometric") or not 0.0 < mechanism.sensitivity < math.inf:
        return None
    if getattr(mechanism, "delta", 0.0):
        return None

    def law(one: Any, other: Any) -> Any:
        gap = abs(float(one) - float(other))
        if not gap * mechanism.epsilon < MOST_PER_SCALE * mechanism.sensitivity:
            return None
        if name == "Laplace":
            return laplace(mechanism.sensitivity / mechanism.epsilon, gap)
        return discrete_laplace(mechanism.epsilon / mechanism.sensitivity, round(gap))

    return law


def _distance(inputs: Any) -> Callable[[Any, Any], float]:
    if isinstance(inputs, int | float) or hasattr(inputs, "__array__"):
        return METRICS["l2"]
    return METRICS["unequal"]


def _privacy(mechanism: Any) -> Guarantee | None:
    """The epsilon and delta of a mechanism of diffprivlib; None where they are no guarantee."""
    epsilon = float(getattr(mechanism, "epsilon", float("inf")))
    delta = float(getattr(mechanism, "delta", 0.0))
    if not 0.0 < epsilon < 1e3 or not 0.0 <= delta < 1.0:
        return None
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


@contextmanager
def opendp_recorded(d_in: float = 1) -> Iterator[None]:
    """Within, calls of OpenDP's measurements are recorded, with what they map ``d_in`` to.

    Parameters
    ----------
    d_in : the distance of neighbouring inputs of a measurement, in its input metric.
    """
    module = installed("opendp.mod", "opendp")
    measurement = module.Measurement
    original = measurement.__call__

    def called(self: Any, arg: Any) -> Any:
        if current() is None:
            return original(self, arg)
        public = {
            "measurement": f"{self.input_domain}, {self.input_metric}, {self.output_measure}",
            "privacy": _mapped(self, d_in),
        }
        declared = Declared(None, "", METRICS["unequal"], _opendp_guarantee(self, d_in))
        return call("Measurement", arg, public, declared, lambda: original(self, arg))

    with mock.patch.object(measurement, "__call__", called):
        yield


def _mapped(measurement: Any, d_in: float) -> str:
    try:
        return repr(measurement.map(d_in))
    except Exception as error:  # OpenDP raises errors of its own, and TypeError
        return type(error).__name__


def _opendp_guarantee(measurement: Any, d_in: float) -> Guarantee | None:
    from simulator.theory.guarantees.renyi import ZCDP

    try:
        cost = measurement.map(d_in)
        kind = str(measurement.output_measure)
        if isinstance(cost, tuple):
            return ApproxDP(*map(float, cost))
        if kind.startswith("MaxDivergence"):
            return PureDP(float(cost))
        return ZCDP(float(cost)) if kind.startswith("ZeroConcentrated") else None
    except Exception:  # not a promise that is known here
        return None


PATCHES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "diffprivlib": diffprivlib_recorded, "opendp": opendp_recorded,
}  # fmt: skip
"""The patches by the name of their library."""
