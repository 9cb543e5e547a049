"""numpy's random generators, recorded: noise as draws of the tape, everything else as coins."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
from numpy.random import PCG64, RandomState, default_rng  # before they are replaced below

from simulator.auditing.pipelines.mechanisms import METRICS, call
from simulator.auditing.pipelines.releases import weighted_law
from simulator.auditing.pipelines.tape import Declared, Extreme, NoiseTerm, current, drawing
from simulator.auditing.pipelines.traced import Trace, plain, traced

_FAR = 1e9
"""How many scales away noise is that comes out at an end of its range."""
DRAWS = 2**32
"""More than the elements of one draw; draws are numbered by event and element."""


def draw(name: str, kind: str, loc: Any, scale: Any, size: Any) -> Any:
    """Noise of a kind around ``loc``: an event, and a traced value. Needs a current tape.

    ``scale`` is the p of a geometric distribution, on 1, 2, ..., and else what numpy calls scale.
    """
    tape = current()
    assert tape is not None
    loc, scale = plain(loc), plain(scale)
    shape = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    if size is not None:
        shape = tuple(np.atleast_1d(size).tolist())
    event = tape.next_event(
        "draw", name, parameters={"scale": scale, "shape": shape},
        inputs=np.array(np.broadcast_to(loc, shape)) if shape else loc,
    )  # fmt: skip
    ids = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape) + event.number * DRAWS
    event.noise = (NoiseTerm(kind, np.broadcast_to(np.asarray(scale), shape), ids),)

    def compute() -> Any:
        far = tape.end_of(event.number)
        if far:  # each draw as far as another factor says, so that two do not cancel
            factor = default_rng([event.number, 11]).uniform(1.0, 10.0, shape or None)
            away = far * factor * _FAR * (1.0 if kind == "geometric" else scale)
            if kind in ("exponential", "geometric"):
                away = np.maximum(away, 1.0 if kind == "geometric" else 0.0)
            found = loc + (np.rint(away).astype(np.int64) if kind == "geometric" else away)
            return found if shape else np.asarray(found)[()]
        rng = tape.generator(event.number)
        given = shape or None
        if kind == "geometric":
            return loc + rng.geometric(scale, given)
        if kind == "exponential":
            return loc + rng.exponential(scale, given)
        return getattr(rng, kind)(loc, scale, given)

    before = tape.recorded_event(event.number)
    event.fresh = bool(np.all(loc == 0)) if before is None else before.fresh
    answer = tape.settle(event, compute)
    return traced(answer, Trace(tape, event.number, event.inputs, event.noise, event.fresh))


def _laplace(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return draw("laplace", "laplace", loc, scale, size)


def _normal(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return draw("normal", "normal", loc, scale, size)


def _standard_normal(self: Any, size: Any = None, *args: Any, **kwargs: Any) -> Any:
    return draw("standard_normal", "normal", 0.0, 1.0, size)


def _randn(self: Any, *shape: int) -> Any:
    return draw("randn", "normal", 0.0, 1.0, shape or None)


def _geometric(self: Any, p: Any, size: Any = None) -> Any:
    return draw("geometric", "geometric", 0, p, size)


def _exponential(self: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return draw("exponential", "exponential", 0.0, scale, size)


def _standard_exponential(self: Any, size: Any = None, *args: Any, **kwargs: Any) -> Any:
    return draw("standard_exponential", "exponential", 0.0, 1.0, size)


def _gumbel(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return draw("gumbel", "gumbel", loc, scale, size)


def _logistic(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return draw("logistic", "logistic", loc, scale, size)


NOISE: dict[str, Callable[..., Any]] = {
    "laplace": _laplace, "normal": _normal, "standard_normal": _standard_normal,
    "geometric": _geometric, "exponential": _exponential,
    "standard_exponential": _standard_exponential, "gumbel": _gumbel, "logistic": _logistic,
}  # fmt: skip
"""The methods of a generator that draw noise."""

_NO_COINS = {"bit_generator", "spawn", "seed", "get_state", "set_state"}
_END = {"low": 0.0, "high": float(np.nextafter(1.0, 0.0))}


def coin(legacy: bool, name: str, args: Any, kwargs: Any) -> Any:
    """The result of another method: a coin, from a generator of its own."""
    tape = current()
    assert tape is not None
    if name == "choice":
        given = dict(zip(("a", "size", "replace", "p"), args)) | kwargs
        if given.get("p") is not None and given.get("size") in (None, 1, (1,)):
            return _weighted(given)
    seed, extreme = tape.coin(name)
    maker: Any = RandomState if legacy else default_rng
    args = tuple(map(plain, args))
    source = maker(seed % 2**32)
    found = getattr(source, name)(*args, **{k: plain(v) for k, v in kwargs.items()})
    return found if not extreme else _at_end(found, name, args, kwargs, extreme)


def _weighted(given: dict[str, Any]) -> Any:
    """One element chosen by given probabilities: a mechanism, whose input they are."""
    weights = np.asarray(plain(given["p"]), dtype=float)
    items = plain(given["a"])
    items = np.arange(items) if np.ndim(items) == 0 else items
    declared = Declared(None, "", METRICS["linf"], None, weighted_law)
    tape = current()
    assert tape is not None
    number = len(tape.events)

    def drawn() -> int:
        return int(tape.generator(number).choice(len(weights), p=weights))

    place = call("choice by p", weights, {"choices": len(weights)}, declared, drawn)
    chosen = items[place]
    return chosen if given.get("size") is None else np.array([chosen])


def _at_end(found: Any, name: str, args: Any, kwargs: Any, extreme: Extreme) -> Any:
    """A coin's result with every outcome at one end of its range, where that has two ends."""
    end = _END[extreme]
    if name in ("random", "random_sample", "rand", "ranf", "sample"):
        return found * 0.0 + end
    if name == "uniform":
        low = args[0] if args else kwargs.get("low", 0.0)
        high = args[1] if len(args) > 1 else kwargs.get("high", 1.0)
        return found * 0.0 + (low + (np.asarray(high) - low) * end)
    if name == "binomial":
        n = args[0] if args else kwargs["n"]
        return found * 0 + (0 if extreme == "low" else n)
    if name in ("integers", "randint"):
        low = args[0] if args else kwargs["low"]
        high = args[1] if len(args) > 1 else kwargs.get("high")
        low, high = (0, low) if high is None else (low, high)
        return found * 0 + (low if extreme == "low" else high - 1)
    if name == "choice" and np.ndim(found) == 0:
        items = np.arange(args[0]) if np.ndim(args[0]) == 0 else np.asarray(args[0])
        return items[0 if extreme == "low" else -1]
    return found


