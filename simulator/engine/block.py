"""Play one block of one experiment. Pure: (specification, b, block) gives the outcome.

This is Algorithm 1 of Roth 2011 (Lecture 4), Compose(A, M, k, b), played trial after trial. A
generator adversary is interpreted; a :class:`~simulator.adversaries.contract.Rule` is handed to
its compiled kernel.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine, largest_psi
from simulator.engine.enumerated.covering import CoveringEngine
from simulator.engine.interpreted.interpreter import play_interpreted
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering, Guarded, RoundByRound, Sampling, Tilted
from simulator.engine.specification import Played, Specification
from simulator.engine.views.views import View
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Stream, generator, record
from simulator.foundations.single_flight import made_once

__all__ = ["Outcome", "Specification", "play_block", "prepared_engine"]


def play_block(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b``, by the compiled kernel where the adversary is a rule."""
    s = specification
    if isinstance(s.sampling, Covering):
        return play_covering(s, b, block)
    if isinstance(s.adversary, Rule):
        return play_rule(s, b, block) if s.sampling is None else play_tilted_rule(s, b, block)
    return play_interpreted(s, b, block)


def engine_for(specification: Specification) -> Engine:
    """The kernel of a specification's rule, compiled once in each process."""
    return _engine(Played.of(specification))


def tilted_engine_for(specification: Specification) -> TiltedEngine:
    """The kernel of a specification's rule for tilted play, compiled once in each process."""
    return _tilted_engine(Played.of(specification))


@made_once(maxsize=32)
def _engine(played: Played) -> Engine:
    return Engine.build(*played.terms)


@made_once(maxsize=32)
def _tilted_engine(played: Played) -> TiltedEngine:
    return TiltedEngine.build(*played.terms)


def covering_engine(specification: Specification, b: int) -> CoveringEngine:
    """What plays covering measures of experiment ``b``: the states of the rule, enumerated once.

    Raises NotApplicable for a generator, and for a rule that cannot be enumerated.
    """
    s = specification
    if not isinstance(s.adversary, Rule):
        raise NotApplicable("a generator's states cannot be enumerated: write a rule over a menu")
    found = _covering_engine(Played.of(s), s.rounds, b)
    if isinstance(found, str):
        raise NotApplicable(found)
    return found


@made_once(maxsize=16)
def _covering_engine(played: Played, rounds: int, b: int) -> CoveringEngine | str:
    """The engine, or why there is none: to find that out may take seconds, and is asked again."""
    rule, family, relation, filter_ = played.terms
    menu = Menu.of(rule, family, relation, filter_, exchanged=bool(b))
    try:
        return CoveringEngine(menu, rounds, filter_)
    except NotApplicable as error:
        return str(error)


def play_covering(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block for experiment ``b`` under a covering measure."""
    s = specification
    assert isinstance(s.sampling, Covering)
    engine = covering_engine(s, b)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    signed = np.empty(s.trials_in(block))
    engine.play(s.sampling.theta, noise, signed)
    log_weights = engine.moments.log_moment(s.sampling.theta) - s.sampling.theta * signed
    return Outcome(b, block, losses=-signed if b else signed, log_weights=log_weights)


def prepared_engine(specification: Specification) -> Engine | TiltedEngine | None:
    """Compile what the specification will play; None where it is interpreted."""
    s = specification
    if not isinstance(s.adversary, Rule) or isinstance(s.sampling, Covering):
        return None
    make = engine_for if specification.sampling is None else tilted_engine_for
    return make(specification)


def play_rule(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b`` with the kernel of a rule."""
    s = specification
    engine = engine_for(s)
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    first = block * s.block_size
    losses = np.empty(s.trials_in(block))
    trace = np.zeros((3, s.rounds)) if s.trace else None
    views = []
    kept = s.views_in(block)
    for t in range(kept):  # one at a time, to record where the coins stood
        state = record(coins)
        answers = np.empty((1, s.rounds))
        engine.play(
            b, coins, noise, losses[t : t + 1], s.rounds,
            trace=trace, answers=answers, first_trial=first + t,
        )  # fmt: skip
        views.append(View(b, first + t, state, tuple(answers[0].tolist())))
    engine.play(b, coins, noise, losses[kept:], s.rounds, trace=trace, first_trial=first + kept)
    return Outcome(b, block, losses, trace, tuple(views))


def play_tilted_rule(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block for experiment ``b`` under the specification's sampling."""
    s = specification
    assert isinstance(s.adversary, Rule)
    assert isinstance(s.sampling, RoundByRound)
    engine = tilted_engine_for(s)
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    first = block * s.block_size
    signed = np.empty(s.trials_in(block))
    log_weights = np.empty_like(signed)
    views = []
    kept = s.views_in(block)
    for t in range(kept):
        state = record(coins)
        answers = np.empty((1, s.rounds))
        one = slice(t, t + 1)
        engine.play(
            b, s.sampling, s.rounds, coins, noise,
            losses=signed[one], log_weights=log_weights[one], answers=answers,
            first_trial=first + t,
        )  # fmt: skip
        views.append(View(b, first + t, state, tuple(answers[0].tolist())))
    rest = slice(kept, None)
    engine.play(
        b, s.sampling, s.rounds, coins, noise,
        losses=signed[rest], log_weights=log_weights[rest], first_trial=first + kept,
    )  # fmt: skip
    losses = -signed if b else signed
    return Outcome(b, block, losses, None, tuple(views), log_weights=log_weights)


def total_psi_bound(specification: Specification, b: int) -> float:
    """A bound on the sum of psi over the rounds of any play, known before any is played.

    From a rule's menu; from the family for a generator, by psi(theta) = theta D_{1+theta}(P0||P1)
    and the family's bound on that Renyi divergence; of a guarded measure that of its guard. Of a
    covering measure it is the exponent of every weight itself. Infinite for steered sampling, and
    where a loss may be infinite. Raises NotApplicable unless theta >= 0.
    """
    s = specification
    if isinstance(s.sampling, Covering):
        return covering_engine(s, b).moments.log_moment(s.sampling.theta)
    if not isinstance(s.sampling, Tilted | Guarded):
        return math.inf
    return psi_bound_at(s, b, s.sampling.theta)


def psi_bound_at(specification: Specification, b: int, theta: float) -> float:
    """A bound on the sum of psi(``theta``) over the rounds of any play; raises NotApplicable."""
    s = specification
    if theta < 0:
        raise NotApplicable(f"psi is bounded in advance for theta >= 0 only, not {theta:g}")
    if theta == 0:
        return 0.0
    if isinstance(s.adversary, Rule):
        return menu_psi_bound(Played.of(s), b, theta, s.rounds)
    return s.rounds * theta * s.family.renyi(1.0 + theta)


def weight_exponent(sampling: Sampling | None) -> tuple[float, float] | None:
    """(theta, offset) such that ln W <= Psi + offset - theta L on every view; None where none is.

    Psi is :func:`total_psi_bound`.
    """
    if isinstance(sampling, Guarded):
        return sampling.theta, -math.log(sampling.share)
    if isinstance(sampling, Tilted | Covering) and sampling.theta >= 0.0:
        return sampling.theta, 0.0
    return None


@lru_cache(maxsize=256)
def menu_psi_bound(played: Played, b: int, theta: float, rounds: int) -> float:
    """``largest_psi`` of the rule's menu: an estimate asks for it again and again."""
    engine = tilted_engine_for(played.specification)
    return largest_psi(engine.menus[b], theta, rounds)
