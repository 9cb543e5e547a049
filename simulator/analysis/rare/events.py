"""``estimate_rare``: a tail and a hockey-stick divergence that are too rare to count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.analysis.rare.advice import advised, with_advice
from simulator.analysis.rare.choosing import choose
from simulator.analysis.rare.question import USUAL, Question, Setting
from simulator.analysis.rare.reading import RareEvent
from simulator.engine.sampling import Sampling
from simulator.theory.guarantees.interface import Guarantee


def estimate_rare(
    adversary: Callable[..., Any] | str,
    family: Guarantee | str,
    rounds: int,
    trials: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    experiment: int = 0,
    method: str | Sampling = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    setting: Setting = USUAL,
) -> RareEvent:
    """Estimate Pr[L > epsilon] and delta(epsilon) of an adversary.

    Parameters
    ----------
    adversary, family, rounds, trials, seed, setting : as for ``simulate``; see ``Setting``.
    epsilon, delta : the point, or the delta of epsilon(delta), where a second sample measures.
    experiment : 0, or 1 for the exchanged direction.
    method : one of METHODS, as :mod:`simulator.analysis.rare` has them; or a measure of your own,
        as ``Tilted(3.0)`` or ``"tilted:3"``.

    Both ends of every interval are valid at every number of trials; for those without a value see
    ``Estimate``. Raises Refusal if nothing is known in advance and too few trials reach the event,
    and NotApplicable if the method does not fit the adversary.

    >>> from simulator import estimate_rare
    >>> from simulator.analysis import Setting, Tilted
    >>> rare = estimate_rare(
    ...     "fixed-worst-case", "pure:0.2", 10, 200, epsilon=1.9,
    ...     method=Tilted(5.0), setting=Setting(jobs=1, progress=False),
    ... )
    >>> 0 <= rare.tail.lower <= rare.tail.value <= rare.tail.upper < 0.01
    True
    """
    question = Question.of(
        adversary, family, rounds, trials, seed=seed, setting=setting, epsilon=epsilon,
        delta=delta, experiment=experiment, confidence=confidence,
    )  # fmt: skip
    with advised(question, method):
        return with_advice(choose(question, method).play().read(), question, method)
