"""Every bound beside the truth, for a composition of one named mechanism.

A theorem on a family (every epsilon-DP mechanism, say) is exact for the mechanism that attains
the family's worst case and only an upper bound for the others; the privacy loss distribution of
the mechanism itself is the truth for both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.answers import Answer, Kind
from simulator.theory.bounds import bounds_for
from simulator.theory.composition import Composition
from simulator.theory.guarantees import ApproxDP, BoundedRange, GaussianDP, Guarantee, PureDP
from simulator.theory.laws import FiniteLaw, GaussianLaw, LaplaceLaw, PrivacyLossLaw
from simulator.theory.pld import compose_laws


@dataclass(frozen=True)
class NamedMechanism:
    """A mechanism as the theory sees it, with one privacy parameter.

    Attributes
    ----------
    guarantee : the family that its rounds belong to, from the parameter.
    law : its worst-case privacy-loss law, from the parameter, where it has one.
    attains : whether it is the worst case of its family, so that "exact" means it too.
    """

    guarantee: Callable[[float], Guarantee]
    law: Callable[[float], PrivacyLossLaw] | None
    attains: bool


def _response(epsilon: float) -> PrivacyLossLaw:
    truth, lie = 1.0 / (1.0 + math.exp(-epsilon)), 1.0 / (1.0 + math.exp(epsilon))
    return FiniteLaw.from_probabilities([truth, lie], [lie, truth])


MECHANISMS: dict[str, NamedMechanism] = {
    "pure": NamedMechanism(PureDP, _response, True),
    "randomized-response": NamedMechanism(PureDP, _response, True),
    "geometric": NamedMechanism(PureDP, _response, True),
    "laplace": NamedMechanism(PureDP, LaplaceLaw, False),
    "gaussian": NamedMechanism(GaussianDP, GaussianLaw, True),
    "exponential": NamedMechanism(BoundedRange, None, True),
    "approx": NamedMechanism(PureDP, None, True),
}
"""By name. The parameter is epsilon, for ``gaussian`` mu = sensitivity/sigma; ``geometric`` is at
sensitivity 1, where its loss is that of randomized response; ``approx`` also takes a delta."""


@dataclass(frozen=True)
class Row:
    """One bound's answer: an epsilon at the asked delta, or a delta at the asked epsilon."""

    name: str
    kind: Kind
    answer: Answer
    source: str
    seconds: float


def compare(
    mechanism: str,
    rounds: Sequence[tuple[float, int]],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    leak: float = 0.0,
) -> list[Row]:
    """Ask every bound for the epsilon at ``delta``, or for the delta at ``epsilon``.

    Parameters
    ----------
    mechanism : a name in MECHANISMS.
    rounds : pairs (privacy parameter, number of rounds with it).
    leak : the delta of each round, for ``approx``.

    Returns the rows sorted by tightness; bounds that do not apply are left out. Raises
    InvalidInput.
    """
    if mechanism not in MECHANISMS:
        raise InvalidInput(f"no mechanism {mechanism!r}; there are {', '.join(MECHANISMS)}")
    named = MECHANISMS[mechanism]
    guarantee = named.guarantee if mechanism != "approx" else lambda e: ApproxDP(e, leak)
    composition = Composition.of(*((guarantee(value), count) for value, count in rounds))
    ask = _question(delta, epsilon)
    rows = []
    for bound in bounds_for(composition):
        start = time.perf_counter()
        try:
            answer = ask(bound)
        except NotApplicable:
            continue
        kind: Kind = bound.kind
        if not named.attains and kind == "exact":
            kind, answer = "upper", Answer(answer.upper, 0.0, answer.upper)
        rows.append(Row(bound.name, kind, answer, bound.source, time.perf_counter() - start))
    if named.law is not None:
        start = time.perf_counter()
        composed = compose_laws([(named.law(value), count) for value, count in rounds])
        bracket = ask(composed)
        answer = Answer(bracket.upper, bracket.lower, bracket.upper)
        seconds = time.perf_counter() - start
        rows.append(Row("privacy-loss-distribution", "exact", answer, SOURCE, seconds))
    return sorted(rows, key=lambda row: row.answer.value)


def _question(delta: float | None, epsilon: float | None) -> Callable[[Any], Any]:
    if delta is not None and epsilon is None:
        return lambda bound: bound.epsilon(delta)
    if epsilon is not None and delta is None:
        return lambda bound: bound.delta(epsilon)
    raise InvalidInput("ask for the epsilon at a delta, or for the delta at an epsilon")


SOURCE = "the mechanism's own privacy loss, composed numerically with certified round-off"
