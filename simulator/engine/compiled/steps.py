"""The steps of rules for kernels: the program that is read from a rule, or the rule in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.adversaries.program.compiling import STOPPED
from simulator.adversaries.program.forms import NotRead
from simulator.adversaries.program.rules import ProgramRule, program_of_rule
from simulator.engine.compiled.compiling import (
    Compile,
    make_callable,
    numba_compile,
    numba_is_installed,
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


def advance(rule: Rule, compile_: Compile) -> Callable[..., tuple[Any, ...]]:
    """The rule's step, which always returns (state, move, parameter, unsure).

    Compiled, it is unsure where its program stops; then Python has to play.
    """
    if compile_ is not numba_compile:
        return in_python(rule)
    # not in the digest of every kernel: a step that calls a helper has it in its own
    from simulator.adversaries.program.operations import HELPERS

    make_callable(*HELPERS.values())
    step = compile_(rule.step)
    of_rule = isinstance(rule, ProgramRule) and rule.read_from is not None

    def advanced(state, i, answer, coins):  # type: ignore[no-untyped-def]
        state, move, parameter = step(state, i, answer, coins)
        return state, move, parameter, of_rule and move == STOPPED

    return compile_(advanced)


def in_python(rule: Rule) -> Callable[..., tuple[Any, ...]]:
    """The rule's step in Python, which is never unsure.

    Of a program that was read from a rule it is that rule's step, from that rule's first state.
    """
    if isinstance(rule, ProgramRule) and rule.read_from is not None:
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
        return (*step(state if i else first, i, float(answer), coins), *rest)

    return advanced
