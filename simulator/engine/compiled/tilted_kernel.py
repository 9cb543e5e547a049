"""The compiled kernel of tilted play: answers from the tilted law, with the weight of each trial.

Experiment 1 is played as experiment 0 of the exchanged challenges, so that one kernel serves both.
Losses are signed: large ones are rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.data.databases import Relation
from simulator.engine.compiled.compiling import (
    Compile,
    dispatch,
    unowned,
)
from simulator.engine.compiled.kernels import compiled_or_not
from simulator.engine.compiled.menu import Menu, padded
from simulator.engine.compiled.plain_kernel import play_in_parts, raise_if_ended_early
from simulator.engine.compiled.steps import advance, as_program
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.promises import DONE, FAULT, IMPOSSIBLE, OFF_MENU, OUT_OF_RANGE, UNSURE
from simulator.engine.sampling import (
    Guarded,
    RoundByRound,
    Tilted,
    phase_of,
    require_digits,
)
from simulator.engine.specification import Specification
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Stream, generator
from simulator.mechanisms import Scalars
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee


class MeasureArrays(NamedTuple):
    """A measure as a kernel reads it.

    Attributes
    ----------
    levels, grid, phase : see :class:`Steered` and ``phase_of``.
    first, per_column : the loss of the first column's edge, and columns per unit of loss.
    tilts : every entry's tilted law at every level, see :func:`tilt_table`.
    work : float64, shape (1, widest law), for the law of a free entry.
    guard, share : the guard's level, or -1, and its share of the trials.
    sign : of the losses that a filter observes.
    """

    levels: np.ndarray
    grid: np.ndarray
    phase: np.ndarray
    first: float
    per_column: float
    tilts: np.ndarray
    work: np.ndarray
    guard: int
    share: float
    sign: float

    @classmethod
    def of(cls, sampling: RoundByRound, menu: Menu, rounds: int) -> MeasureArrays:
        """The measure for one call of a kernel, which writes on ``work``."""
        grid, (first, last) = sampling.grid, sampling.span
        tilts = tilt_table(menu, sampling)
        return cls(
            sampling.levels,
            grid,
            phase_of(rounds, grid.shape[0]),
            first,
            grid.shape[1] / (last - first),
            tilts,
            np.zeros((1, tilts.shape[1])),
            len(sampling.levels) - 1 if isinstance(sampling, Guarded) else -1,
            sampling.share if isinstance(sampling, Guarded) else 0.0,
            -1.0 if menu.exchanged else 1.0,
        )


class KeptTilted(NamedTuple):
    """What a kernel of tilted play fills.

    Attributes
    ----------
    losses, log_weights : float64, shape (trials,).
    answers : shape (trials, rounds); of shape (0, rounds) they are not kept.
    path : shape (trials, rounds, 4), see :meth:`TiltedEngine.play`; or (0, rounds, 4).
    """

    losses: np.ndarray
    log_weights: np.ndarray
    answers: np.ndarray
    path: np.ndarray


def tilted_kernel(menu: Menu, compile_: Compile) -> Callable[..., Any]:
    """A kernel that plays tilted trials, bound to the menu's rule and mechanisms."""
    room, begin, step = advance(menu.rule, compile_)
    prepare = dispatch([kind.prepare for kind in menu.kinds], compile_)
    tilt = dispatch([tilting(kind, "tilt") for kind in menu.kinds], compile_)
    sample = dispatch([tilting(kind, "sample_tilted") for kind in menu.kinds], compile_)
    loss_of = dispatch([kind.loss for kind in menu.kinds], compile_)
    admit, unspent = compile_(menu.admission.step), menu.admission.initial
    observe = compile_(menu.observe)
    any_free = menu.any_free
    borrow = unowned(compile_)

    def kernel(entries, measure, coins, noise, kept):  # type: ignore[no-untyped-def]
        first_state, kind, rows, table, low, high, costs, limits, work = entries
        levels, grid, phase, first, per_column, tilts, work_tilted, guard, share, sign = measure
        losses, log_weights, answers, path = kept
        params_of, tilted_of = borrow(table), borrow(tilts)
        free, free_tilted = borrow(work)[0], borrow(work_tilted)[0]
        count = levels.shape[0]
        guarded = guard >= 0
        columns = grid.shape[1]
        steered = grid.shape[0] * columns > 1
        memory = room()
        for trial in range(losses.shape[0]):
            state = begin(memory, first_state)
            answer = math.nan
            loss = 0.0
            log_weight = 0.0
            log_guard = 0.0
            spent = unspent
            level = grid[0, 0]
            guarding = guarded and noise.random() < share
            for i in range(phase.shape[0]):
                state, move, parameter, unsure = step(state, i, answer, coins)
                if unsure:
                    return UNSURE, trial, i, 0, 0.0, 0.0, 0.0
                entry = int(move)
                if entry != move or entry < 0 or entry >= table.shape[0]:
                    return OFF_MENU, trial, i, 0, float(move), 0.0, 0.0
                if steered:
                    place = min(max((loss - first) * per_column, 0.0), columns - 1.0)
                    level = grid[phase[i], int(place)]
                params = params_of[entry]
                drawn = guard if guarding else level
                tilted = tilted_of[entry * count + drawn]
                psi = tilts[entry * count + level, 0]
                psi_guard = tilts[entry * count + guard, 0] if guarded else 0.0
                cost = costs[entry, 0]
                limit = limits[entry, 0]
                if any_free and low[entry] == low[entry]:
                    if not low[entry] <= parameter <= high[entry]:
                        return OUT_OF_RANGE, trial, i, entry, parameter, 0.0, 0.0
                    prepare(kind[entry], rows[entry], parameter, free)
                    params = free
                    if guarded:
                        other = level if guarding else guard
                        tilt(kind[entry], free, levels[other], free_tilted)
                        psi = psi_guard = free_tilted[0]
                    tilt(kind[entry], free, levels[drawn], free_tilted)
                    tilted = free_tilted
                    if guarding:
                        psi_guard = tilted[0]
                    else:
                        psi = tilted[0]
                    cost = parameter
                    limit += limits[entry, 1] * parameter
                round_loss = 0.0
                admitted, spent = admit(spent, cost, costs[entry, 1])
                if admitted:
                    answer = sample(kind[entry], params, tilted, noise)
                    round_loss = loss_of(kind[entry], params, answer)
                    loss += round_loss
                    if not abs(round_loss) <= limit - (answer - answer):
                        return FAULT, trial, i, entry, parameter, answer, round_loss
                    spent = observe(spent, sign * round_loss)
                    if round_loss < math.inf:  # infinite ones are drawn untilted, without a weight
                        log_weight += psi - levels[level] * round_loss
                        if guarded:
                            log_guard += psi_guard - levels[guard] * round_loss
                else:
                    answer = math.nan
                    entry = -1
                if answers.shape[0] > 0:
                    answers[trial, i] = answer
                if path.shape[0] > 0:
                    path[trial, i, 0] = entry
                    path[trial, i, 1] = level
                    path[trial, i, 2] = round_loss
                    path[trial, i, 3] = parameter
            if loss == -math.inf:
                return IMPOSSIBLE, trial, i, 0, 0.0, 0.0, loss
            losses[trial] = loss
            if guarded:
                one, two = math.log1p(-share) - log_weight, math.log(share) - log_guard
                peak = max(one, two)
                log_weight = -peak - math.log(math.exp(one - peak) + math.exp(two - peak))
            log_weights[trial] = log_weight
        return DONE, 0, 0, 0, 0.0, 0.0, 0.0

    return compile_(kernel)


