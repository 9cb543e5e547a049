"""The only place that makes random generators.

A generator is a function of (root seed, task, stream, block) alone, so that results do not depend
on the number of jobs, the order of completion or an interruption, and so that the two experiments
can share the adversary's coins while their mechanisms draw independently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np


class Rootless(np.random.bit_generator.ISeedSequence):
    """The seed of a generator whose state is set afterwards; no stream can be derived from it.

    The adversary and the mechanisms receive generators. From the seed sequence of one stream the
    other streams could be derived, and a spawned generator would not replay.
    """

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        """Return zeros, shape (n_words,)."""
        return np.zeros(n_words, dtype=dtype)


class Stream(IntEnum):
    """The user of the draws. The adversary's coins are one stream for both experiments."""

    COINS = 0
    MECHANISM_0 = 1
    MECHANISM_1 = 2
    PILOT = 3
    DECLARED = 4

    @classmethod
    def mechanism(cls, experiment: int) -> Stream:
        """The mechanisms' stream of experiment 0 or 1."""
        return cls.MECHANISM_1 if experiment else cls.MECHANISM_0


class Pilot(IntEnum):
    """The purpose of a held-out play: the number of the first such play in the stream PILOT.

    Several plays have consecutive numbers, at most 100.
    """

    SPLITTING_LEVELS = 0
    MEASURES = 200
    SHOWN = 700


def generator(root: int, task: int, stream: Stream, block: int) -> np.random.Generator:
    """Make the generator of one stream of one block.

    Parameters
    ----------
    root : the user's seed, >= 0.
    task : a number that names the specification, so that different tasks never share draws.
    stream : who draws.
    block : index of the block, >= 0.

    Notes
    -----
    SeedSequence with a spawn key gives random access without state. SFC64 is the fastest of
    numpy's bit generators (a compiled round is little more than its draws), and its 256 bits of
    state leave no room for streams to meet. The generator forgets its seed, see
    :class:`Rootless`: ``spawn`` raises TypeError.
    """
    sequence = np.random.SeedSequence(root, spawn_key=(task, int(stream), block))
    return restore(record(np.random.Generator(np.random.SFC64(sequence))))


def named_seed(root: int, name: str, number: int) -> int:
    """A root seed below 2^48 that depends on the root, the name and the number alone."""
    digest = hashlib.sha256(f"{root}\n{number}\n{name}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def pilot_generators(
    root: int, task: int, number: int
) -> tuple[np.random.Generator, np.random.Generator]:
    """Make two generators for a held-out play; equal numbers, see :class:`Pilot`, draw the same."""
    first, second = (generator(root, task, Stream.PILOT, 2 * number + i) for i in (0, 1))
    return first, second


def record(generator: np.random.Generator) -> tuple[int, ...]:
    """The state of a generator of this module, as six whole numbers below 2^64."""
    state: Any = generator.bit_generator.state
    words = state["state"]["state"].tolist()
    return (*words, int(state["has_uint32"]), int(state["uinteger"]))


def restore(recorded: Sequence[int]) -> np.random.Generator:
    """Make a generator that continues from a state that ``record`` returned."""
    bits = np.random.SFC64(Rootless())  # type: ignore[arg-type]
    bits.state = {
        "bit_generator": "SFC64",
        "state": {"state": np.array(recorded[:4], dtype=np.uint64)},
        "has_uint32": int(recorded[4]),
        "uinteger": int(recorded[5]),
    }
    return np.random.Generator(bits)
