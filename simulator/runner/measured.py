"""The measurements of a run: losses, weights, moments along the rounds, views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.engine.specification import Specification
from simulator.engine.views.transcript import Transcript, transcript
from simulator.engine.views.views import Replay, View, replay
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.frames import Tabular
from simulator.foundations.validation import experiment_number, instance, nonnegative

_BY_EXPERIMENT = {"sample": LossSample, "weights": WeightedSample, "traces": np.ndarray}
"""The fields that hold one value for each experiment, and its class."""


@dataclass(frozen=True, repr=False, eq=False)
class Measured(Tabular):
    """The privacy losses of every trial; two are equal if they are of one play.

    Attributes
    ----------
    specification : what was played.
    sample : for each experiment played, its losses, one by one or counted; NaN in trials with a
        mechanism that has no likelihood.
    weights : for each experiment b played under another measure Q, its losses with their
        log-weights ln dP_b/dQ, one by one or counted.
    traces : for each experiment played, the sum, the sum of squares and the number of finite losses
        after each round, shape (3, rounds); empty if not recorded.
    kept_views : the views of the first trials.
    challenges : the distinct challenges that were met, if the play did not trust them.
    seconds : wall time of the play, without compilation.
    compile_seconds : wall time of the compilation.
    rounds_played : rounds played in that time, without those read from disk.

    Raises InvalidInput for a field of another type.
    """

    specification: Specification
    _: KW_ONLY
    sample: Mapping[int, LossSample]
    weights: Mapping[int, WeightedSample] = field(default_factory=dict)
    traces: Mapping[int, np.ndarray] = field(default_factory=dict)
    kept_views: tuple[View, ...] = ()
    challenges: tuple[Challenge, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    compile_seconds: float = field(default=0.0, compare=False)
    rounds_played: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        """Raise InvalidInput for a field of another type: an estimate would fail further on."""
        instance("specification", self.specification, Specification)
        for name, kind in _BY_EXPERIMENT.items():
            held = getattr(self, name)
            instance(name, held, Mapping)
            for experiment, each in held.items():
                if type(experiment) is not int or experiment not in (0, 1):
                    raise InvalidInput(f"{name} is by experiment, 0 or 1, not {experiment!r:.80}")
                instance(f"{name}[{experiment}]", each, kind)
        for name, kind in (("kept_views", View), ("challenges", Challenge)):
            instance(name, getattr(self, name), tuple)
            for each in getattr(self, name):
                instance(f"each of {name}", each, kind)
        for name in ("seconds", "compile_seconds", "rounds_played"):
            nonnegative(name, getattr(self, name))

    def compared(self) -> dict[str, Any]:
        """The fields that are compared; the specification as text: its functions may be copies."""
        return super().compared() | {
            "specification": self.specification.describe(), "kept_views": self.views
        }  # fmt: skip

    @property
    def samples(self) -> dict[int, np.ndarray]:
        """The losses of each experiment played, NaN where unknown; raises as ``losses`` does."""
        return {b: sample.losses() for b, sample in self.sample.items()}

    @property
    def log_weights(self) -> dict[int, np.ndarray]:
        """For each experiment b played under another measure Q, ln dP_b/dQ, shape (trials,).

        Raises as ``losses`` does.
        """
        return {b: weighted.one_by_one()[1] for b, weighted in self.weights.items()}

    def losses(self, experiment: int = 0) -> np.ndarray:
        """The losses ln Pr[V0=v]/Pr[V1=v] of that experiment's views, shape (trials,).

        Raises Refusal if some are unknown, because a mechanism has no likelihood, and InvalidInput
        if they were counted and not kept.
        """
        return self.known(experiment).losses()

    def known(self, experiment: int = 0) -> LossSample:
        """The losses of that experiment, one by one or counted, as estimates take them.

        Raises Refusal if some are unknown.
        """
        experiment = experiment_number(experiment)
        if experiment not in self.sample:
            played = ", ".join(map(str, sorted(self.sample)))
            raise InvalidInput(f"experiment {experiment} was not played, only {played}")
        if self.sample[experiment].unknown:
            raise Refusal(
                "the losses of this play are unknown, because a mechanism has no likelihood: audit "
                "the views that it kept"
            )
        return self.sample[experiment]

    @property
    def views(self) -> tuple[View, ...]:
        """The kept views, by experiment and trial."""
        return tuple(sorted(self.kept_views, key=lambda view: (view.experiment, view.trial)))

    def replay(self, view: View) -> Replay:
        """Reproduce every challenge and the loss of a kept view.

        Raises Breach if the loss is not the recorded one: then the adversary or a mechanism
        depends on more than its coins and its answers.
        """
        s = self.specification
        if not isinstance(view, View) or all(view is not kept for kept in self.kept_views):
            raise InvalidInput("replay takes one of the result's own views, from result.views")
        recorded = self.sample[view.experiment].of_trial(view.trial)
        return replay(view, s.adversary, s.family, s.relation, recorded)

    def transcript(self, view: View) -> Transcript:
        """The rounds of a kept view as text. Raises Breach as ``replay`` does."""
        return transcript(view, self.replay(view))

    def moments(self, experiment: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the loss after each round, shape (rounds,) each.

        Of the finite losses; NaN after the round from which none is finite. Raises InvalidInput
        unless the run recorded them (``trace=True``).
        """
        experiment = experiment_number(experiment)
        if experiment not in self.traces:
            raise InvalidInput("the moments along the rounds were not recorded: pass trace=True")
        self.known(experiment)  # raises Refusal
        total, squares, count = self.traces[experiment]
        count = np.where(count > 0, count, np.nan)
        mean = total / count
        return mean, np.sqrt(np.maximum(squares / count - mean**2, 0.0))

    @property
    def rounds_per_second(self) -> float:
        """Rounds played per second by all workers; 0 if all blocks were read from disk."""
        return self.rounds_played / self.seconds if self.seconds > 0 else 0.0

    def columns(self) -> dict[str, np.ndarray]:
        """The losses as columns, one row per trial: experiment, trial, loss.

        Weighted samples have ``log_weight`` too. If the losses were counted there is one row per
        bin: its least and largest loss, its number of ``trials``, and for weighted samples
        ``least_log_weight`` and ``largest_log_weight``.
        """
        parts = [self._columns_of(b) for b in sorted(self.sample)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _columns_of(self, b: int) -> dict[str, np.ndarray]:
        sample = self.sample[b]
        rows: dict[str, np.ndarray] = {"experiment": np.full(sample.least.size, b, dtype=np.int64)}
        if sample.counts is not None:
            rows |= {"least": sample.least, "largest": sample.largest, "trials": sample.counts}
            if (weighted := self.weights.get(b)) is None:
                return rows
            return rows | {
                "least_log_weight": weighted.least, "largest_log_weight": weighted.largest
            }  # fmt: skip
        rows |= {"trial": np.arange(sample.least.size), "loss": sample.least}
        return rows | ({"log_weight": self.log_weights[b]} if b in self.weights else {})
