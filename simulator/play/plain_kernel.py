"""The compiled kernel that plays a whole block of trials of a rule.

Compiled, interpreted, and as a generator that :class:`Rule` drives, a rule draws the same numbers
in the same order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.data.databases import Relation
from simulator.errors import Breach
from simulator.play.compiling import (
    Compile,
    advance,
    compiled_or_not,
    dispatch,
    row_reader,
    uncompiled,
)
from simulator.play.menu import Menu
from simulator.theory.filters import Filter
from simulator.theory.guarantees import Guarantee

# what a kernel returns beside the trial and the round: all went well, or what did not
DONE, OFF_MENU, OUT_OF_RANGE, NOT_FINITE, IMPOSSIBLE = range(5)


def no_filter(state: tuple[float], epsilon: float, delta: float) -> tuple[bool, tuple[float]]:
    """Admit every round."""
    return True, state


def gate(filter_: Filter | None, compile_: Compile) -> tuple[Callable[..., Any], tuple[float, ...]]:
    """A filter's step and its state before the first round."""
    if filter_ is None:
        return compile_(no_filter), (0.0,)
    return compile_(type(filter_).step), filter_.initial


def plain_kernel(menu: Menu, filter_: Filter | None, compile_: Compile) -> Callable[..., Any]:
    """Bind the menu's rule and mechanisms into a kernel that plays trials of one experiment."""
    step = advance(menu.rule, compile_)
    prepare = dispatch([kind.prepare for kind in menu.kinds], compile_)
    sample = dispatch([kind.sample for kind in menu.kinds], compile_)
    loss_of = dispatch([kind.loss for kind in menu.kinds], compile_)
    admit, unspent = gate(filter_, compile_)
    initial = menu.rule.state
    any_free = menu.any_free
    read = row_reader(menu.params.shape[1], compile_)

    def kernel(b, kind, rows, table, low, high, prices, coins, noise, losses, trace, answers):  # type: ignore[no-untyped-def]
        work = np.zeros((1, table.shape[1]))
        rounds = answers.shape[1]
        impossible = math.inf if b else -math.inf  # has probability 0 where it was drawn
        for trial in range(losses.shape[0]):
            state = initial
            answer = math.nan
            loss = 0.0
            purse = unspent
            oddity = 0.0
            for i in range(rounds):
                state, move, parameter = step(state, i, answer, coins)
                entry = int(move)
                if entry < 0 or entry >= table.shape[0]:
                    return OFF_MENU, trial, i, float(entry)
                params = read(table, entry)
                price = prices[entry, 0]
                if any_free and low[entry] == low[entry]:
                    if not low[entry] <= parameter <= high[entry]:
                        return OUT_OF_RANGE, trial, i, parameter
                    prepare(kind[entry], rows[entry], parameter, work[0])
                    params = read(work, 0)
                    price = parameter
                admitted, purse = admit(purse, price, prices[entry, 1])
                if admitted:
                    answer = sample(kind[entry], params, b, noise)
                    loss += loss_of(kind[entry], params, answer)
                    oddity += answer - answer  # 0, or NaN for good once an answer is not finite
                else:
                    answer = math.nan
                if trace.shape[0] > 0 and loss - loss == 0.0:
                    trace[0, i] += loss
                    trace[1, i] += loss * loss
                    trace[2, i] += 1.0
                if answers.shape[0] > 0:
                    answers[trial, i] = answer
            if oddity != 0.0 or loss != loss:
                return NOT_FINITE, trial, rounds - 1, loss
            if loss == impossible:
                return IMPOSSIBLE, trial, rounds - 1, loss
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
        cls,
        rule: Rule,
        family: Guarantee,
        relation: Relation,
        filter_: Filter | None = None,
        compiled: bool = True,
    ) -> Engine:
        """Check the menu and compile the rule; fall back to Python where numba cannot."""
        menu = Menu.of(rule, family, relation, filter_)
        start = time.perf_counter()
        if not compiled:
            return cls(menu, plain_kernel(menu, filter_, uncompiled), 0.0)

        def try_out(kernel: Callable[..., Any]) -> None:
            rng = np.random.default_rng(0)
            cls(menu, kernel, 0.0).play(0, rng, rng, np.zeros(0), 1)

        kernel, complaint = compiled_or_not(
            rule, lambda compile_: plain_kernel(menu, filter_, compile_), try_out
        )
        return cls(menu, kernel, time.perf_counter() - start, complaint)

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
            menu.prices,
            coins,
            noise,
            losses,
            np.zeros((0, rounds)) if trace is None else trace,
            np.zeros((0, rounds)) if answers is None else answers,
        )
        complain(menu.rule.name, status, first_trial + trial, i, value)


COMPLAINTS = {
    OFF_MENU: "made the move {:.0f}, which is not on its menu",
    OUT_OF_RANGE: "chose the parameter {}, outside what its menu entry allows",
    NOT_FINITE: "was given an answer that is not finite, in this or an earlier round (loss {})",
    IMPOSSIBLE: "was given an answer that cannot occur there, now or earlier (loss {})",
}


def complain(name: str, status: int, trial: int, i: int, value: float) -> None:
    """Raise Breach unless a kernel says that all went well."""
    if status != DONE:
        complaint = COMPLAINTS[status].format(value)
        raise Breach(f"round {i + 1}, trial {trial}: {name} {complaint}")
