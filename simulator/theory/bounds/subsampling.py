"""Bounds on mechanisms that run on a random sample of the records."""

from __future__ import annotations

from simulator.theory.answers import Answer
from simulator.theory.bounds.base import Bound, largest_loss, needs_reach
from simulator.theory.bounds.optimal import (
    OptimalHeterogeneous,
    OptimalHomogeneous,
    RoundedHeterogeneous,
)
from simulator.theory.composition import Composition
from simulator.theory.guarantees import PureDP, SubsampledDP
from simulator.theory.laws import (
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    randomized_response,
)
from simulator.theory.pld import PLD, compose_laws

_TOLERANCE = 1e-8
_SMALLEST, _LARGEST = 1e-6, 300.0


def _needs_samples(core: Composition) -> str | None:
    if core.consists_of(SubsampledDP):
        return None
    return "every round must run on a sample, subsampled:EPSILON,DELTA,RATE"


class AmplifiedBySampling(Bound):
    """Every round taken for any (ln(1 + q (e^epsilon - 1)), q delta)-DP one, optimally composed."""

    name = "amplified-by-sampling"
    source = (
        "Balle, Barthe and Gaboardi 2018, Theorems 8 and 9; composed by Kairouz, Oh and Viswanath "
        "2017, Theorem 3.3, or Murtagh and Vadhan 2016"
    )

    def _amplified(self, core: Composition) -> tuple[Bound | None, Composition]:
        """The bound that composes the amplified rounds, and those rounds."""
        rounds = Composition.of(*((PureDP(g.pure_epsilon), n) for g, n in core))
        optimal = (OptimalHomogeneous(), OptimalHeterogeneous(), RoundedHeterogeneous())
        return next((one for one in optimal if one.why_not(rounds) is None), None), rounds

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_samples(core)) is not None:
            return reason
        if self._amplified(core)[0] is None:
            return f"{core.rounds} rounds are too many to compose"
        return None

    def _delta(self, core: Composition, epsilon: float) -> float:
        return self._delta_answer(core, epsilon).value

    def _epsilon(self, core: Composition, delta: float) -> float:
        return self._epsilon_answer(core, delta).value

    def _delta_answer(self, core: Composition, epsilon: float) -> Answer:
        optimal, rounds = self._amplified(core)
        assert optimal is not None  # the condition was checked
        answer = optimal._delta_answer(rounds, epsilon)
        return Answer(answer.value, 0.0, answer.upper)

    def _epsilon_answer(self, core: Composition, delta: float) -> Answer:
        optimal, rounds = self._amplified(core)
        assert optimal is not None  # the condition was checked
        answer = optimal._epsilon_answer(rounds, delta)
        return Answer(answer.value, 0.0, answer.upper)


class SampledResponses(Bound):
    """Randomized response on a sample, which dominates; composed exactly.

    The upper end is of the pair that dominates both adding and removing a record, in any order over
    the rounds, and replacing one. The lower end is of the same direction in every round.
    """

    name = "subsampled-randomized-response"
    source = (
        "Balle, Barthe and Gaboardi 2018, Theorems 8 and 9; Zhu, Dong and Wang 2022, Theorem 11 "
        "(here enclosed from both sides)"
    )
    costly = True

    def why_not(self, composition: Composition) -> str | None:
        """See :meth:`Bound.why_not`."""
        if (reason := _needs_samples(composition)) is None and composition.leaks > 0.0:
            return "the delta of every round must be 0"
        return reason or super().why_not(composition)

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_samples(core)) is not None:
            return reason
        if (reason := needs_reach(core)) is not None:
            return reason
        for g, _ in self._rounds(core):
            if g.epsilon > _LARGEST or g.pure_epsilon < _SMALLEST:
                return (
                    f"every epsilon must be 0, or at most {_LARGEST:g} and amplified to at least "
                    f"{_SMALLEST:g}"
                )
        return None

    def _rounds(self, core: Composition) -> list[tuple[SubsampledDP, int]]:
        """The rounds that are not harmless."""
        return [(g, n) for g, n in core if isinstance(g, SubsampledDP) and g.epsilon > 0.0]

    def _above(self, core: Composition) -> PLD:
        return compose_laws(
            [
                (SampledWithoutReplacementLaw(randomized_response(g.epsilon), g.rate), n)
                for g, n in self._rounds(core)
            ],
            _TOLERANCE,
        )

    def _below(self, core: Composition) -> tuple[PLD, PLD]:
        one = compose_laws(
            [
                (PoissonSubsampledLaw(randomized_response(g.epsilon), g.rate), n)
                for g, n in self._rounds(core)
            ],
            _TOLERANCE,
        )
        return one, one.reversed()

    def _delta(self, core: Composition, epsilon: float) -> float:
        return self._delta_answer(core, epsilon).value

    def _epsilon(self, core: Composition, delta: float) -> float:
        return self._epsilon_answer(core, delta).value

    def _delta_answer(self, core: Composition, epsilon: float) -> Answer:
        if epsilon >= largest_loss(core)[1]:
            return Answer(0.0, 0.0, 0.0)
        upper = min(1.0, self._above(core).delta(epsilon).upper)
        lower = max(one.delta(epsilon).lower for one in self._below(core))
        return Answer(upper, min(lower, upper), upper)

    def _epsilon_answer(self, core: Composition, delta: float) -> Answer:
        _, largest = largest_loss(core)
        if largest == 0.0:
            return Answer(0.0, 0.0, 0.0)
        upper = min(largest, max(0.0, self._above(core).epsilon(delta).upper))
        lower = max(0.0, *(one.epsilon(delta).lower for one in self._below(core)))
        return Answer(upper, min(lower, upper), upper)
