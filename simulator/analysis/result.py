"""The result of a run, with its estimates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis import display, estimation
from simulator.analysis.at_one_point import delta_at, epsilon_at, tail_at
from simulator.analysis.estimation.estimates import at_points
from simulator.analysis.leaks import (
    allowing_for,
    covers,
    unsampled_leak,
)
from simulator.analysis.loading import load_measured
from simulator.engine.block import covering_engine
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.engine.sampling import Covering
from simulator.engine.weight_bounds import weight_exponents
from simulator.foundations.curves import Several
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import experiment_number, open_probability
from simulator.runner.measured import Measured

if TYPE_CHECKING:
    from simulator.analysis.estimation import (
        DeltaBand,
        EmpiricalTradeOff,
        Estimate,
        Estimates,
        MomentBand,
        TailBand,
    )

_PROBABILITY = (0.0, 1.0)


@dataclass(frozen=True, repr=False, eq=False)
class Result(ShownByFacts, Measured):
    """The privacy losses of every trial, and the estimates that follow from them.

    Attributes
    ----------
    likelihoods : what a test of the declared likelihoods would have found, with ``trust=False``;
        empty where none was tested. For the others see
        :class:`~simulator.runner.measured.Measured`.

    >>> from simulator import simulate
    >>> result = simulate("press-when-ahead", "pure:0.2", 10, trials=100, jobs=1, progress=False)
    >>> result.losses(0).shape, result.tail(0.5).method
    ((100,), 'Clopper-Pearson')
    """

    likelihoods: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Raise InvalidInput for a field of another type."""
        super().__post_init__()
        if not isinstance(self.likelihoods, str):
            raise InvalidInput(f"likelihoods must be a text, not {self.likelihoods!r:.80}")

    @classmethod
    def of(cls, measured: Measured) -> Result:
        """The result with the measurements of a run."""
        return cls(**{each.name: getattr(measured, each.name) for each in fields(measured)})

    def facts(self) -> dict[str, str]:
        """What was played."""
        likelihoods = {"likelihoods": self.likelihoods} if self.likelihoods else {}
        return display.played(self) | likelihoods

    def in_notebook(self) -> dict[str, str]:
        """What was played, and quantiles of the losses."""
        return display.played(self) | display.losses(self)

    @staticmethod
    def load(folder: str | PathLike[str], **played: Any) -> Result:
        """The result of a stored run: see :func:`simulator.analysis.loading.load_measured`."""
        return Result.of(load_measured(folder, **played))

    def weighted(self, experiment: int) -> WeightedSample | None:
        """Losses and log-weights for ``experiment``, or None if its sample is plain.

        If that experiment was not played, the sample of the other one is used, with weight
        dP1/dP0 = e^{-L}. Raises NotApplicable if that sample cannot have all views.
        """
        experiment = experiment_number(experiment)
        if experiment in self.sample:
            return self.weights.get(experiment)
        losses = self.known(1 - experiment)
        if not covers(self.specification, 1 - experiment):
            raise NotApplicable(
                f"experiment {experiment} may have views that experiment {1 - experiment} never "
                f"has: play experiment {experiment} itself"
            )
        played = self.weights.get(1 - experiment) or WeightedSample.plain(losses)
        return replace(played.signed(1 - experiment).exchanged(), losses=losses)

    @overload
    def tail(self, threshold: float, experiment: int = 0, confidence: float = 0.95) -> Estimate: ...
    @overload
    def tail(
        self, threshold: Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimates: ...
    def tail(
        self, threshold: float | Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimate | Estimates:
        """Pr[L > threshold] in experiment 0, or Pr[-L > threshold] in experiment 1.

        For a list or an array of thresholds it returns ``Estimates``, whose intervals are not
        simultaneous. A loss that equals the threshold up to rounding is not above it
        (:mod:`simulator.foundations.ties`). Raises Refusal if a weighted sample has no hit; for
        several thresholds only if all are refused, otherwise ``no_value`` of one is the reason.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> print(result.tail(0.5))
        0.19 [0.118, 0.281] (95%, Clopper-Pearson)
        """
        return at_points(
            "threshold", threshold, lambda at: tail_at(self, at, experiment, confidence),
            _PROBABILITY, confidence=confidence, of="tail",
        )  # fmt: skip

    def tail_band(
        self, thresholds: ArrayLike, experiment: int = 0, confidence: float = 0.95
    ) -> TailBand:
        """The tail at many thresholds, with a band that holds at all of them at once.

        Of a plain sample; raises InvalidInput for a weighted one.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> band = result.tail_band([0.0, 0.5])
        >>> band.value.round(3), band.upper.round(3)
        (array([0.66, 0.19]), array([0.796, 0.333]))
        """
        if self.weighted(experiment) is not None:
            raise InvalidInput(
                "a weighted sample has no simultaneous band: use tail() at each point"
            )
        rounds = self.specification.rounds
        return estimation.tail_band(
            self.known(experiment), thresholds, experiment, confidence, rounds=rounds
        )

    @overload
    def delta(self, epsilon: float, experiment: int = 0, confidence: float = 0.95) -> Estimate: ...
    @overload
    def delta(
        self, epsilon: Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimates: ...
    def delta(
        self, epsilon: float | Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimate | Estimates:
        """Hockey-stick divergence at ``epsilon``, of V0 from V1, or of V1 from V0.

        For a list or an array of epsilons it returns ``Estimates``. Raises Refusal as ``tail``
        does.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> print(result.delta(0.2))
        0.11 [0.0811, 0.154] (95%, betting)
        """
        return at_points(
            "epsilon", epsilon, lambda at: delta_at(self, at, experiment, confidence),
            _PROBABILITY, confidence=confidence, of="delta of epsilon",
        )  # fmt: skip

    def delta_band(
        self, epsilons: ArrayLike, experiment: int = 0, confidence: float = 0.95
    ) -> DeltaBand:
        """Hockey-stick divergence at many epsilons, with a band that holds at all of them at once.

        Of a plain sample; raises InvalidInput for a weighted one.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> result.delta_band([0.0, 0.5]).upper.round(3)
        array([0.3  , 0.097])
        """
        if self.weighted(experiment) is not None:
            raise InvalidInput(
                "a weighted sample has no simultaneous band: use delta() at each point"
            )
        rounds = self.specification.rounds
        return estimation.delta_band(
            self.known(experiment), epsilons, experiment, confidence, rounds=rounds
        )

    @overload
    def epsilon(self, delta: float, experiment: int = 0, confidence: float = 0.95) -> Estimate: ...
    @overload
    def epsilon(
        self, delta: Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimates: ...
    def epsilon(
        self, delta: float | Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimate | Estimates:
        """The least epsilon with delta(epsilon) <= delta, or Estimates of several.

        Raises Refusal as ``tail`` does.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> print(result.epsilon(0.05))
        0.397 [0.316, 0.625] (95%, betting, test inversion)
        """
        return at_points(
            "delta", delta, lambda at: epsilon_at(self, at, experiment, confidence),
            (0.0, math.inf), confidence=confidence, of="epsilon of delta",
        )  # fmt: skip

    @overload
    def difference(
        self, other: Result, epsilon: float, experiment: int = 0, confidence: float = 0.95
    ) -> Estimate: ...
    @overload
    def difference(
        self, other: Result, epsilon: Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimates: ...
    def difference(
        self, other: Result, epsilon: float | Several, experiment: int = 0, confidence: float = 0.95
    ) -> Estimate | Estimates:
        """Hockey-stick divergence at ``epsilon`` minus that of another run.

        Each of the two has half of the error level, so the interval holds without an assumption of
        independence; for any two estimates see ``simulator.analysis.estimation.difference``.
        Raises as ``delta`` does.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> other = simulate("fixed-worst-case", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> print(result.difference(other, 0.2))
        -0.0735 [-0.178, 0.0261] (95%, difference of two, betting)
        """
        if not isinstance(other, Result):
            raise InvalidInput(f"the other run must be a Result, not {other!r:.80}")

        def at_one(at: float) -> Estimate:
            each = (1.0 + open_probability("confidence", confidence)) / 2.0
            found = (delta_at(run, at, experiment, each) for run in (self, other))
            return replace(estimation.difference(*found), confidence=float(confidence))

        return at_points(
            "epsilon", epsilon, at_one, (-1.0, 1.0), confidence=confidence, of="difference of delta"
        )

    def with_leaks(self, found: Estimate, experiment: int) -> Estimate:
        """A weighted estimate with the infinite losses that its sample does not have.

        Their probability is added if it is known; a bound on it raises the upper end.
        """
        if (known := self.known_leak(experiment)) > 0.0:
            ends = [min(end + known, 1.0) for end in (found.value, found.lower, found.upper)]
            return replace(found, value=ends[0], lower=ends[1], upper=ends[2])
        return allowing_for(found, *self.unseen_leak(experiment))

    def known_leak(self, experiment: int) -> float:
        """The probability of an infinite loss that a covering measure leaves out, else 0."""
        s = self.specification
        if not isinstance(s.sampling, Covering) or experiment not in self.sample:
            return 0.0
        return covering_engine(s, experiment).moments.leak

    def unseen_leak(self, experiment: int) -> tuple[float, int]:
        """A bound on infinite losses that an estimate lacks, and how many trials have one.

        The bound is 0 if enough trials have one: then the estimate includes them.
        """
        if experiment not in self.sample:  # the sample of the other experiment has all views
            return 0.0, 0
        sample = self.sample[experiment]
        seen = sample.total(np.isinf(sample.least))
        known = seen >= MINIMUM_HITS
        return 0.0 if known else unsampled_leak(self.specification, experiment), seen

    def log_bound(
        self, of: Callable[[float, float, float], float], experiment: int, point: float
    ) -> float | None:
        """The logarithm of the bound ``of`` weighted values at the point, or None."""
        if experiment not in self.sample:
            return None
        exponents = weight_exponents(self.specification, experiment)
        return None if exponents is None else max(of(theta, m, point) for theta, m in exponents)

    def plot(self, of: str = "delta", ax: Any = None, *, confidence: float = 0.95) -> Any:
        """Draw the result with the bounds on it; return the matplotlib axes.

        Parameters
        ----------
        of : "tail", "delta", or "loss", along the rounds (with ``trace=True``).
        ax : matplotlib axes; by default those of a new figure with a legend.
        confidence : of the bands.

        A band such as ``result.delta_band`` draws itself alone, under any ``label``.
        """
        from simulator.analysis.run_picture import panel  # needs matplotlib, which few results do

        return panel(self, of, ax, confidence)

    def trade_off(self, confidence: float = 0.95) -> EmpiricalTradeOff:
        """Type I against type II error of the optimal tests, from both experiments.

        Of plain samples; raises InvalidInput for weighted ones.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> result.trade_off().type_one.shape
        (138,)
        """
        if any(self.weighted(b) is not None for b in (0, 1)):
            raise InvalidInput(
                "weighted samples have no empirical trade-off function: play without sampling"
            )
        return estimation.empirical_trade_off(
            self.known(0), self.known(1), confidence=confidence, rounds=self.specification.rounds
        )

    def mean(self, experiment: int = 0, confidence: float = 0.95) -> Estimate:
        """E[L] in experiment 0, E[-L] in experiment 1, by plain play.

        Raises NotApplicable if no pure epsilon of the family bounds the losses in advance.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> print(result.mean())
        0.137 [0.0555, 0.257] (95%, betting)
        """
        return estimation.mean_loss(*self._bounded(experiment), experiment, confidence)

    def variance(self, experiment: int = 0, confidence: float = 0.95) -> Estimate:
        """The variance of the loss of that experiment, by plain play; as ``mean``.

        >>> from simulator import simulate
        >>> result = simulate("press-when-ahead", "pure:0.2", 10, 100, jobs=1, progress=False)
        >>> print(result.variance())
        0.194 [0.0764, 0.796] (95%, betting)
        """
        return estimation.loss_variance(*self._bounded(experiment), experiment, confidence)

    def _bounded(self, experiment: int) -> tuple[np.ndarray, float]:
        """The losses, and a bound on them that is known in advance."""
        if self.weighted(experiment) is not None:
            raise InvalidInput("moments of the loss are those of plain play, without sampling")
        return self.losses(experiment), self._pure_epsilon() * self.specification.rounds

    def _pure_epsilon(self) -> float:
        pure = self.specification.family.core.pure_epsilon
        if not np.isfinite(pure):
            raise NotApplicable(
                f"the losses of {self.specification.family} have no bound known in advance: their "
                "moments have no interval that holds at every number of trials"
            )
        return float(pure)

    def moment_band(self, experiment: int = 0, confidence: float = 0.95) -> MomentBand:
        """Mean and standard deviation of the loss after each round, with bands over all rounds.

        Raises InvalidInput unless the run recorded them (``trace=True``), and NotApplicable if
        no pure epsilon of the family bounds the losses in advance.

        >>> from simulator import simulate
        >>> played = {"trials": 100, "trace": True, "jobs": 1, "progress": False}
        >>> simulate("press-when-ahead", "pure:0.2", 3, **played).moment_band().mean.shape
        (3,)
        """
        self.moments(experiment)
        reach = self._pure_epsilon() * np.arange(1.0, self.specification.rounds + 1.0)
        return estimation.moment_band(self.traces[experiment_number(experiment)], reach, confidence)
