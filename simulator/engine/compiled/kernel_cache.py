"""Kernels that were compiled before, in this process or another one of this user.

numba's own cache knows a function by its file's time and its closure, and plays on with what a
helper in another file or a global was before. Here a kernel is known by all that it is made of
(:mod:`simulator.identity.kernels`) with the types of its arguments, so it is never out of date:
whatever changes it makes it another one. What cannot be known that way is compiled every time, as
is code with addresses of this process in it.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import re
import secrets
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from simulator.foundations.cache_files import Cache, user_folder
from simulator.identity.compiled_helpers import renew_compiled
from simulator.identity.kernels import parts_of, surroundings

FORMAT = 1
"""Of what is kept; to be raised when it changes."""


def kept(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Let a kernel of numba's, not compiled yet, be loaded where it was compiled before."""
    from numba.core.dispatcher import Dispatcher

    folder = user_folder()
    if folder is not None and isinstance(kernel, Dispatcher):  # numba may be switched off
        renew_compiled(kernel)
        dispatcher: Any = kernel
        dispatcher._cache = KernelCache(kernel, Cache(folder))
    return kernel


class KernelCache:
    """What numba asks before it compiles one kernel for some types, and tells when it has.

    ``loaded`` and ``saved`` count what came of that.
    """

    known: ClassVar[dict[str, Any]] = {}
    """Compiled code of this process, by its key: code that was loaded is never unloaded."""

    def __init__(self, kernel: Any, files: Cache) -> None:
        self.kernel = kernel
        self.files = files
        self.loaded = 0
        self.saved = 0
        self.asked: dict[str, str | None] = {}

    def key(self, signature: Any, target: Any) -> str | None:
        """The name of the kernel for the types of its arguments; None where it has none."""
        parts = parts_of(self.kernel)
        if parts is None:
            return None
        named = (FORMAT, parts, str(signature), surroundings(target.codegen()))
        return hashlib.sha256(repr(named).encode()).hexdigest()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled code for these types, or None."""
        target.refresh()
        key = self.asked[str(signature)] = self.key(signature, target)
        if key is None:
            return None
        code = self.known.get(key)
        if code is None and (content := self.files.read(key)) is not None:
            code = _restored(content, target)
        if code is not None:
            self.known[key] = code
        self.loaded += code is not None
        return code

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep what was just compiled, if it means the same in any process."""
        key = self.asked.pop(str(signature), None)
        if key is None or key != self.key(signature, code.target_context):
            return  # something that it is made of has changed meanwhile
        if not (_stands_alone(code) and _is_named_uniquely(code)):
            return
        self.known[key] = code._replace(metadata=None)  # of this one compilation: its times
        self.saved += self.files.write(key, _written(code))


def _stands_alone(code: Any) -> bool:
    """Whether compiled code holds no address and no object of this process."""
    if code.objectmode or code.lifted or code.reload_init or code.library.has_dynamic_globals:
        return False
    held = (one for each in code._find_referenced_environments() for one in each.consts)
    return all(isinstance(one, np.dtype) and one.isbuiltin == 1 for one in held)


def _written(code: Any) -> bytes:
    from numba.core.serialize import dumps

    written: bytes = dumps(code._reduce())
    return written


def _restored(content: bytes, target: Any) -> Any:
    from numba.core.compiler import CompileResult
    from numba.core.funcdesc import _dynamic_module

    # numba's stand-in for the module of a function that has none, as of a file that was run; it
    # asks for it by its name, to look up globals that code which stands alone does not have
    nowhere = _dynamic_module.__name__
    sys.modules[nowhere] = _dynamic_module
    try:
        return CompileResult._rebuild(target, *pickle.loads(content))
    except Exception:  # of another make than the key says: compile
        return None
    finally:
        sys.modules.pop(nowhere, None)


def name_uniquely() -> None:
    """Number the functions that numba compiles from here on from a place that no process shares.

    They are linked by their names, and a number tells functions of one name apart. Counted from 1
    in every process, a function that is loaded would be taken for another that was compiled here.
    """
    global _named
    if user_folder() is not None and _named != os.getpid():  # a fork counts on elsewhere
        from numba.core.bytecode import FunctionIdentity

        FunctionIdentity._unique_ids = itertools.count(_FIRST + secrets.randbits(61))
        _named = os.getpid()


def _is_named_uniquely(code: Any) -> bool:
    """Whether all functions in it are; those that a user compiled before are not."""
    module = code.library._final_module
    names = [each.name for each in (*module.functions, *module.global_variables)
             if not each.is_declaration]  # fmt: skip
    return all(int(number) >= _FIRST for name in names for number in _NUMBER.findall(name))


_FIRST = 1 << 61
_NUMBER = re.compile(r"B\d+v(\d+)B\d+c")
"""A function's number in its name, before the flags that it was compiled with."""
_named = 0
"""The process whose functions have names of their own."""
