"""Mechanisms that a pipeline calls: declared by a decorator, or by a patch of a library."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from simulator.auditing.pipelines.tape import Declared, current
from simulator.auditing.pipelines.traced import plain
from simulator.foundations.errors import InvalidInput
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

Function = TypeVar("Function", bound=Callable[..., Any])
Distance = Callable[[Any, Any], float]


def norm(order: float) -> Distance:
    """The distance of two arrays of numbers by a norm; infinite for shapes or NaNs that differ."""

    def distance(one: Any, other: Any) -> float:
        a, b = (np.atleast_1d(np.asarray(each, dtype=float)) for each in (one, other))
        if a.shape != b.shape:
            return float("inf")
        gaps = np.abs(a - b)
        gaps[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
        gaps = gaps.ravel()
        if np.isnan(gaps).any():
            return float("inf")
        return float(np.linalg.norm(gaps, order)) if gaps.size else 0.0

    return distance


def unequal(one: Any, other: Any) -> float:
    """0 for equal values and 1 for others."""
    return 0.0 if np.array_equal(np.asarray(one), np.asarray(other)) else 1.0


METRICS: dict[str, Distance] = {
    "l1": norm(1), "l2": norm(2), "linf": norm(np.inf), "unequal": unequal,
}  # fmt: skip
"""The distances that have a name."""


def mechanism(
    data: str | None = None,
    *,
    guarantee: Guarantee | str | Callable[..., Guarantee | str] | None = None,
    sensitivity: float | str | None = None,
    metric: str | Distance = "l1",
    name: str = "",
) -> Callable[[Function], Function]:
    """Declare a function to be a mechanism: ``record`` keeps its input and its answer.

    Outside a recording the function is unchanged; what it calls within is part of it.

    Parameters
    ----------
    data : the argument that holds the private input, by default the first. All other arguments are
        public: a pipeline must not compute them from data.
    guarantee : what one call promises: a guarantee, its text, in which ``{epsilon}`` is the
        argument of that name, or a function of the call's arguments by name.
    sensitivity : the largest distance of two inputs: a number, or the name of an argument.
    metric : ``l1``, ``l2``, ``linf``, ``unequal``, or a function of two inputs.
    name : for reports, by default the function's.

    Raises InvalidInput for an unknown argument or metric.

    >>> from simulator.auditing import mechanism, record
    >>> @mechanism("total", guarantee="pure:0.1", sensitivity=1)
    ... def noisy(total, rng):
    ...     return total + rng.laplace(scale=10.0)
    >>> def pipeline(values, rng):
    ...     return noisy(10 * len(values), rng)      # moves by 10, not by 1
    >>> record(pipeline, [1, 1, 0], [1, 1]).verdict
    'violated'
    """
    distance = METRICS.get(metric) if isinstance(metric, str) else metric
    if distance is None:
        raise InvalidInput(
            f"metric must be one of {', '.join(METRICS)} or a function, not {metric!r}"
        )

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        private = data or next(iter(signature.parameters), "")
        for each in (private, sensitivity):
            if isinstance(each, str) and each not in signature.parameters:
                raise InvalidInput(f"{function.__name__} has no argument {each!r}")

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if current() is None:
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = {key: plain(value) for key, value in bound.arguments.items()}
            limit = given[sensitivity] if isinstance(sensitivity, str) else sensitivity
            declared = Declared(
                None if limit is None else float(limit),
                metric if isinstance(metric, str) else getattr(metric, "__name__", "distance"),
                distance,
                promised(guarantee, given),
            )
            public = {key: value for key, value in given.items() if key != private}
            return call(
                name or function.__name__, given[private], public, declared,
                lambda: function(*args, **kwargs),
            )  # fmt: skip

        return called  # type: ignore[return-value]

    return decorate


def call(
    name: str,
    inputs: Any,
    public: Mapping[str, Any],
    declared: Declared,
    compute: Callable[[], Any],
) -> Any:
    """The answer of a mechanism, as an event of the current tape, which must be there."""
    tape = current()
    assert tape is not None
    event = tape.next_event(
        "mechanism", name, inputs=_kept(inputs),
        parameters={key: _kept(value) for key, value in public.items()}, declared=declared,
    )  # fmt: skip
    with tape.inside():
        return tape.settle(event, compute)


def promised(
    guarantee: Guarantee | str | Callable[..., Guarantee | str] | None, given: Mapping[str, Any]
) -> Guarantee | None:
    """The guarantee of one call; raises InvalidInput for a text that is none."""
    if callable(guarantee) and not isinstance(guarantee, Guarantee):
        guarantee = guarantee(**given)
    if isinstance(guarantee, str):
        return parse_guarantee(guarantee.format(**given))
    return guarantee


def _kept(value: Any) -> Any:
    """A copy of an array, so that the pipeline may change its own."""
    return np.array(value) if isinstance(value, np.ndarray) else value
