"""Numbers drawn from a generator before they are asked for: the same ones, in the same order.

An adversary that asks one kind of mechanism round after round needs one kind of number, and numpy
draws hundreds of them at the price of a few calls. Where another kind is asked in between, what
was not used is put back: the generator stands where it would, had each been drawn by itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator.engine.interpreted.laplace_draws import laplace_draws
from simulator.engine.interpreted.scalar_draws import ScalarDraws

PATIENCE = 64
"""Numbers of one kind in a row that are drawn by themselves, before any is drawn ahead.

Twice as many each time that most of what was drawn ahead had to be put back.
"""
MOST = 512
"""Numbers drawn at once; they are twice as many each time."""


class Ahead:
    """Numbers of one kind, from a source that others may share.

    Attributes
    ----------
    left : those that were drawn and not yet used, the next one last: take it by ``left.pop()``,
        and where there is none call :meth:`more`.
    """

    def __init__(
        self, source: NoiseSource, one: Callable[[], float], several: Callable[[int], list[float]]
    ) -> None:
        self.left: list[float] = []
        self._source, self._one, self._several = source, one, several
        self._asked = self._drawn = 0
        self._patience = PATIENCE
        self._stood: object = None

    def more(self) -> float:
        """The next number where none is left; draws others ahead of their time."""
        source, reader = self._source, self._source.reader
        if reader is not self:  # kinds may alternate: that must cost little
            if reader is not None and reader.left:
                reader.put_back()
            source.reader = self
            self._asked, self._drawn = 1, 0
            return self._one()
        self._asked += 1
        if self._asked <= self._patience or source.lent:
            return self._one()
        bits = source.generator.bit_generator
        self._stood = bits.state
        drawn = self._several(min(max(2 * self._drawn, PATIENCE), MOST))
        self._drawn = len(drawn)
        drawn.reverse()
        self.left += drawn
        return self.left.pop()

    def put_back(self) -> None:
        """Let the generator stand where the last number that was used left it; some are left."""
        used = self._drawn - len(self.left)
        if 2 * used < self._drawn:
            self._patience *= 2
        self.left.clear()
        self._source.generator.bit_generator.state = self._stood  # type: ignore[assignment]
        for _ in range(used):
            self._one()


class NoiseSource:
    """A generator that gives numbers of several kinds, of which one is read ahead at a time.

    Attributes
    ----------
    generator : where all numbers come from.
    scalars : the same, for functions that ask for one number at a time; :meth:`put_back` first.
    uniforms, normals, laplaces : numbers of one kind: uniform on [0, 1), standard normal, and
        Laplace of scale 1 as a standard exponential, then a uniform for its sign.
    reader : the kind that was asked for last, where that is one of these.
    lent : whether somebody has been handed the generator; nothing is read ahead from then on.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.scalars = ScalarDraws(generator)
        self.reader: Ahead | None = None
        self.lent = False
        exponential, uniform = self.scalars.standard_exponential, self.scalars.random

        def laplace() -> float:
            magnitude: float = exponential()
            return magnitude * (1.0 if uniform() < 0.5 else -1.0)

        self.uniforms = Ahead(self, uniform, lambda n: generator.random(n).tolist())
        self.normals = Ahead(
            self, self.scalars.standard_normal, lambda n: generator.standard_normal(n).tolist()
        )
        self.laplaces = Ahead(self, laplace, lambda n: laplace_draws(generator, n))

    def put_back(self) -> None:
        """Put back what was drawn ahead, for draws of another kind."""
        reader, self.reader = self.reader, None
        if reader is not None and reader.left:
            reader.put_back()

    def lend(self) -> np.random.Generator:
        """The generator itself, for code that may keep it and look where it stands."""
        self.put_back()
        self.lent = True
        return self.generator
