"""Play one block of one experiment; a pure function of (specification, b, block).

A small game is played in Python: a generator by Algorithm 1, see
:mod:`simulator.engine.algorithm_1`, a rule by its kernel, uncompiled. A large one is played by a
compiled kernel, plain or tilted, where the adversary's source is in the closed form. The draws are
the same. Where challenges are recorded that hold numbers of the program's own, Algorithm 1 plays
the first rounds of a compiled block as well, to record them. Under a covering measure an adversary
is played from its enumerated states. All but Algorithm 1 is imported when it is first used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.adversaries.contract import Challenge, Rule
from simulator.engine.algorithm_1 import play_as_generator, play_keeping
from simulator.engine.compiled import worth
from simulator.engine.compiled.compiling import numba_is_installed
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering
from simulator.engine.specification import Played, Specification, has_free_number
from simulator.foundations.errors import NotApplicable
from simulator.foundations.single_flight import made_once
from simulator.mechanisms import Free, ScalarMechanism

if TYPE_CHECKING:
    from simulator.engine.compiled.kernels import KernelKey
    from simulator.engine.compiled.plain_kernel import Engine
    from simulator.engine.compiled.programs import ProgramEngine
    from simulator.engine.compiled.tilted_kernel import TiltedEngine
    from simulator.engine.enumerated.covering import CoveringEngine

RECORDED = 1 << 16
"""Rounds of a block whose challenges are recorded, where a kernel plays it."""
LEAST_RECORDED = 16
"""Trials of a block that are recorded at least."""

__all__ = ["Outcome", "Specification", "play_block", "plays_without_lock", "prepared_engine"]


def play_block(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b``, by the engine for its adversary and its sampling."""
    s = specification
    if isinstance(s.sampling, Covering):
        return covering_engine(s, b).play_block(s, b, block)
    engine = prepared_engine(s)
    met: tuple[Challenge, ...] | None = ()
    if engine is not None and not (s.trust or s.has_whole_menu):
        met = met_at_first(s, b, block)
    if engine is None or met is None:
        outcome = play_as_generator(s, b, block)
    else:
        outcome = engine.play_block(s, b, block)
        outcome = replace(outcome, challenges=met) if met else outcome
    if engine is None or not engine.compiled:
        count_as_interpreted(s, outcome.trials * s.rounds)
    return outcome