def tilting(kind: Scalars, name: Literal["tilt", "tilt_width", "sample_tilted"]) -> Any:
    """One of the kind's functions for its tilted law; raises NotApplicable where it has none."""
    found = getattr(kind, name)
    if found is None:
        raise NotApplicable(
            f"the {kind.name} mechanism has no tilted sampler: play it without a measure"
        )
    return found


def tilted_row(kind: Scalars, params: np.ndarray, theta: float) -> np.ndarray:
    """The kind's tilted law at ``theta``; its psi comes first."""
    tilted = np.zeros(tilting(kind, "tilt_width")(params))
    tilting(kind, "tilt")(params, theta, tilted)
    return tilted


@dataclass(frozen=True)
class TiltedEngine:
    """A kernel for tilted play, with the menus of both experiments.

    Attributes
    ----------
    menus : of experiment 0, and of experiment 1 with the databases exchanged.
    seconds : time that compilation took.
    complaint : why numba could not compile the rule, or "" when it did.
    compiled : whether it plays compiled.
    """

    menus: tuple[Menu, Menu]
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
    ) -> TiltedEngine:
        """Check the menu and compile the rule's program; fall back to Python without one."""
        rule, unread = as_program(rule) if compiled else (rule, "")
        menus = (
            Menu.of(rule, family, relation, filter_),
            Menu.of(rule, family, relation, filter_, exchanged=True),
        )

        def try_out(kernel: Callable[..., Any]) -> None:
            rng = np.random.default_rng(0)
            none = np.zeros(0)
            cls(menus, kernel, 0.0).play(0, Tilted(0.0), 1, rng, rng, losses=none, log_weights=none)

        compiled = compiled and not unread
        kernel, seconds, complaint = compiled_or_not(tilted_kernel, menus[0], try_out, compiled)
        complaint = unread or complaint
        return cls(menus, kernel, seconds, complaint, compiled and not complaint)

    def play(
        self,
        b: int,
        sampling: RoundByRound,
        rounds: int,
        coins: np.random.Generator,
        noise: np.random.Generator,
        *,
        losses: np.ndarray,
        log_weights: np.ndarray,
        answers: np.ndarray | None = None,
        path: np.ndarray | None = None,
        first_trial: int = 0,
    ) -> None:
        """Play ``len(losses)`` trials tilted for experiment ``b``.

        Fills ``losses`` with the signed losses (L, or -L in experiment 1), ``log_weights`` with
        ln dP_b/dQ, and where given ``answers``, shape (trials, rounds), and ``path``, shape
        (trials, rounds, 4): each round's menu entry (-1 if refused), level, signed loss and
        parameter.
        Raises Breach.
        """
        menu = self.menus[b]
        measure = MeasureArrays.of(sampling, menu, rounds)
        kept = KeptTilted(
            losses,
            log_weights,
            np.zeros((0, rounds)) if answers is None else answers,
            np.zeros((0, rounds, 4)) if path is None else path,
        )
        ended = self.kernel(menu.entries(), measure, coins, noise, kept)
        raise_if_ended_early(menu, ended, b, first_trial, -math.inf)

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b`` under the specification's sampling."""
        s = specification
        sampling = s.sampling
        assert isinstance(sampling, RoundByRound)
        coins = generator(s.seed, s.task, Stream.COINS, block)
        noise = generator(s.seed, s.task, Stream.mechanism(b), block)
        signed = np.empty(s.trials_in(block))
        log_weights = np.empty_like(signed)

        def play(part: slice, first: int, answers: np.ndarray | None) -> None:
            self.play(
                b, sampling, s.rounds, coins, noise, losses=signed[part],
                log_weights=log_weights[part], answers=answers, first_trial=first,
            )  # fmt: skip

        views = play_in_parts(s, b, block, coins, play)
        return Outcome(b, block, -signed if b else signed, None, views, log_weights=log_weights)


