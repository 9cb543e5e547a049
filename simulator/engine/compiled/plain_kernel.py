"""The compiled kernel that plays a whole block of trials of a rule.

A rule draws the same numbers in the same order whether compiled, uncompiled, or driven as a
generator by :class:`Rule`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from simulator.adversaries.contract import Rule, off_menu, out_of_range
from simulator.data.databases import Relation
from simulator.engine.compiled.compiling import (
    Compile,
    dispatch,
    unowned,
)
from simulator.engine.compiled.kernels import compiled_or_not
from simulator.engine.compiled.menu import Menu
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.promises import (
    DONE,
    FAULT,
    IMPOSSIBLE,
    OFF_MENU,
    OUT_OF_RANGE,
    UNSURE,
    at,
    fault,
)
from simulator.engine.specification import Specification
from simulator.engine.views.views import View
from simulator.foundations.errors import Breach
from simulator.foundations.seeds import Stream, generator, record
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee


class Kept(NamedTuple):
    """What a kernel fills.

    Attributes
    ----------
    losses : float64, shape (trials,).
    trace : shape (3, rounds), see :class:`Outcome`; of shape (0, rounds) it is not kept.
    answers : shape (trials, rounds); of shape (0, rounds) they are not kept.
    """

    losses: np.ndarray
    trace: np.ndarray
    answers: np.ndarray


def plain_kernel(menu: Menu, compile_: Compile) -> Callable[..., Any]:
    """A kernel that plays trials of one experiment, bound to the menu's rule and mechanisms."""
    from simulator.engine.compiled.steps import advance  # no generator needs it

    room, begin, step = advance(menu.rule, compile_)
    prepare = dispatch([kind.prepare for kind in menu.kinds], compile_)
    sample = dispatch([kind.sample for kind in menu.kinds], compile_)
    loss_of = dispatch([kind.loss for kind in menu.kinds], compile_)
    admit, unspent = compile_(menu.admission.step), menu.admission.initial
    observe = compile_(menu.observe)
    any_free = menu.any_free
    borrow = unowned(compile_)

    def kernel(b, entries, coins, noise, kept):  # type: ignore[no-untyped-def]
        first_state, kind, rows, table, low, high, costs, limits, work = entries
        losses, trace, answers = kept
        params_of = borrow(table)
        free = borrow(work)[0]
        rounds = answers.shape[1]
        impossible = math.inf if b else -math.inf  # the loss of an answer of probability 0
        fixed, of_kind, bound = params_of[0], kind[0], limits[0, 0]
        last, changes, steady = 0, 0, True
        memory = room()
        for trial in range(losses.shape[0]):
            state = begin(memory, first_state)
            answer = math.nan
            loss = 0.0
            spent = unspent
            for i in range(rounds):
                state, move, parameter, unsure = step(state, i, answer, coins)
                if unsure:
                    return UNSURE, trial, i, 0, 0.0, 0.0, 0.0
                entry = int(move)
                if entry != move or entry < 0 or entry >= table.shape[0]:
                    return OFF_MENU, trial, i, 0, float(move), 0.0, 0.0
                # If the entry rarely changes, this branch is predicted well, and a round starts
                # before the last answer is known: twice the rate. If it often does, mispredictions
                # cost more than loading the entry's numbers in every round.
                if not steady or entry != last:
                    last, fixed, of_kind = entry, params_of[entry], kind[entry]
                    bound = limits[entry, 0]
                    changes += 1
                    steady = 8 * changes <= 64 + trial * rounds + i
                params = fixed
                cost = costs[entry, 0]
                limit = bound
                if any_free and low[entry] == low[entry]:
                    if not low[entry] <= parameter <= high[entry]:
                        return OUT_OF_RANGE, trial, i, entry, parameter, 0.0, 0.0
                    prepare(of_kind, rows[entry], parameter, free)
                    params = free
                    cost = parameter
                    limit += limits[entry, 1] * parameter
                admitted, spent = admit(spent, cost, costs[entry, 1])
                if admitted:
                    answer = sample(of_kind, params, b, noise)
                    round_loss = loss_of(of_kind, params, answer)
                    # false also where a value is NaN
                    if not abs(round_loss) + (answer - answer) <= limit:
                        return FAULT, trial, i, entry, parameter, answer, round_loss
                    loss += round_loss
                    spent = observe(spent, round_loss)
                else:
                    answer = math.nan
                if trace.shape[0] > 0 and loss - loss == 0.0:
                    trace[0, i] += loss
                    trace[1, i] += loss * loss
                    trace[2, i] += 1.0
                if answers.shape[0] > 0:
                    answers[trial, i] = answer
            if loss == impossible:
                return IMPOSSIBLE, trial, i, 0, 0.0, 0.0, loss
            losses[trial] = loss
        return DONE, 0, 0, 0, 0.0, 0.0, 0.0

    return compile_(kernel)