def _recorded(cls: type, base: type, legacy: bool) -> None:
    """Give a subclass of a generator the recorded methods."""

    def noisy(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        original = getattr(base, name)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            tape = drawing()
            if tape is None:
                return original(self, *args, **kwargs)
            found = method(self, *args, **kwargs)
            tape.events[-1].fixed = bool(
                getattr(self, "fixed", False) or (legacy and tape.globally_seeded)
            )
            return found

        return call

    def tossed(name: str) -> Callable[..., Any]:
        original = getattr(base, name)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if drawing() is None:
                return original(self, *args, **kwargs)
            return coin(legacy, name, args, kwargs)

        return call

    for name in dir(base):
        if name.startswith("_") or name in _NO_COINS:
            continue
        if name in NOISE:
            setattr(cls, name, noisy(name, NOISE[name]))
        elif name == "randn":
            setattr(cls, name, noisy(name, _randn))
        else:
            setattr(cls, name, tossed(name))


class _Like(type):
    """The type of a class that stands for its base: an instance of the base is one of it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


class RecordedGenerator(np.random.Generator, metaclass=_Like):
    """A generator of numpy whose draws are events of the current tape."""

    fixed = False

    def spawn(self, n_children: int) -> Any:
        """Generators that are recorded as well."""
        return [RecordedGenerator(PCG64(0)) for _ in range(n_children)]


class RecordedState(np.random.RandomState, metaclass=_Like):
    """A RandomState of numpy whose draws are events of the current tape."""


_recorded(RecordedGenerator, np.random.Generator, legacy=False)
_recorded(RecordedState, np.random.RandomState, legacy=True)


def recorded_generator() -> RecordedGenerator:
    """A generator to hand to a pipeline; outside a recording it draws as any other."""
    return RecordedGenerator(PCG64(0))


def _seed(seed: Any = None) -> None:
    """What ``numpy.random.seed`` is within a recording, where a seed changes no draw."""
    tape = drawing()
    if tape is not None:
        tape.note_seed(plain(seed))
        tape.globally_seeded = _is_whole(seed)


def _default_rng(seed: Any = None) -> np.random.Generator:
    """What ``numpy.random.default_rng`` is within a recording."""
    if isinstance(seed, np.random.Generator):
        return seed
    tape, made = drawing(), recorded_generator()
    if tape is not None:
        tape.note_seed(plain(seed))
        made.fixed = _is_whole(seed)
    return made


def _is_whole(seed: Any) -> bool:
    return isinstance(plain(seed), int | np.integer) and not isinstance(seed, bool)


@contextmanager
def numpy_recorded() -> Iterator[None]:
    """Within, ``numpy.random`` and the module ``random`` of Python are recorded.

    That is what code looks up when it runs: ``np.random.laplace``, ``np.random.default_rng()``,
    ``scipy.stats.laplace.rvs``, ``random.gauss``. Generators made before are not: hand the
    pipeline one of :func:`recorded_generator`, or let ``record`` hand it one.
    """
    from scipy import stats  # before numpy is patched

    legacy = RecordedState(0)
    with ExitStack() as stack:
        for name in dir(np.random.RandomState):
            if not name.startswith("_") and name not in _NO_COINS and hasattr(np.random, name):
                stack.enter_context(mock.patch.object(np.random, name, getattr(legacy, name)))
        replaced = {
            "default_rng": _default_rng,
            "Generator": RecordedGenerator,
            "RandomState": RecordedState,
            "seed": _seed,
        }
        for name, maker in replaced.items():
            stack.enter_context(mock.patch.object(np.random, name, maker))
        _patch_scipy(stack, stats)
        _patch_python(stack)
        yield


def _patch_scipy(stack: ExitStack, stats: Any) -> None:
    kinds = {"laplace": "laplace", "norm": "normal", "logistic": "logistic", "gumbel_r": "gumbel"}
    for name, kind in kinds.items():
        stack.enter_context(
            mock.patch.object(getattr(stats, name), "rvs", _rvs(getattr(stats, name).rvs, kind))
        )


def _rvs(original: Callable[..., Any], kind: str) -> Callable[..., Any]:
    def rvs(loc: Any = 0, scale: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        if drawing() is None:
            return original(loc=loc, scale=scale, size=size, random_state=random_state)
        given = None if np.ndim(size) == 0 and size == 1 else size
        return draw(f"{kind}.rvs", kind, loc, scale, given)

    return rvs


def _patch_python(stack: ExitStack) -> None:
    for name in ("gauss", "normalvariate"):
        original = getattr(random, name)
        stack.enter_context(mock.patch.object(random, name, _gauss(name, original)))
    for name in ("random", "uniform", "randint", "randrange", "choice", "choices", "sample",
                 "shuffle", "getrandbits", "expovariate", "betavariate", "triangular"):  # fmt: skip
        original = getattr(random, name)
        stack.enter_context(mock.patch.object(random, name, _python_coin(name, original)))


def _gauss(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def gauss(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return original(mu, sigma) if drawing() is None else draw(name, "normal", mu, sigma, None)

    return gauss


def _python_coin(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        tape = drawing()
        if tape is None:
            return original(*args, **kwargs)
        seed, extreme = tape.coin(name)
        if extreme and name == "random":
            return _END[extreme]
        return getattr(random.Random(seed), name)(*args, **kwargs)

    return call
