"""Compile a rule and its mechanisms into one kernel that plays a whole block.

The kernel is :func:`plain_kernel`'s inner function with the rule's step and the mechanisms' scalar
functions bound in. numba compiles it without the interpreter lock, so that threads scale;
uncompiled it is ordinary Python, and plays a rule that numba cannot compile. Both draw the same
numbers in the same order as the generator that :class:`Rule` drives.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule, check_challenge
from simulator.databases import Relation
from simulator.errors import Breach, DpcomposeError, InvalidInput
from simulator.mechanisms import Free, ScalarMechanism, Scalars
from simulator.theory.guarantees import Guarantee

# what a kernel returns beside the trial and the round: all went well, or what did not
DONE, OFF_MENU, OUT_OF_RANGE, NOT_FINITE, NOT_A_LOSS = range(5)


@dataclass(frozen=True)
class Menu:
    """A rule's menu as numbers, checked once.

    Attributes
    ----------
    kinds : the distinct kinds of mechanism, in order of first use.
    kind : int64, shape (entries,), each entry's place in ``kinds``.
    rows : float64, shape (entries, widest row).
    params : float64, shape (entries, widest params), prepared where the entry is not free.
    low, high : float64, shape (entries,), the interval of a free parameter; NaN otherwise.
    """

    rule: Rule
    kinds: tuple[Scalars, ...]
    kind: np.ndarray
    rows: np.ndarray
    params: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, rule: Rule, family: Guarantee, relation: Relation) -> Menu:
        """Check every entry and lay the menu out; raises Breach with the entry's place."""
        kinds: list[Scalars] = []
        kind: list[int] = []
        rows: list[tuple[float, ...]] = []
        params: list[np.ndarray] = []
        lows: list[float] = []
        highs: list[float] = []
        for place, challenge in enumerate(rule.menu):
            try:
                database_0, database_1, mechanism = check_challenge(challenge, family, relation)
                assert isinstance(mechanism, ScalarMechanism)
                row = mechanism.checked_row(database_0, database_1, relation)
            except DpcomposeError as error:
                raise type(error)(f"menu entry {place} of {rule.name}: {error}") from error
            scalars, parameter = mechanism.scalars, mechanism.parameter
            if scalars not in kinds:
                kinds.append(scalars)
            kind.append(kinds.index(scalars))
            low, high = (
                (parameter.low, parameter.high)
                if isinstance(parameter, Free)
                else (math.nan, math.nan)
            )
            prepared = np.zeros(scalars.width(row))
            scalars.prepare(row, high if isinstance(parameter, Free) else parameter, prepared)
            rows.append(row)
            params.append(prepared)
            lows.append(low)
            highs.append(high)
        return cls(
            rule,
            tuple(kinds),
            np.array(kind),
            _table(rows),
            _table(params),
            np.array(lows),
            np.array(highs),
        )

    @property
    def any_free(self) -> bool:
        """Whether some entry leaves its parameter to the rule."""
        return bool(np.isfinite(self.low).any())


def _table(rows: Sequence[Sequence[float] | np.ndarray]) -> np.ndarray:
    table = np.zeros((len(rows), max(map(len, rows))))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


Compile = Callable[[Callable[..., Any]], Callable[..., Any]]


def numba_compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with numba: no interpreter lock, IEEE division, no fast-math."""
    import numba  # a second to import, and generator adversaries do without it

    return numba.njit(nogil=True, error_model="numpy")(function)


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the function as it is."""
    return function


def dispatch(functions: Sequence[Callable[..., Any]], compile_: Compile) -> Callable[..., Any]:
    """One function ``f(kind, *arguments)`` that calls ``functions[kind](*arguments)``.

    A chain of comparisons rather than a table of pointers, so that LLVM can inline every kind.
    """
    first = compile_(functions[0])
    if len(functions) == 1:

        def only(kind, *arguments):  # type: ignore[no-untyped-def]
            return first(*arguments)

        return compile_(only)

    others = dispatch(functions[1:], compile_)

    def choose(kind, *arguments):  # type: ignore[no-untyped-def]
        if kind == 0:
            return first(*arguments)
        return others(kind - 1, *arguments)

    return compile_(choose)


def advance(rule: Rule, compile_: Compile) -> Callable[..., tuple]:
    """The rule's step with one form of answer: (state, move, parameter)."""
    probe = rule.step(rule.state, 0, math.nan, np.random.default_rng(0))
    step = compile_(rule.step)
    if not isinstance(probe, tuple) or len(probe) not in (2, 3):
        raise InvalidInput(
            f"the step of {rule.name} must return (state, move) or (state, move, parameter), "
            f"not {probe!r}"
        )
    if len(probe) == 3:
        return step

    def without_parameter(state, i, answer, coins):  # type: ignore[no-untyped-def]
        state, move = step(state, i, answer, coins)
        return state, move, math.nan

    return compile_(without_parameter)


