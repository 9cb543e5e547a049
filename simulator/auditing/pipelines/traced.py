"""Numbers and arrays that know which noise is on them.

A draw of noise is such a value, and so is its sum with data: an operation on it is an event of the
tape, with the private input that the noise now covers. Comparisons and argmax are events as well.
Any other function receives, and returns, plain values: it computes from an answer.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simulator.auditing.pipelines.tape import NoiseTerm, RunTape, TapeEvent, current, gathered

LATTICE = ("geometric",)
"""Noise of whole numbers, of which a multiple is noise of another kind."""

_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
_INT_ALONE = (
    "floordiv rfloordiv mod rmod pow rpow divmod rdivmod and rand or ror xor rxor lshift rlshift "
    "rshift rrshift abs invert pos bool round trunc floor ceil int float format repr str"
)
"""Operators of whole numbers that are events of no kind: they compute from an answer."""

_SHIFTS = (np.add, np.subtract)
_SCALES = (np.multiply, np.true_divide)


@dataclass(frozen=True)
class Trace:
    """What stands behind a value: its event, the private input and the noise of each element.

    ``fresh`` noise has met no data. ``additions`` is that of the event when the value was made.
    """

    tape: RunTape
    number: int
    inputs: Any
    noise: tuple[NoiseTerm, ...]
    fresh: bool = False
    additions: int = field(default=0, kw_only=True)

    def mapped(self, take: Callable[[np.ndarray], Any]) -> Trace:
        """The trace of a part or a rearrangement of the value."""
        noise = tuple(
            replace(each, scale=np.asarray(take(each.scale)), draws=np.asarray(take(each.draws)))
            for each in self.noise
        )
        return replace(self, inputs=take(np.asarray(self.inputs)), noise=noise)


class TracedNumber:
    """What traced floats and whole numbers have in common."""

    origin: Trace

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)

    def __deepcopy__(self, memo: Any) -> Any:
        return plain(self)

    def __copy__(self) -> Any:
        return plain(self)

    def __reduce__(self) -> Any:
        return plain(self).__reduce__()

    def __neg__(self) -> Any:
        return combined(np.multiply, self, -1)


class TracedFloat(TracedNumber, float):
    """A float with noise on it."""

    __hash__ = float.__hash__


class TracedInt(TracedNumber):
    """A whole number with noise on it; no int, because floats would add it unseen."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)


numbers.Integral.register(TracedInt)


