"""Play one block of one experiment; a pure function of (specification, b, block).

This is Algorithm 1 of Roth 2011 (Lecture 4), Compose(A, M, k, b), played trial after trial. A
generator adversary is interpreted, or compiled where the game is large and its source is in the
closed form; a :class:`~simulator.adversaries.contract.Rule` is played by a compiled kernel, plain
or tilted, or from its enumerated states under a covering measure.
"""

from __future__ import annotations

from typing import Protocol

from simulator.adversaries.contract import Rule
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.adversaries.program.rules import rule_of
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.programs import WORTH_COMPILING, ProgramEngine, program_engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.enumerated.covering import CoveringEngine
from simulator.engine.interpreted.interpreter import play_interpreted
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering
from simulator.engine.specification import Played, Specification
from simulator.foundations.errors import NotApplicable
from simulator.foundations.single_flight import made_once

__all__ = ["Outcome", "Specification", "play_block", "plays_without_lock", "prepared_engine"]


class BlockEngine(Protocol):
    """An engine that plays blocks of the specification for which it was made."""

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b``."""


class Interpreter:
    """The engine that plays any adversary in Python, without preparation."""

    def play_block(self, specification: Specification, b: int, block: int) -> Outcome:
        """Play one block of experiment ``b``."""
        return play_interpreted(specification, b, block)


def play_block(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b``."""
    return engine_of(specification, b).play_block(specification, b, block)


def engine_of(specification: Specification, b: int) -> BlockEngine:
    """The engine for a specification's adversary and sampling; the only choice of engine."""
    s = specification
    if isinstance(s.sampling, Covering):
        return covering_engine(s, b)
    return prepared_engine(s) or Interpreter()


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
    s = played.specification
    try:
        rule = s.adversary
        if not isinstance(rule, Rule):
            rule = rule_of(machine_of(read(rule)), s.family, s.relation)
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
    try:
        return program_engine(played.specification)
    except Exception as error:  # the user's code may raise anything
        return str(error)


def plays_without_lock(specification: Specification) -> bool:
    """Whether blocks are played without the interpreter lock, so that threads are faster."""
    engine = prepared_engine(specification)
    return engine is not None and not engine.complaint
