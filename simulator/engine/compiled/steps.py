"""The steps of rules for kernels: the program that is read from a rule, or the rule in Python.

A kernel calls its program's step by name, so that the kernel is compiled without it; the step is
linked with it as assembly, see :mod:`.machine_code`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.adversaries.program.forms import NotRead
from simulator.adversaries.program.rules import ProgramRule, program_of_rule
from simulator.engine.compiled.compiling import (
    Compile,
    Stepping,
    numba_compile,
    numba_is_installed,
    step_by_name,
)
from simulator.foundations.errors import InvalidInput


def as_program(rule: Rule) -> tuple[Rule, str]:
    """The rule as a program, which can be compiled; or itself, and why it runs uncompiled."""
    if isinstance(rule, ProgramRule) or not numba_is_installed():
        return rule, ""
    try:
        return program_of_rule(rule), ""
    except NotRead as refused:
        return rule, f"{rule.name} runs uncompiled, its step is not in the closed form: {refused}"


def advance(rule: Rule, compile_: Compile) -> Stepping:
    """The rule's step for a kernel.

    Compiled, it is unsure where its program stops; then Python has to play.
    """
    return in_python(rule) if compile_ is not numba_compile else step_by_name()


def in_python(rule: Rule) -> Stepping:
    """The rule's step in Python, which is never unsure.

    Of a program that was read from a rule it is that rule's step, from that rule's first state.
    A generator's program is not played in this way: its step raises NotApplicable.
    """
    if isinstance(rule, ProgramRule):
        if rule.read_from is None:
            return nothing, nothing, rule.step
        rule = rule.read_from
    step, first = rule.step, rule.state
    probe = step(first, 0, math.nan, np.random.default_rng(0))
    if not isinstance(probe, tuple) or len(probe) not in (2, 3):
        raise InvalidInput(
            f"the step of {rule.name} must return (state, move) or (state, move, parameter), "
            f"not {probe!r}"
        )
    rest = (False,) if len(probe) == 3 else (math.nan, False)

    def advanced(state: Any, i: int, answer: Any, coins: Any) -> tuple[Any, ...]:
        # a kernel in Python computes an answer with numpy's numbers, which divide by zero
        return (*step(state, i, float(answer), coins), *rest)

    return nothing, lambda room, words: first, advanced


def nothing(*arguments: Any) -> None:
    """Return no state."""
