"""Many draws of Laplace noise at once, each a standard exponential and a uniform for its sign.

numpy makes the exponential by a ziggurat of 256 layers. Nearly always that takes one word of 64
bits, and is a product: of the word's upper 53 bits, and of a width that belongs to the layer which
its bits 3 to 10 name. So words are read ahead and multiplied all at once. Where a word lies near
its layer's edge, numpy itself draws, from the generator at that very place. The widths are
found by asking numpy, and held against it once in a process; where they fail, numpy draws all.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from simulator.foundations.seeds import record, restore

LAYERS = 256
_LAYER_SHIFT, _PLACE_SHIFT = np.uint64(3), np.uint64(11)
_LAYER_MASK, _TOP = np.uint64(LAYERS - 1), np.uint64(1 << 63)
_MARGIN = 1e-9
"""Of a layer's products, next to its edge, that are left to numpy: we know the edge roughly."""


class Ziggurat(NamedTuple):
    """Of each layer the width of a step, and how many steps certainly lie inside."""

    width: np.ndarray
    inside: np.ndarray


def laplace_draws(generator: np.random.Generator, n: int) -> list[float]:
    """Draw Laplace noise of scale 1, some ``n`` times and at least once.

    The numbers, and where the generator stands afterwards, are those of
    ``standard_exponential() * (1.0 if random() < 0.5 else -1.0)`` one after another.
    ``generator`` is one of :mod:`simulator.foundations.seeds`.
    """
    layers = ziggurat()
    if layers is None:
        return [_one(generator) for _ in range(n)]
    walk = generator.bit_generator.random_raw  # its words are those that we know
    words = restore(record(generator)).bit_generator.random_raw(2 * n)
    layer = (words >> _LAYER_SHIFT) & _LAYER_MASK
    place = words >> _PLACE_SHIFT
    magnitude = place * layers.width.take(layer)
    # a uniform below one half is a word without its highest bit, which is also a float's sign
    signed = (magnitude.view(np.uint64)[:-1] | (words[1:] & _TOP)).view(np.float64)
    drawn: list[float] = []
    stands = start = 0  # the generator's place among the words, and that of the next draw
    for edge in np.flatnonzero(place >= layers.inside.take(layer)).tolist():
        if edge < start or (edge - start) % 2:  # used before, or the word of a sign
            continue
        drawn += signed[start:edge:2].tolist()
        walk(edge - stands)
        size, sign = generator.standard_exponential(), walk()
        drawn.append(-size if sign >> 63 else size)
        start = edge + 2  # where the sign's word is found, for it may have taken several
        while start <= len(words) and words[start - 1] != sign:
            start += 1
        stands = start
    end = start + max(0, len(words) - start) // 2 * 2
    drawn += signed[start:end:2].tolist()
    walk(end - stands)
    return drawn


def _one(generator: np.random.Generator) -> float:
    size = generator.standard_exponential()
    return size * (1.0 if generator.random() < 0.5 else -1.0)


@cache
def ziggurat() -> Ziggurat | None:
    """The layers of numpy's ziggurat; None where it draws in some other way."""
    width = np.array([_from_word(layer, 1)[0] for layer in range(LAYERS)])
    # a layer ends where the one before it does; the first is the tail's, and the second is empty
    share = np.concatenate(([width[-1] / width[0], 0.0], width[1:-1] / width[2:]))
    share = np.where((share > 0.0) & (share < 1.0), share, 0.0)
    inside = np.floor(share * (1.0 - _MARGIN) * 2.0**53).astype(np.uint64)
    for layer, steps in enumerate(inside.tolist()):
        if steps and _from_word(layer, steps - 1) != ((steps - 1) * width[layer], 1):
            return None
    halves = [_next_is(word).random() for word in ((1 << 63) - 1, 1 << 63)]
    return Ziggurat(width, inside) if halves[0] < 0.5 == halves[1] else None


def _from_word(layer: int, place: int) -> tuple[float, int]:
    """The exponential that numpy makes of a word, and how many words it takes."""
    generator = _next_is(place << 11 | layer << 3)
    size = generator.standard_exponential()
    return size, record(generator)[3]


def _next_is(word: int) -> np.random.Generator:
    """A generator whose next word this is: of SFC64 the sum of three that it holds."""
    return restore((word, 0, 0, 0, 0, 0))
