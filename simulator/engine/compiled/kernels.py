"""Kernels, compiled once for all menus that differ in numbers alone.

numba takes a second or two for a kernel, and some megabytes, which it does not give back. So it
compiles one for each kind of mechanism and filter, which calls a step by name; a program's step is
linked with it in a third of a second. A kernel reads the numbers of its menu from arrays and is
given the first state, so the rules of a study, over families and rounds, share one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from simulator.adversaries.program.compiling import Step
from simulator.engine.compiled.compiling import (
    Compile,
    numba_compile,
    numba_is_installed,
    uncompiled,
    why,
)
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.stored_code import StoredKernel, name_of
from simulator.engine.promises import UNSURE
from simulator.foundations.errors import DpcomposeError
from simulator.foundations.single_flight import made_once
from simulator.foundations.uninterrupted import uninterrupted
from simulator.identity.fingerprint import fingerprint

Make = Callable[[Menu, Compile], Callable[..., Any]]
"""``make(menu, compile_)`` binds a menu's rule and mechanisms into a kernel."""


@dataclass(frozen=True, kw_only=True)
class KernelKey:
    """All that is constant in a compiled kernel: the key under which it is kept.

    Attributes
    ----------
    make : the function that binds the kernel.
    step : the assembly of the step.
    parts : the fingerprint of the mechanisms' functions, and of the filter.
    any_free : whether the menu has a free parameter.
    rule : the rule's id where the fingerprint does not cover it all, otherwise 0.
    menu : of the rule for which it is compiled first; ``try_out`` calls a kernel on no trials.
    """

    make: Make
    step: str
    parts: tuple[tuple[str, str], ...]
    any_free: bool
    rule: int
    menu: Menu = field(compare=False)
    try_out: Callable[[Callable[..., Any]], None] = field(compare=False)

    @classmethod
    def of(cls, make: Make, menu: Menu, try_out: Callable[[Callable[..., Any]], None]) -> KernelKey:
        """The key of a menu's kernel."""
        found = fingerprint(
            kinds=menu.kinds,
            admit=menu.admission.step,
            unspent=menu.admission.initial,
            observe=menu.observe,
        )
        rule = id(menu.rule) if found.not_covered else 0
        assert isinstance(menu.rule.step, Step), "only a program is compiled"
        return cls(
            make=make, step=menu.rule.step.text, parts=found.parts, any_free=menu.any_free,
            rule=rule, menu=menu, try_out=try_out,
        )  # fmt: skip

    def name(self) -> str | None:
        """The name of the kernel without its step; see :mod:`.stored_code`."""
        menu = self.menu
        return None if self.rule else name_of(
            make=self.make, kinds=menu.kinds, admit=menu.admission.step,
            unspent=menu.admission.initial, observe=menu.observe, any_free=self.any_free,
        )  # fmt: skip


def compiled_or_not(
    make: Make,
    menu: Menu,
    try_out: Callable[[Callable[..., Any]], None],
    compiled: bool = True,
) -> tuple[Callable[..., Any], float, str]:
    """The menu's kernel, the seconds that it took, and why it is not compiled or "".

    ``try_out`` calls the kernel on no trials, so that numba compiles it for the types in use. A
    compiled kernel that is unsure plays the same trials again, uncompiled.
    """
    start, name = time.perf_counter(), menu.rule.name
    if not compiled:
        return make(menu, uncompiled), 0.0, ""
    if not numba_is_installed():
        complaint = "some hundred times slower: numba is not installed (pip install numba)"
        return make(menu, uncompiled), 0.0, f"{name} runs uncompiled, {complaint}"
    kernel, complaint = _compiled(KernelKey.of(make, menu, try_out))
    if complaint:
        complaint = f"{name} runs uncompiled, it cannot be compiled: {complaint}"
    return kernel, time.perf_counter() - start, complaint


class CheckedKernel:
    """A compiled kernel, which plays in Python what may go another way there.

    Attributes
    ----------
    repeats : how often it has played trials again, in Python.
    """

    def __init__(
        self, compiled: Callable[..., Any], in_python: Callable[[], Callable[..., Any]]
    ) -> None:
        self.compiled, self.in_python = compiled, in_python
        self.repeats = 0

    def __call__(self, *arguments: Any) -> Any:
        """What the kernel returns; the last argument has the arrays that it fills or adds to."""
        draws = [each.bit_generator for each in arguments if isinstance(each, np.random.Generator)]
        before = [each.state for each in draws]
        copies = [array.copy() for array in arguments[-1]]
        try:
            ended = self.compiled(*arguments)
        except ArithmeticError:
            ended = (UNSURE,)
        if ended[0] != UNSURE:
            return ended
        self.repeats += 1
        for each, state in zip(draws, before):
            each.state = state
        for array, copy in zip(arguments[-1], copies):
            array[...] = copy
        return self.in_python()(*arguments)


MOST_KERNELS = 64
_there: dict[KernelKey, None] = {}


def is_compiled(key: KernelKey) -> bool:
    """Whether the kernel is compiled, or found not to compile, in this process."""
    return key in _there


@made_once(maxsize=MOST_KERNELS)
def _compiled(key: KernelKey) -> tuple[Callable[..., Any], str]:
    try:
        kernel = uninterrupted(lambda: _tried_out(key))
    except DpcomposeError:
        raise
    except Exception as error:  # numba raises many kinds of errors
        return key.make(key.menu, uncompiled), why(error)
    finally:
        _there[key] = None
        while len(_there) > MOST_KERNELS:
            _there.pop(next(iter(_there)), None)
    return CheckedKernel(kernel, lambda: key.make(key.menu, uncompiled)), ""


def _tried_out(key: KernelKey) -> Callable[..., Any]:
    """The kernel, loaded or compiled: it has been called on no trials."""
    kernel = StoredKernel(partial(key.make, key.menu, numba_compile), key.name(), key.step)
    key.try_out(kernel)
    return kernel
