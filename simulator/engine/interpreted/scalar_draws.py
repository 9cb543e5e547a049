"""One number at a time from a generator, without what numpy does around each.

A call of ``Generator.random()`` spends half of its time on the type and the size of what it may
return. The functions beneath are those that numpy documents for use from C ("Extending" in the
manual of ``numpy.random``); called directly they give the same numbers in the same order. They
take no lock: a play draws in one thread.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

BENEATH = {
    "random": "random_standard_uniform",
    "standard_exponential": "random_standard_exponential",
    "standard_normal": "random_standard_normal",
}
"""Methods of a generator, and the functions of numpy that draw for them."""


class ScalarDraws:
    """A generator for the scalar functions of this package, which ask for one number at a time.

    Whatever else they call is the generator's own.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator  # it owns the state at the address
        address = generator.bit_generator.ctypes.bit_generator.value  # ctypes is quickest with ints
        for method, function in functions().items():
            setattr(self, method, functools.partial(function, address))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


@functools.cache
def functions() -> dict[str, Callable[[int], float]]:
    """The functions beneath the methods of a generator; none where numpy does not export them."""
    found: dict[str, Callable[[int], float]] = {}
    try:
        library = ctypes.PyDLL(np.random._generator.__file__)
        for method, name in BENEATH.items():
            function = library[name]
            function.restype, function.argtypes = ctypes.c_double, (ctypes.c_void_p,)
            found[method] = function
    except (OSError, AttributeError):
        return {}
    return found
