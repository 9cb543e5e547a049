"""RAPPOR: randomized response on a Bloom filter (Erlingsson, Pihur and Korolova 2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from experiments.suite.mechanisms.entry import AnswerLaw, StandardMechanism
from simulator.auditing.audits.patterns import Input
from simulator.theory import PureDP

HASHES = 4
BITS = 20
WORD = 0xFFFFFFFF


def rotated(word: int, places: int) -> int:
    """A 32-bit word rotated to the left."""
    return (word << places | word >> (32 - places)) & WORD


def murmur(key: bytes, seed: int) -> int:
    """The 32-bit MurmurHash3 of a key, as a signed integer (Appleby, public domain)."""

    def scrambled(word: int) -> int:
        return rotated(word * 0xCC9E2D51 & WORD, 15) * 0x1B873593 & WORD

    state, whole = seed, len(key) // 4 * 4
    for start in range(0, whole, 4):
        state ^= scrambled(int.from_bytes(key[start : start + 4], "little"))
        state = (rotated(state, 13) * 5 + 0xE6546B64) & WORD
    state ^= scrambled(int.from_bytes(key[whole:], "little")) ^ len(key)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state >> shift) * factor & WORD
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


@cache
def bloom(value: int) -> np.ndarray:
    """Which of BITS bits the decimal form of a value sets, boolean."""
    bits = np.zeros(BITS, dtype=bool)
    bits[[murmur(str(value).encode(), seed) % BITS for seed in range(HASHES)]] = True
    return bits


@dataclass(frozen=True)
class BitFlips(AnswerLaw):
    """Every bit is answered truthfully with the same probability, above one half.

    Attributes
    ----------
    share : f, the share of bits that are replaced by a fair coin, permanently.
    one, zero : q and p, the probabilities of the answer 1 for a bit that is then 1, or 0; by
        default there is no second randomization.
    """

    share: float
    one: float = 1.0
    zero: float = 0.0

    @property
    def kept(self) -> float:
        """Pr[answer 1 | bit 1]; with q = 1 - p also Pr[answer 0 | bit 0]."""
        half = self.share / 2.0
        return (1.0 - half) * self.one + half * self.zero

    @property
    def per_bit(self) -> float:
        """Ln of the ratio of a single bit."""
        return math.log(self.kept / (1.0 - self.kept))

    def sample(self, input: Input, n: int, rng: np.random.Generator) -> np.ndarray:
        """Bits, int8 of shape (n, BITS)."""
        # two rounds of randomized response have the law of one
        chance = np.where(bloom(int(input[0])), self.kept, 1.0 - self.kept)
        return (rng.random((n, BITS)) < chance).astype(np.int8)

    def supremum(self, input_0: Input, input_1: Input) -> float:
        """The loss of one bit times the number of bits in which the filters differ."""
        return self.per_bit * int(np.sum(bloom(int(input_0[0])) != bloom(int(input_1[0]))))

    def loss(self, input_0: Input, input_1: Input, answers: np.ndarray) -> np.ndarray:
        """See :meth:`AnswerLaw.loss`."""
        sign = bloom(int(input_0[0])).astype(float) - bloom(int(input_1[0]))
        return self.per_bit * ((2.0 * answers - 1.0) @ sign)


def entry(name: str, law: BitFlips, source: str) -> StandardMechanism:
    """The mechanism with that law."""
    return StandardMechanism(
        name=name,
        sample=law.sample,
        claimed=PureDP(2 * HASHES * law.per_bit),
        epsilon=2 * HASHES * law.per_bit,
        reason="filters of four bits each that share none",
        length=1,
        relation="one coordinate",
        answer="vector",
        law=law,
        source=source,
    )


MECHANISMS = (
    entry("rappor", BitFlips(0.75, 0.55, 0.45), "Erlingsson et al. 2014, steps 1 to 3"),
    entry("one-time-rappor", BitFlips(0.95), "Erlingsson et al. 2014, steps 1 and 2"),
)
