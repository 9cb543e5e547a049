"""What a compiled kernel is made of: two kernels of the same parts are the same machine code.

numba freezes all that a function closes over and looks up when it compiles it. So the parts of a
kernel are those of a fingerprint, and more: this package's own functions are taken apart as well,
from memory, so that an edited one is another kernel; and a compiled function is known by the
options that it was compiled with too.
"""

from __future__ import annotations

import inspect
import sys
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from simulator.identity.code import whole_function
from simulator.identity.components import Anatomy, Note
from simulator.identity.fingerprint import Walk

_OF_NO_CODE = ("NUM_THREADS", "CACHE_", "CUDA", "COLOR_SCHEME", "DUMP", "TRACE", "THREADING_LAYER")
"""Parts of names of numba's settings that make no machine code for the processor."""


class CompiledWalk(Walk):
    """A walk through what numba compiles."""

    def apart(self, value: Any, note: Note) -> Anatomy:
        """Take a value apart as numba meets it."""
        if isinstance(value, FunctionType) and _is_of_house(value.__module__):
            return whole_function(value, note)
        if isinstance(value, type | ModuleType):
            name = value.__name__ if isinstance(value, ModuleType) else value.__module__
            if _is_of_house(name):  # it is known by its name alone
                note(f"uses {value.__name__} of this package")
        elif str(type(value).__module__).startswith("numba."):
            return _of_numba(value, note)
        elif isinstance(value, np.ndarray):
            whole, flags = super().apart(value, note), value.flags
            layout = (flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable)
            return Anatomy(f"{whole.label} {layout}", whole.children)
        return super().apart(value, note)


def _is_of_house(module: str | None) -> bool:
    return str(module).partition(".")[0] == "simulator"


def _of_numba(value: Any, note: Note) -> Anatomy:
    """One of numba's own objects: a compiled function, or a type."""
    from numba.core.dispatcher import Dispatcher
    from numba.core.extending import _Intrinsic
    from numba.core.types import Type

    if isinstance(value, Type):
        return Anatomy(f"numba type {value!r}", [])
    if isinstance(value, _Intrinsic):  # found by what refers to it, and by no name
        options = {"literal": value._prefer_literal, **value._ctor_kwargs}
        return Anatomy("intrinsic", [("definition", value._defn), ("options", options)])
    if not isinstance(value, Dispatcher):
        note(f"holds a {type(value).__module__}.{type(value).__qualname__}")
        return Anatomy("of numba", [])
    dispatcher: Any = value
    fixed = [] if dispatcher._can_compile else [str(types) for types in value.overloads]
    return Anatomy(
        "compiled",
        [("function", value.py_func), ("options", dict(value.targetoptions)),
         ("locals", str(value.locals)), ("signatures", fixed)],
    )  # fmt: skip


def parts_of(kernel: Any) -> str | None:
    """The digest of all that a kernel is compiled from; None where no digest holds all of it."""
    walk = CompiledWalk()
    words = walk.words(kernel)
    return None if walk.not_covered or numba_is_extended() else words


def surroundings(codegen: Any) -> tuple[Any, ...]:
    """What the machine code depends on besides: versions, settings of numba, the processor."""
    import llvmlite  # type: ignore[import-untyped]
    import numba
    from numba.core import config

    settings = [
        (name, repr(value))
        for name, value in sorted(vars(config).items())
        if name.isupper() and not any(part in name for part in _OF_NO_CODE)
    ]
    versions = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
    return versions, tuple(settings), codegen.magic_tuple()


def numba_is_extended() -> bool:
    """Whether anybody but numba has taught it what a function means: no name leads to that.

    An intrinsic is a meaning of its own, which is part of whoever refers to it.
    """
    from numba.core import imputils
    from numba.core.typing.templates import _IntrinsicTemplate, builtin_registry

    templates = (*builtin_registry.functions, *builtin_registry.attributes)
    typing = [
        _teacher(each)
        for each in templates
        # asked by issubclass, these abstract classes take half a second to answer
        if _IntrinsicTemplate not in getattr(each, "__mro__", ())
    ]
    lowering = [
        entry[0]
        for entry in imputils.builtin_registry.functions
        if getattr(entry[0], "__wrapped__", entry[0]) is not entry[1]
    ]
    registry = imputils.builtin_registry
    rest = (*registry.getattrs, *registry.setattrs, *registry.casts, *registry.constants)
    return not all(map(_is_numbas, (*typing, *lowering, *map(_lowered_by, rest))))


def _lowered_by(entry: tuple[Any, ...]) -> Any:
    """The function that lowers an attribute, a cast or a constant, out of numba's wrapper."""
    found = inspect.unwrap(entry[0])
    held = inspect.getclosurevars(found).nonlocals if found.__closure__ else {}
    return held.get("real_impl", found)


def _teacher(template: Any) -> Any:
    """The function that says what a template of numba's means."""
    if (found := getattr(template, "_overload_func", None)) is not None:
        return found
    return vars(template).get("generic") or template


def _is_numbas(value: Any) -> bool:
    # a function's module may be set to anything, its globals are where it was written
    home = getattr(value, "__globals__", {}).get("__name__") or value.__module__
    return str(home).partition(".")[0] == "numba"
