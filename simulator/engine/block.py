"""Play one block of one experiment; a pure function of (specification, b, block).

Algorithm 1 plays a generator adversary, see :mod:`simulator.engine.algorithm_1`; where the game is
large and the adversary's source is in the closed form, its program is compiled. A compiled kernel
plays a :class:`~simulator.adversaries.contract.Rule`, plain or tilted; under a covering measure it
is played from its enumerated states. All but Algorithm 1 and the plain kernel are imported when
they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.adversaries.contract import Rule
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.compiled.compiling import numba_is_installed
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering
from simulator.engine.specification import Played, Specification
from simulator.foundations.errors import NotApplicable
from simulator.foundations.single_flight import made_once

if TYPE_CHECKING:
    from simulator.engine.compiled.programs import ProgramEngine
    from simulator.engine.compiled.tilted_kernel import TiltedEngine
    from simulator.engine.enumerated.covering import CoveringEngine

WORTH_COMPILING = 500_000
"""Rounds of an experiment from which on compiling a generator, some two seconds, is worth it."""

__all__ = ["Outcome", "Specification", "play_block", "plays_without_lock", "prepared_engine"]


def play_block(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b``, by the engine for its adversary and its sampling."""
    s = specification
    if isinstance(s.sampling, Covering):
        return covering_engine(s, b).play_block(s, b, block)
    engine = prepared_engine(s)
    if engine is None:
        return play_as_generator(s, b, block)
    return engine.play_block(s, b, block)


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
    from simulator.engine.compiled.tilted_kernel import TiltedEngine

    return TiltedEngine.build(*played.terms)


def covering_engine(specification: Specification, b: int) -> CoveringEngine:
    """The engine of covering measures of experiment ``b``, from the rule's states, enumerated once.

    Raises NotApplicable for a generator, and for a rule that cannot be enumerated.
    """
    s = specification
    found = _covering_engine(Played.of(s), s.rounds, b)
    if isinstance(found, str):
        raise NotApplicable(found)
    return found


@made_once(maxsize=16)
def _covering_engine(played: Played, rounds: int, b: int) -> CoveringEngine | str:
    """The engine, or why there is none; both are cached, as either may take seconds."""
    from simulator.engine.enumerated.covering import CoveringEngine

    s = played.specification
    try:
        rule = s.adversary
        if not isinstance(rule, Rule):
            from simulator.adversaries.program.rules import rule_of_generator

            rule = rule_of_generator(rule, s.family, s.relation)
        menu = Menu.of(rule, s.family, s.relation, s.filter, exchanged=bool(b))
        return CoveringEngine(menu, rounds)
    except NotApplicable as error:
        return str(error)


def prepared_engine(specification: Specification) -> Engine | TiltedEngine | ProgramEngine | None:
    """The compiled engine of a rule, or of a generator in a large game where it can be compiled.

    None where the adversary is interpreted, and for a covering measure.
    """
    s = specification
    if isinstance(s.sampling, Covering):
        return None
    if isinstance(s.adversary, Rule):
        return engine_for(s) if s.sampling is None else tilted_engine_for(s)
    if not s.trust or s.trials * s.rounds < WORTH_COMPILING:
        return None
    found = _program_engine(Played.of(s), s.sampling is None)
    return None if isinstance(found, str) else found


@made_once(maxsize=32)
def _program_engine(played: Played, plain: bool) -> ProgramEngine | str:
    """The engine of a generator's program, or why it is interpreted; both are cached."""
    from simulator.engine.compiled.programs import program_engine

    try:
        return program_engine(played.specification)
    except Exception as error:  # the user's code may raise anything
        return str(error)


def repeats_of(specification: Specification) -> int:
    """How often a compiled rule's kernel has played trials again in Python, in this process."""
    engine = prepared_engine(specification)
    return getattr(engine.kernel, "repeats", 0) if engine else 0


def plays_without_lock(specification: Specification) -> bool:
    """Whether blocks are played without the interpreter lock, so that threads are faster.

    Those of a covering measure are, and their threads share one enumeration.
    """
    if isinstance(specification.sampling, Covering):
        return numba_is_installed()
    engine = prepared_engine(specification)
    return engine is not None and not engine.complaint