@dataclass(frozen=True)
class Engine:
    """A kernel for plain play, and the result of its compilation.

    Attributes
    ----------
    seconds : time that compilation took.
    complaint : why numba could not compile the rule, or "".
    compiled : whether it plays compiled.
    """

    menu: Menu
    kernel: Callable[..., Any]
    seconds: float
    complaint: str = ""
    compiled: bool = True

    @classmethod
    def build(
        cls,
        rule: Rule,
        family: Guarantee,
        relation: Relation,
        filter_: Filter | None = None,
        compiled: bool = True,
    ) -> Engine:
        """Check the menu and compile the rule's program; fall back to Python without one."""
        from simulator.engine.compiled.steps import as_program  # no generator needs it

        rule, unread = as_program(rule) if compiled else (rule, "")
        menu = Menu.of(rule, family, relation, filter_)

        def try_out(kernel: Callable[..., Any]) -> None:
            rng = np.random.default_rng(0)
            cls(menu, kernel, 0.0).play(0, rng, rng, np.zeros(0), 1)

        compiled = compiled and not unread
        kernel, seconds, complaint = compiled_or_not(plain_kernel, menu, try_out, compiled)
        complaint = unread or complaint
        return cls(menu, kernel, seconds, complaint, compiled and not complaint)

    def play(
        self,
        b: int,
        coins: np.random.Generator,
        noise: np.random.Generator,
        losses: np.ndarray,
        rounds: int,
        *,
        trace: np.ndarray | None = None,
        answers: np.ndarray | None = None,
        first_trial: int = 0,
    ) -> None:
        """Play ``len(losses)`` trials of experiment ``b`` and fill ``losses``.

        Adds to ``trace``, shape (3, rounds), and fills ``answers``, shape (trials, rounds).
        Raises Breach, naming the round, the trial and the experiment.
        """
        menu = self.menu
        kept = Kept(
            losses,
            trace=np.zeros((0, rounds)) if trace is None else trace,
            answers=np.zeros((0, rounds)) if answers is None else answers,
        )
        ended = self.kernel(b, menu.entries(), coins, noise, kept)
        raise_if_ended_early(menu, ended, b, first_trial, math.inf if b else -math.inf)

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b``."""
        s = specification
        coins = generator(s.seed, s.task, Stream.COINS, block)
        noise = generator(s.seed, s.task, Stream.mechanism(b), block)
        losses = np.empty(s.trials_in(block))
        trace = np.zeros((3, s.rounds)) if s.trace else None

        def play(part: slice, first: int, answers: np.ndarray | None) -> None:
            self.play(
                b, coins, noise, losses[part], s.rounds,
                trace=trace, answers=answers, first_trial=first,
            )  # fmt: skip

        return Outcome(b, block, losses, trace, play_in_parts(s, b, block, coins, play))


def play_in_parts(
    specification: Specification,
    b: int,
    block: int,
    coins: np.random.Generator,
    play: Callable[[slice, int, np.ndarray | None], None],
) -> tuple[View, ...]:
    """Play a block and return the kept views, whose trials are played one at a time.

    ``play(part, first, answers)`` plays a slice of the block from the trial numbered ``first`` on.
    """
    s = specification
    first, kept, views = block * s.block_size, s.views_in(block), []
    for t in range(kept):
        state, answers = record(coins), np.empty((1, s.rounds))
        play(slice(t, t + 1), first + t, answers)
        views.append(View(b, first + t, state, tuple(answers[0].tolist())))
    play(slice(kept, None), first + kept, None)
    return tuple(views)


Ending = tuple[int, int, int, int, float, float, float]
"""A kernel's result: the status, the trial, the round, and for a round that ended the play the menu
entry, the parameter (or the invalid move), the answer and the loss."""


def raise_if_ended_early(
    menu: Menu, ending: Ending, b: int, first_trial: int, impossible: float
) -> None:
    """Raise Breach, naming the round, the trial and experiment b, unless the status is DONE.

    ``impossible`` is the loss of an answer of probability 0 in this experiment.
    """
    status, trial, i, entry, parameter, answer, loss = ending
    if status == DONE:
        return
    name = menu.rule.name
    if status == OFF_MENU:
        found = Breach(off_menu(name, parameter))
    elif status == OUT_OF_RANGE:
        found = Breach(out_of_range(name, parameter))
    elif status == IMPOSSIBLE:
        found = Breach(
            f"{name} received an answer of probability 0, in this round or an earlier one"
        )
    else:
        found = fault(menu.challenge(entry, parameter), menu.relation, answer, loss, impossible)
    raise type(found)(at(i, first_trial + trial, b, str(found)))