class TracedArray(np.ndarray):
    """An array with noise on it."""

    origin: Trace | None

    def __array_finalize__(self, made_from: Any) -> None:
        self.origin = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.argmax, np.argmin) and args and isinstance(args[0], TracedArray):
            return _choice(args[0], func, args[1:], kwargs)
        return _plain_array(super().__array_function__(func, types, args, kwargs))

    def __getitem__(self, index: Any) -> Any:
        return _mapped(self, operator.itemgetter(index))

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        """The place of the largest element: an event of its own."""
        return _choice(self, np.argmax, args, kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        """The place of the least element: an event of its own."""
        return _choice(self, np.argmin, args, kwargs)

    def reshape(self, *args: Any, **kwargs: Any) -> Any:
        """The same elements in another shape."""
        return _mapped(self, lambda array: array.reshape(*args, **kwargs))

    def ravel(self, *args: Any, **kwargs: Any) -> Any:
        """The same elements in one dimension."""
        return _mapped(self, lambda array: array.ravel())

    flatten = ravel

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        """The same elements."""
        return _mapped(self, lambda array: array.copy())

    def __deepcopy__(self, memo: Any) -> Any:
        return np.array(plain(self))

    def __reduce__(self) -> Any:
        return np.array(plain(self)).__reduce__()


def plain(value: Any) -> Any:
    """The value without its trace."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if isinstance(value, TracedFloat):
        return float.__float__(value)
    return value.value if isinstance(value, TracedInt) else value


def traced(value: Any, trace: Trace) -> Any:
    """The value with its trace; a number of no dimension becomes a Python number."""
    array = np.asarray(value)
    found: Any
    if array.ndim:
        found = array.view(TracedArray)
    elif np.issubdtype(array.dtype, np.integer):
        found = TracedInt(int(array))
    else:
        found = TracedFloat(float(array))
    found.origin = trace
    return found


def combined(ufunc: Any, one: Any, other: Any) -> Any:
    """``ufunc(one, other)`` of which one or both are traced, as an event where it is one."""
    tape = current()
    traces = [_trace(each, tape) for each in (one, other)]
    a, b = plain(one), plain(other)
    if tape is not None:
        tape.used()
    if tape is not None and tape.merged and ufunc in _SHIFTS and _numeric(a) and _numeric(b):
        found = _merged(tape, ufunc, (a, b), traces)
        if found is not None:
            return found
    answers = [t for t in traces if t is not None and not t.fresh]
    if tape is not None and len(answers) == 1 and None in traces and not tape.is_event():
        return ufunc(a, b)  # computes from an answer, and perhaps from data
    if tape is not None and any(traces) and _numeric(a) and _numeric(b):
        if ufunc in _SHIFTS:
            return _sum(tape, ufunc, (a, b), traces)
        if ufunc in _COMPARISONS:
            return _comparison(tape, ufunc, (a, b), traces)
        if ufunc in _SCALES and traces[0] is not None and traces[1] is None:
            return _scaled(tape, ufunc, (a, b), traces[0])
        if ufunc is np.multiply and traces[1] is not None and traces[0] is None:
            return _scaled(tape, ufunc, (b, a), traces[1])
    return ufunc(a, b)


def _sum(tape: RunTape, ufunc: Any, values: tuple[Any, Any], traces: list[Trace | None]) -> Any:
    """A noisy value and data added, or two noisy values."""
    inputs = [t.inputs if t else value for t, value in zip(traces, values)]
    kind = "sum" if all(traces) else "shift"
    operand: Any = next((value for t, value in zip(traces, values) if t is None), None)
    shape = np.broadcast_shapes(*map(np.shape, values))
    event = _derived(tape, kind, ufunc, traces, shape, inputs=ufunc(*inputs),
                     operand=np.array(operand) if np.ndim(operand) else operand)  # fmt: skip
    before = tape.recorded_event(event.number)
    event.added = event.operand if before is None else before.added
    if kind == "shift":  # what was added when it was recorded
        values = tuple(value if t else event.added for t, value in zip(traces, values))
    return _settled(tape, event, lambda: ufunc(*values))


def _merged(tape: RunTape, ufunc: Any, values: tuple[Any, Any], traces: list[Trace | None]) -> Any:
    """A draw with one more number added to it, as one event; None where it is no such addition."""
    place = 0 if traces[0] else 1
    trace = traces[place]
    if all(traces) or trace is None or (place and ufunc is not np.add):
        return None
    event = tape.events[trace.number]
    shape = np.broadcast_shapes(*map(np.shape, values))
    noise = event.kind == "draw" or (
        event.kind in ("scale", "sum") and bool(event.fresh or event.additions)
    )
    if not noise or trace.additions != event.additions or np.shape(event.answer) != shape:
        return None
    inputs = [trace.inputs if t else value for t, value in zip(traces, values)]
    event.inputs, event.fresh = ufunc(*inputs), False
    event.additions += 1
    frozen = tape.recorded_event(event.number) is not None and event.number not in tape.redraw
    if not frozen:  # else it is the recorded sum from the beginning
        event.answer = ufunc(*values)
    made = Trace(tape, event.number, event.inputs, event.noise, additions=event.additions)
    return traced(np.array(event.answer) if shape else event.answer, made)


def _comparison(
    tape: RunTape, ufunc: Any, values: tuple[Any, Any], traces: list[Trace | None]
) -> Any:
    inputs = [t.inputs if t else value for t, value in zip(traces, values)]
    shape = np.broadcast_shapes(*map(np.shape, values))
    event = _derived(tape, "comparison", ufunc, traces, shape, inputs=np.subtract(*inputs))
    answer = tape.settle(event, lambda: ufunc(*values))
    return answer if np.ndim(answer) else bool(answer)


def _scaled(tape: RunTape, ufunc: Any, values: tuple[Any, Any], trace: Trace) -> Any:
    value, factor = values
    shape = np.shape(value)
    if any(each.kind in LATTICE for each in trace.noise) or np.ndim(factor) > np.ndim(value):
        return ufunc(value, factor)
    if np.broadcast_shapes(shape, np.shape(factor)) != shape:
        return ufunc(value, factor)
    with np.errstate(all="ignore"):
        event = _derived(
            tape, "scale", ufunc, [trace, None], shape,
            inputs=ufunc(trace.inputs, factor), factor=factor,
        )  # fmt: skip
        noise = tuple(
            replace(
                each,
                scale=np.abs(ufunc(each.scale, factor)),
                sign=each.sign * (-1 if np.all(np.less(factor, 0)) else 1),
            )
            for each in event.noise
        )
    event.noise = noise
    return _settled(tape, event, lambda: ufunc(value, factor))


def _choice(array: TracedArray, func: Any, args: Any, kwargs: Any) -> Any:
    tape, trace = current(), array.origin
    values: np.ndarray = plain(array)
    if tape is None or trace is None or args or kwargs or values.ndim != 1:
        return func(values, *args, **kwargs)
    sign = 1 if func is np.argmax else -1
    event = tape.next_event(
        "choice", func.__name__, parameters={"shape": values.shape},
        inputs=sign * np.asarray(trace.inputs), noise=trace.noise, parents=(trace.number,),
    )  # fmt: skip
    return tape.settle(event, lambda: func(values))


def _derived(
    tape: RunTape,
    kind: str,
    ufunc: Any,
    traces: list[Trace | None],
    shape: tuple[int, ...],
    **rest: Any,
) -> TapeEvent:
    """The next event, of an operation on traced values."""
    noise: tuple[NoiseTerm, ...] = ()
    for place, trace in enumerate(traces):
        flip = place == 1 and ufunc is not np.add
        for each in trace.noise if trace else ():
            spread = replace(
                each,
                scale=np.broadcast_to(each.scale, shape),
                draws=np.broadcast_to(each.draws, shape),
                sign=-each.sign if flip else each.sign,
            )
            noise += (spread,)
    parameters: dict[str, Any] = {"shape": shape}
    if "factor" in rest:
        parameters["factor"] = rest.pop("factor")
    noise = gathered(noise) if kind == "sum" else noise
    fresh = kind in ("scale", "sum") and all(trace.fresh for trace in traces if trace)
    return tape.next_event(
        kind, ufunc.__name__, parameters=parameters, noise=noise, fresh=fresh,
        parents=tuple(trace.number for trace in traces if trace), **rest,
    )  # fmt: skip


def _settled(tape: RunTape, event: TapeEvent, compute: Callable[[], Any]) -> Any:
    before = tape.recorded_event(event.number)
    whole = before is not None and before.additions > 0  # all that is added is in it
    held = event.number in tape.held and event.kind != "scale"
    answer = tape.settle(event, compute, whole or held)
    return traced(answer, Trace(tape, event.number, event.inputs, event.noise, event.fresh))


def _mapped(array: TracedArray, take: Callable[[np.ndarray], Any]) -> Any:
    found = take(plain(array))
    if array.origin is None or current() is None:
        return found
    return traced(found, array.origin.mapped(take))


def _ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What numpy calls for a function of traced values."""
    out = options.pop("out", None)
    if method == "__call__" and len(inputs) == 2 and not options:
        found = combined(ufunc, *inputs)
    else:
        found = getattr(ufunc, method)(*map(plain, inputs), **options)
    if out is None:
        return found
    (target,) = out
    plain(target)[...] = plain(found)
    if isinstance(target, TracedArray):
        target.origin = getattr(found, "origin", None)
    return target


def _plain_array(value: Any) -> Any:
    return plain(value) if isinstance(value, TracedArray) and value.origin is None else value


def _trace(value: Any, tape: RunTape | None) -> Trace | None:
    trace = getattr(value, "origin", None)
    return trace if isinstance(trace, Trace) and trace.tape is tape else None


def _numeric(value: Any) -> bool:
    return isinstance(value, int | float | np.number | np.bool_) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    )


def _operators() -> None:
    """Give traced numbers the operators of Python."""
    binary = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide}
    compare = dict(zip(("lt", "le", "gt", "ge", "eq", "ne"), _COMPARISONS))

    def forward(ufunc: Any, swapped: bool) -> Callable[[Any, Any], Any]:
        def method(self: Any, other: Any) -> Any:
            if not _numeric(plain(other)):
                return NotImplemented
            found = combined(ufunc, other, self) if swapped else combined(ufunc, self, other)
            if isinstance(found, TracedNumber | np.ndarray):
                return found
            return found.item() if isinstance(found, np.generic) else found

        return method

    for name, ufunc in (binary | compare).items():
        setattr(TracedNumber, f"__{name}__", forward(ufunc, False))
        if name in binary:
            setattr(TracedNumber, f"__r{name}__", forward(ufunc, True))

    def as_int(name: str) -> Callable[..., Any]:
        def method(self: Any, *others: Any) -> Any:
            return getattr(plain(self), name)(*map(plain, others))

        return method

    for name in _INT_ALONE.split():
        setattr(TracedInt, f"__{name}__", as_int(f"__{name}__"))


_operators()
