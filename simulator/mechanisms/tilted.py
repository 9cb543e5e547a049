"""The tilted law of a pair, for play round by round in Python.

e^{theta L - psi(theta)} P0 is drawn from in closed form where the mechanism brings one, and from
a table where it can list its outcomes. Where a loss is infinite the law keeps that outcome's
probability and tilts the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.mechanisms.base import Pair, ScalarPair, no_outcomes
from simulator.mechanisms.finite import FINITE, table_row


class TiltedLaw:
    """One tilted law to draw from.

    Attributes
    ----------
    psi : ln E0[e^{theta L}], of the finite losses.
    answers : the answers of which ``sample`` draws an index; None where it draws the answer itself.
    """

    __slots__ = ("answers", "params", "psi", "sample", "tilted")

    def __init__(self, pair: ScalarPair, theta: float, answers: Sequence[Any] | None) -> None:
        self.params = pair.params
        self.tilted = pair.tilted(theta)
        self.psi = self.tilted[0]
        self.answers = answers
        self.sample: Any = pair.scalars.sample_tilted

    def draw(self, noise: np.random.Generator) -> Any:
        """Draw one answer."""
        answer = self.sample(self.params, self.tilted, noise)
        return answer if self.answers is None else self.answers[int(answer)]


def tilted_law(pair: Pair, theta: float) -> TiltedLaw:
    """The law of the pair's answers proportional to e^{theta L} P0.

    Raises NotApplicable for a mechanism with neither a tilted sampler nor a list of outcomes.
    """
    if isinstance(pair, ScalarPair) and pair.scalars.tilt is not None:
        return TiltedLaw(pair, theta, None)
    answers, p0, p1 = outcomes_of(pair)
    return TiltedLaw(ScalarPair(FINITE, table_row(p0, p1), 0.0), theta, answers)


def outcomes_of(pair: Pair) -> tuple[list[Any], list[float], list[float]]:
    """Every possible answer with its probability on the two databases.

    Raises NotApplicable where they are not finitely many, or not listed.
    """
    listed = getattr(pair, "outcomes", None)
    if listed is None:
        raise no_outcomes(type(pair).__name__)
    found: tuple[list[Any], list[float], list[float]] = listed()
    return found