def plain_kernel(menu: Menu, compile_: Compile) -> Callable[..., Any]:
    """Bind the menu's rule and mechanisms into a kernel that plays trials of one experiment."""
    step = advance(menu.rule, compile_)
    prepare = dispatch([kind.prepare for kind in menu.kinds], compile_)
    sample = dispatch([kind.sample for kind in menu.kinds], compile_)
    loss_of = dispatch([kind.loss for kind in menu.kinds], compile_)
    initial = menu.rule.state
    any_free = menu.any_free

    def kernel(b, kind, rows, table, low, high, coins, noise, losses, trace, answers):  # type: ignore[no-untyped-def]
        work = np.zeros(table.shape[1])
        rounds = answers.shape[1]
        for trial in range(losses.shape[0]):
            state = initial
            answer = math.nan
            loss = 0.0
            for i in range(rounds):
                state, move, parameter = step(state, i, answer, coins)
                entry = int(move)
                if entry < 0 or entry >= table.shape[0]:
                    return OFF_MENU, trial, i, float(entry)
                params = table[entry]
                if any_free and low[entry] == low[entry]:
                    if not low[entry] <= parameter <= high[entry]:
                        return OUT_OF_RANGE, trial, i, parameter
                    prepare(kind[entry], rows[entry], parameter, work)
                    params = work
                answer = sample(kind[entry], params, b, noise)
                loss += loss_of(kind[entry], params, answer)
                if answer - answer != 0.0:
                    return NOT_FINITE, trial, i, answer
                if trace.shape[0] > 0 and loss - loss == 0.0:
                    trace[0, i] += loss
                    trace[1, i] += loss * loss
                    trace[2, i] += 1.0
                if answers.shape[0] > 0:
                    answers[trial, i] = answer
            if loss != loss:
                return NOT_A_LOSS, trial, rounds - 1, loss
            losses[trial] = loss
        return DONE, 0, 0, 0.0

    return compile_(kernel)


@dataclass(frozen=True)
class Engine:
    """A kernel ready to play, with what became of compiling it.

    Attributes
    ----------
    seconds : time that compilation took.
    complaint : why numba could not compile the rule, or "" when it did.
    """

    menu: Menu
    kernel: Callable[..., Any]
    seconds: float
    complaint: str = ""

    @classmethod
    def build(
        cls, rule: Rule, family: Guarantee, relation: Relation, compiled: bool = True
    ) -> Engine:
        """Check the menu and compile the rule; fall back to Python where numba cannot."""
        menu = Menu.of(rule, family, relation)
        start = time.perf_counter()
        if not compiled:
            return cls(menu, plain_kernel(menu, uncompiled), 0.0)
        try:
            engine = cls(menu, plain_kernel(menu, numba_compile), 0.0)
            engine.play(0, np.random.default_rng(0), np.random.default_rng(0), np.zeros(0), 1)
        except DpcomposeError:
            raise
        except Exception as error:  # numba raises many kinds; any of them means "run it in Python"
            reason = str(error).strip().splitlines() or [type(error).__name__]
            complaint = f"{rule.name} runs uncompiled, numba cannot compile it: {reason[0]}"
            return cls(menu, plain_kernel(menu, uncompiled), time.perf_counter() - start, complaint)
        return cls(menu, engine.kernel, time.perf_counter() - start)

    def play(
        self,
        b: int,
        coins: np.random.Generator,
        noise: np.random.Generator,
        losses: np.ndarray,
        rounds: int,
        trace: np.ndarray | None = None,
        answers: np.ndarray | None = None,
        first_trial: int = 0,
    ) -> None:
        """Play ``len(losses)`` trials of experiment ``b`` and fill ``losses``.

        ``trace``, shape (3, rounds), is added to; ``answers``, shape (trials, rounds), is filled.
        Raises Breach, naming the round and the trial.
        """
        menu = self.menu
        status, trial, i, value = self.kernel(
            b,
            menu.kind,
            menu.rows,
            menu.params,
            menu.low,
            menu.high,
            coins,
            noise,
            losses,
            np.zeros((0, rounds)) if trace is None else trace,
            np.zeros((0, rounds)) if answers is None else answers,
        )
        if status != DONE:
            where = f"round {i + 1}, trial {first_trial + trial}"
            raise Breach(f"{where}: {menu.rule.name} {COMPLAINTS[status].format(value)}")


COMPLAINTS = {
    OFF_MENU: "made the move {:.0f}, which is not on its menu",
    OUT_OF_RANGE: "chose the parameter {}, outside what its menu entry allows",
    NOT_FINITE: "was answered {}, which is not finite",
    NOT_A_LOSS: "has a privacy loss that is not a number in this or an earlier round ({})",
}