def met_at_first(specification: Specification, b: int, block: int) -> tuple[Challenge, ...] | None:
    """The challenges of the block's first RECORDED rounds, and the menu's with no free number.

    None where these rounds do not meet every entry with a free number, so that the whole block is
    recorded.
    """
    s = specification
    assert isinstance(s.program, Rule)
    trials = max(RECORDED // s.rounds, LEAST_RECORDED)
    if trials >= s.trials_in(block):
        return None
    met = play_keeping(s, b, block, 0, trials).challenges
    free = [entry for entry in s.program.menu if has_free_number(entry)]
    if not all(any(_is_of(each, entry) for each in met) for entry in free):
        return None
    return (*met, *(entry for entry in s.program.menu if not has_free_number(entry)))


def _is_of(challenge: Challenge, entry: Challenge) -> bool:
    """Whether a challenge is an entry of a menu with some number in place of the free one."""
    mechanism, free = challenge.mechanism, entry.mechanism
    if not (isinstance(mechanism, ScalarMechanism) and isinstance(free, type(mechanism))):
        return False
    number = mechanism.parameter
    assert not isinstance(number, Free)
    return challenge[:2] == entry[:2] and mechanism == free.with_parameter(number)


def engine_for(specification: Specification, compiled: bool = True) -> Engine:
    """The kernel of a specification's program, compiled once in each process, or in Python."""
    return _engine(Played.of(specification), compiled)


def tilted_engine_for(specification: Specification, compiled: bool = True) -> TiltedEngine:
    """The kernel of a specification's program for tilted play; see :func:`engine_for`."""
    return _tilted_engine(Played.of(specification), compiled)


@made_once(maxsize=64)
def _engine(played: Played, compiled: bool) -> Engine:
    from simulator.engine.compiled.plain_kernel import Engine

    return Engine.build(*played.terms, compiled=compiled)


@made_once(maxsize=64)
def _tilted_engine(played: Played, compiled: bool) -> TiltedEngine:
    from simulator.engine.compiled.tilted_kernel import TiltedEngine

    return TiltedEngine.build(*played.terms, compiled=compiled)


@made_once(maxsize=64)
def _key(played: Played, plain: bool) -> KernelKey | None:
    """The key of the kernel that plays a program, or None where Python plays it in any case."""
    from simulator.engine.compiled.kernels import KernelKey
    from simulator.engine.compiled.menu import Menu
    from simulator.engine.compiled.plain_kernel import plain_kernel
    from simulator.engine.compiled.steps import as_program
    from simulator.engine.compiled.tilted_kernel import tilted_kernel

    program, family, relation, filter_ = played.terms
    program, unread = as_program(program)
    if unread:
        return None
    make = plain_kernel if plain else tilted_kernel
    try:
        return KernelKey.of(make, Menu.of(program, family, relation, filter_), lambda kernel: None)
    except NotApplicable:  # a filter without a step for kernels, say
        return None


def is_worth_compiling(specification: Specification, rounds: int, plain: bool) -> bool:
    """Whether ``rounds`` rounds of a specification's program are played by a compiled kernel."""
    if rounds >= worth.WORTH_COMPILING:
        return True
    if rounds < worth.WORTH_A_LOOK or not numba_is_installed():
        return False
    key = _key(Played.of(specification), plain)
    return key is not None and worth.is_worth_compiling(key, rounds)


def is_compiled_for(specification: Specification) -> bool:
    """Whether the whole play of a specification is worth a compiled kernel."""
    s = specification
    rounds = s.trials * (s.rounds + worth.BEGINNING)
    if isinstance(s.sampling, Covering) or rounds < worth.WORTH_A_LOOK or not s.is_read:
        return False
    return is_worth_compiling(s, rounds, s.sampling is None)


def count_as_interpreted(specification: Specification, rounds: int) -> None:
    """Count rounds that are played in Python, so that the next ones may be worth a kernel."""
    s = specification
    if s.trials * s.rounds >= worth.WORTH_A_LOOK and s.is_read and numba_is_installed():
        key = _key(Played.of(s), s.sampling is None)
        if key is not None:
            worth.was_interpreted(key, rounds)


def covering_engine(specification: Specification, b: int) -> CoveringEngine:
    """The engine of covering measures of experiment ``b``, from the rule's states, enumerated once.

    Raises NotApplicable for an adversary that is not read, or cannot be enumerated.
    """
    s = specification
    found = _covering_engine(Played.of(s), s.rounds, b)
    if isinstance(found, str):
        raise NotApplicable(found)
    return found


@made_once(maxsize=16)
def _covering_engine(played: Played, rounds: int, b: int) -> CoveringEngine | str:
    """The engine, or why there is none; both are cached, as either may take seconds."""
    from simulator.engine.compiled.menu import Menu
    from simulator.engine.enumerated.covering import CoveringEngine

    try:
        menu = Menu.of(*played.terms, exchanged=bool(b))
        return CoveringEngine(menu, rounds)
    except NotApplicable as error:
        return str(error)


def prepared_engine(specification: Specification) -> Engine | TiltedEngine | ProgramEngine | None:
    """The engine of a rule, or of a generator's program where the game is worth a compiled kernel.

    None where Algorithm 1 plays, and for a covering measure.
    """
    s = specification
    if isinstance(s.sampling, Covering):
        return None
    plain, compiled = s.sampling is None, is_compiled_for(s)  # a small game is not read
    if isinstance(s.adversary, Rule):
        return engine_for(s, compiled) if plain else tilted_engine_for(s, compiled)
    if not compiled:
        return None
    found = _program_engine(Played.of(s), plain)
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
    return engine is not None and engine.compiled