def tilt_table(menu: Menu, sampling: RoundByRound) -> np.ndarray:
    """Every entry's tilted law at every level, one row each: shape (entries * levels, widest)."""
    rows = []
    for kind, params in zip((menu.kinds[k] for k in menu.kind), menu.params):
        for theta in sampling.levels.tolist():
            rows.append(tilted_row(kind, params, theta))
            require_digits(kind.name, theta, float(rows[-1][0]))
    return padded(rows)


def largest_psi(menu: Menu, theta: float, rounds: int) -> float:
    """A bound on the total psi of any play at ``theta`` >= 0; infinite if a loss may be."""
    return rounds * max(psi_bound(menu, entry, theta) for entry in range(len(menu.kind)))


def psi_bound(menu: Menu, entry: int, theta: float) -> float:
    """A bound on one round's psi with this entry, never below 0.

    The bound is psi itself, except for a free entry. There psi need not increase in the privacy
    parameter (for the exponential mechanism it vanishes at both ends if both databases have the
    same best candidate), so the bound is theta times that on the Renyi divergence.
    """
    kind, params = menu.kinds[menu.kind[entry]], menu.params[entry]
    if menu.is_free(entry):
        return theta * menu.guarantee(entry).renyi(1.0 + theta)
    if kind.outcomes and any(kind.loss(params, a) == math.inf for a in kind.outcomes(params)):
        return math.inf
    return max(0.0, float(tilted_row(kind, params, theta)[0]))


def psi_of(menu: Menu, entry: int, theta: float, parameter: float) -> float:
    """One round's psi with this entry; ``parameter`` is used for a free entry."""
    kind, params = menu.kinds[menu.kind[entry]], menu.params[entry]
    if menu.is_free(entry):
        params = np.zeros_like(params)
        kind.prepare(menu.rows[entry], parameter, params)
    return float(tilted_row(kind, params, theta)[0])


def slopes_of_psi(
    menu: Menu, entry: int, theta: float, step: float, parameter: float
) -> tuple[float, float]:
    """The first two derivatives of psi in theta, by central differences.

    ``parameter`` is used for a free entry.
    """
    low, middle, high = (psi_of(menu, entry, theta + h, parameter) for h in (-step, 0.0, step))
    return (high - low) / (2.0 * step), (high - 2.0 * middle + low) / step**2
