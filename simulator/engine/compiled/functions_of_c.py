"""The functions of C that stored machine code may call, by name."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from simulator.adversaries.program.assembly import OF_C

IN_C = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "floor", "fma", "fmod", "hypot",
    "lgamma", "log", "log10", "log1p", "log2", "memcpy", "memmove", "memset", "nearbyint", "pow",
    "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
}  # fmt: skip
"""Functions of C that machine code may call."""
IN_NUMPY = ("random_standard_exponential", "random_standard_normal")
"""Draws that machine code makes by numpy's own functions of a generator's state: equal bits, and
numba takes nearly as long to compile its own as all else of a kernel."""
STEPS_IN_NUMPY = {*IN_NUMPY, "random_bounded_uint64", "random_exponential", "random_laplace",
                  "random_normal", "random_uniform"}  # fmt: skip
"""Draws of the coins by a program."""


class NotStored(Exception):
    """A kernel that cannot be called or loaded in this way."""


def is_of_c(name: str) -> bool:
    """Whether it is the name of a function of C that machine code may call."""
    return name.removeprefix(OF_C) in IN_C or name in STEPS_IN_NUMPY


def of_c(name: str) -> None:
    """Let machine code call a function of C, with or without :data:`OF_C`; raises NotStored."""
    import llvmlite.binding as llvm

    if llvm.address_of_symbol(name) is None:
        # the library of CPython; not a global variable, which no digest of a kernel would cover
        library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        if name in STEPS_IN_NUMPY:
            library = library_of_numpy()
        function = getattr(library, name.removeprefix(OF_C), None)
        if function is None:
            raise NotStored(f"this machine has no {name}")
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def library_of_numpy() -> ctypes.CDLL:
    """The library that defines numpy's generators; its manual calls it so, by its file."""
    return ctypes.CDLL(sys.modules[np.random.Generator.__module__].__file__)
