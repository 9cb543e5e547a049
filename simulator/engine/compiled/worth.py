"""Whether a kernel is compiled for a play: draws are the same either way, so time alone decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.engine.compiled.kernels import KernelKey

WORTH_COMPILING = 400_000
"""Rounds of an experiment from which on a kernel is compiled, which takes two to three seconds.

Python plays .4 million rounds a second: both experiments of fewer rounds are over in two."""
WORTH_LOADING = 100_000
"""Rounds from which on machine code on disk is loaded: with numba, half a second."""
WORTH_A_LOOK = 60_000
"""Rounds, a third of a second, from which on the source is read for its kernel."""
BEGINNING = 2
"""Rounds in whose time Python begins a trial."""
MOST_KEYS = 256

_interpreted: dict[KernelKey, int] = {}


def is_worth_compiling(key: KernelKey, rounds: int) -> bool:
    """Whether a play of so many rounds of an experiment pays for its kernel.

    It does, too, if the kernel is there, or if as much was played in Python without it before: a
    study of many small games compiles one.
    """
    from simulator.engine.compiled.kernels import is_compiled  # a small game needs neither
    from simulator.engine.compiled.stored_code import is_stored

    both = _interpreted.get(key, 0)
    if is_compiled(key) or rounds >= WORTH_COMPILING or both >= 2 * WORTH_COMPILING:
        return True
    return rounds >= WORTH_LOADING and is_stored(key.name, key.step)


def was_interpreted(key: KernelKey, rounds: int) -> None:
    """Count rounds, of both experiments, that were played in Python and not by the kernel."""
    before = _interpreted.pop(key, 0)
    _interpreted[key] = before + rounds
    while len(_interpreted) > MOST_KEYS:
        _interpreted.pop(next(iter(_interpreted)), None)
