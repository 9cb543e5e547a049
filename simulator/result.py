"""What a run measured, and the estimates that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from simulator import estimation
from simulator.adversaries.contract import Challenge
from simulator.errors import InvalidInput, NotApplicable, Refusal
from simulator.estimation import (
    EmpiricalTradeOff,
    Estimate,
    MomentBand,
    TailBand,
    delta_log_bound,
    tail_log_bound,
)
from simulator.estimation.log_mean import MINIMUM_HITS
from simulator.play.block import covering_engine, total_psi_bound, weight_exponent
from simulator.play.ceilings import delta_ceiling, epsilon_ceiling, tail_ceiling
from simulator.play.leaks import allowing_for, covers, refuse_if_leaks_matter, unsampled_leak
from simulator.play.sampling import Covering
from simulator.play.specification import Specification
from simulator.play.views import Replay, View, replay
from simulator.ties import require_told_apart
from simulator.validation import experiment_number, finite, open_probability, point


@dataclass(frozen=True)
class Result:
    """The privacy losses of every trial, and what they say.

    Attributes
    ----------
    specification : what was played.
    samples : for each experiment played, float64 losses of shape (trials,); NaN in trials with a
        mechanism that has no likelihood.
    log_weights : for each experiment b played under another measure Q, float64 ln dP_b/dQ of
        shape (trials,).
    traces : for each experiment played, moments along the rounds, shape (3, rounds), or nothing.
    kept_views : the views of the first trials.
    challenges : the distinct challenges that were met, where the play was not to trust them.
    seconds : wall time of the play, compilation left out.
    compile_seconds : wall time of the compilation.
    rounds_played : rounds played in that time; those found on disk are left out.
    """

    specification: Specification
    _: KW_ONLY
    samples: Mapping[int, np.ndarray]
    log_weights: Mapping[int, np.ndarray] = field(default_factory=dict)
    traces: Mapping[int, np.ndarray] = field(default_factory=dict)
    kept_views: tuple[View, ...] = ()
    challenges: tuple[Challenge, ...] = ()
    seconds: float = 0.0
    compile_seconds: float = 0.0
    rounds_played: int = 0

    def losses(self, experiment: int = 0) -> np.ndarray:
        """The losses ln Pr[V0=v]/Pr[V1=v] of that experiment's views, shape (trials,).

        Raises Refusal where some are unknown, for a mechanism has no likelihood.
        """
        experiment = experiment_number(experiment)
        if experiment not in self.samples:
            played = ", ".join(map(str, sorted(self.samples)))
            raise InvalidInput(f"experiment {experiment} was not played, only {played}")
        if np.isnan(self.samples[experiment]).any():
            raise Refusal(
                "the losses of this play are unknown, for a mechanism has no likelihood: audit the "
                "views that it kept"
            )
        return self.samples[experiment]

    def weighted(self, experiment: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Losses and log-weights for ``experiment``, or None where a plain sample serves.

        Where that experiment was not played, the sample of the other one serves, with weight
        dP1/dP0 = e^{-L}. Raises NotApplicable where that would miss views that it never has.
        """
        experiment = experiment_number(experiment)
        if experiment in self.samples:
            if experiment not in self.log_weights:
                return None
            return self.samples[experiment], self.log_weights[experiment]
        losses = self.losses(1 - experiment)
        if not covers(self.specification, 1 - experiment):
            raise NotApplicable(
                f"experiment {experiment} may have views that experiment {1 - experiment} never "
                f"has: play experiment {experiment} itself"
            )
        log_weights = self.log_weights.get(1 - experiment, np.zeros_like(losses))
        towards_one = losses if experiment == 1 else -losses
        return losses, estimation.exchanged_log_weights(towards_one, log_weights)

    def tail(self, threshold: float, experiment: int = 0, confidence: float = 0.95) -> Estimate:
        """Pr[L > threshold] in experiment 0, or Pr[-L > threshold] in experiment 1.

        A loss that equals the threshold but for rounding is not above it (:mod:`simulator.ties`).
        Raises Refusal where a weighted sample has no hit, or where infinite losses that it does
        not reach may outweigh what it found.
        """
        threshold, experiment = point("threshold", threshold), experiment_number(experiment)
        open_probability("confidence", confidence)
        rounds = self.specification.rounds
        require_told_apart(self.specification.family.core.pure_epsilon, rounds)
        if (sample := self.weighted(experiment)) is None:
            return estimation.tail(
                self.losses(experiment), threshold, experiment, confidence, rounds=rounds
            )
        bound = self.log_bound(tail_log_bound, experiment, threshold)
        found = estimation.weighted_tail(
            *sample, threshold, experiment, confidence, rounds=rounds, log_bound=bound,
            ceiling=tail_ceiling(self.specification, threshold),
        )  # fmt: skip
        return self.with_leaks(found, experiment)

    def tail_band(
        self, thresholds: ArrayLike, experiment: int = 0, confidence: float = 0.95
    ) -> TailBand:
        """The tail at many thresholds, with a band that holds at all of them at once.

        Of a plain sample; raises InvalidInput for a weighted one.
        """
        if self.weighted(experiment) is not None:
            raise InvalidInput(
                "a weighted sample has no simultaneous band: ask tail() point by point"
            )
        rounds = self.specification.rounds
        return estimation.tail_band(
            self.losses(experiment), thresholds, experiment, confidence, rounds=rounds
        )

    def delta(self, epsilon: float, experiment: int = 0, confidence: float = 0.95) -> Estimate:
        """Hockey-stick divergence at ``epsilon``, of V0 from V1, or of V1 from V0.

        Raises Refusal as ``tail`` does.
        """
        epsilon, experiment = point("epsilon", epsilon), experiment_number(experiment)
        open_probability("confidence", confidence)
        rounds = self.specification.rounds
        if (sample := self.weighted(experiment)) is None:
            return estimation.delta(
                self.losses(experiment), epsilon, experiment, confidence, rounds=rounds
            )
        bound = self.log_bound(delta_log_bound, experiment, epsilon)
        found = estimation.weighted_delta(
            *sample, epsilon, experiment, confidence, rounds=rounds, log_bound=bound,
            ceiling=delta_ceiling(self.specification, epsilon),
        )  # fmt: skip
        return self.with_leaks(found, experiment)

    def epsilon(self, delta: float, experiment: int = 0, confidence: float = 0.95) -> Estimate:
        """The least epsilon with delta(epsilon) <= delta. Raises Refusal as ``tail`` does."""
        delta, experiment = finite("delta", delta), experiment_number(experiment)
        open_probability("confidence", confidence)
        if (sample := self.weighted(experiment)) is None:
            return estimation.epsilon(self.losses(experiment), delta, experiment, confidence)
        bounded = self.log_bound(delta_log_bound, experiment, 0.0) is not None
        invert = partial(
            estimation.weighted_epsilon, *sample, experiment=experiment, confidence=confidence,
            log_bound=(lambda e: self.log_bound(delta_log_bound, experiment, e) or 0.0)
            if bounded
            else None,
            rounds=self.specification.rounds,
            ceiling=epsilon_ceiling(self.specification, delta),
        )  # fmt: skip
        if (known := self.known_leak(experiment)) > 0.0:
            if known >= delta:
                raise NotApplicable(
                    f"no finite epsilon has delta {delta:g}: infinite losses alone have {known:g}"
                )
            return invert(delta - known)
        leak, seen = self.unseen_leak(experiment)
        refuse_if_leaks_matter(leak, delta, seen)
        found = invert(delta)
        if leak == 0.0:
            return found
        with_all = invert(delta - leak)
        found = replace(found, upper=with_all.upper)
        if with_all.no_guess:
            return found.without_guess(with_all.no_guess)
        if found.guess is None or with_all.guess is None:
            return found
        return replace(found, guess=(found.guess[0], with_all.guess[1]))

    def with_leaks(self, found: Estimate, experiment: int) -> Estimate:
        """A weighted estimate with the infinite losses that its sample does not have.

        Added where their probability is known, allowed for where only a bound on it is.
        """
        if (known := self.known_leak(experiment)) > 0.0:
            ends = [min(1.0, end + known) for end in (found.value, found.lower, found.upper)]
            guess = found.guess
            if guess is not None:
                guess = min(1.0, guess[0] + known), min(1.0, guess[1] + known)
            return replace(found, value=ends[0], lower=ends[1], upper=ends[2], guess=guess)
        return allowing_for(found, *self.unseen_leak(experiment))

    def known_leak(self, experiment: int) -> float:
        """The probability of an infinite loss, where a covering measure knows and leaves it out."""
        s = self.specification
        if not isinstance(s.sampling, Covering) or experiment not in self.samples:
            return 0.0
        return covering_engine(s, experiment).moments.leak

    def unseen_leak(self, experiment: int) -> tuple[float, int]:
        """What infinite losses may add to a weighted estimate, and how many trials have one.

        Nothing is to be added where enough trials have one, for then the estimate knows of them.
        """
        if experiment not in self.samples:  # the sample of the other serves: it misses no view
            return 0.0, 0
        seen = int(np.count_nonzero(np.isinf(self.samples[experiment])))
        known = seen >= MINIMUM_HITS
        return 0.0 if known else unsampled_leak(self.specification, experiment), seen

    def log_bound(
        self, of: Callable[[float, float, float], float], experiment: int, point: float
    ) -> float | None:
        """What is known in advance about the largest weighted value, ``of`` the point; or None."""
        exponent = weight_exponent(self.specification.sampling)
        if exponent is None or experiment not in self.samples:
            return None
        theta, offset = exponent
        psi = total_psi_bound(self.specification, experiment)
        return of(theta, psi + offset, point) if np.isfinite(psi) else None

    def trade_off(self, confidence: float = 0.95) -> EmpiricalTradeOff:
        """Type I against type II error of the optimal tests, from both experiments.

        Of plain samples; raises InvalidInput for weighted ones.
        """
        if any(self.weighted(b) is not None for b in (0, 1)):
            raise InvalidInput(
                "weighted samples have no empirical trade-off function: play without sampling"
            )
        return estimation.empirical_trade_off(
            self.losses(0),
            self.losses(1),
            confidence=confidence,
            rounds=self.specification.rounds,
        )

    @property
    def views(self) -> tuple[View, ...]:
        """The kept views, by experiment and trial."""
        return tuple(sorted(self.kept_views, key=lambda view: (view.experiment, view.trial)))

    def replay(self, view: View) -> Replay:
        """Reproduce every challenge and the loss of a kept view.

        Raises Breach where the loss is not the recorded one: then the adversary or a mechanism
        does not depend on its coins and its answers alone.
        """
        s = self.specification
        if not isinstance(view, View) or all(view is not kept for kept in self.kept_views):
            raise InvalidInput("replay takes one of the result's own views, from result.views")
        recorded = float(self.samples[view.experiment][view.trial])
        return replay(view, s.adversary, s.family, s.relation, recorded)

    def moments(self, experiment: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the loss after each round, shape (rounds,) each.

        Of the finite losses; NaN from the round on where none is finite. Raises InvalidInput
        unless the run recorded them (``trace=True``).
        """
        experiment = experiment_number(experiment)
        if experiment not in self.traces:
            raise InvalidInput("the moments along the rounds were not recorded: pass trace=True")
        self.losses(experiment)  # refused where they are unknown
        total, squares, count = self.traces[experiment]
        count = np.where(count > 0, count, np.nan)
        mean = total / count
        return mean, np.sqrt(np.maximum(squares / count - mean**2, 0.0))

    def moment_band(self, experiment: int = 0, confidence: float = 0.95) -> MomentBand:
        """Mean and standard deviation of the loss after each round, with bands over all rounds.

        Raises InvalidInput unless the run recorded them (``trace=True``), and NotApplicable where
        no pure epsilon of the family bounds the losses in advance.
        """
        self.moments(experiment)
        pure = self.specification.family.core.pure_epsilon
        if not np.isfinite(pure):
            raise NotApplicable(
                f"the losses of {self.specification.family} have no bound known in advance: their "
                "moments have no interval that holds at every number of trials"
            )
        reach = pure * np.arange(1.0, self.specification.rounds + 1.0)
        return estimation.moment_band(self.traces[experiment_number(experiment)], reach, confidence)

    @property
    def rounds_per_second(self) -> float:
        """Rounds played per second, over all workers; 0 where all was found on disk."""
        return self.rounds_played / self.seconds if self.seconds > 0 else 0.0
