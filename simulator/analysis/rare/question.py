"""What is estimated, checked before anything is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from typing import Any

from simulator.adversaries.loading import game_of
from simulator.analysis.rare.rehearsal import plain
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import folder_path
from simulator.foundations.ties import require_distinguishable
from simulator.foundations.validation import experiment_number, finite, open_probability
from simulator.runner.measured import Measured
from simulator.runner.play import checked_jobs, run_in
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The terms of a play besides its game and its seed, each as for ``simulate``.

    >>> from simulator.analysis import Setting
    >>> Setting(filter="sum:1", jobs=1).filter
    'sum:1'
    """

    relation: Relation = ADD_REMOVE
    filter: Filter | str | None = None
    jobs: int | None = None
    out: str | PathLike[str] | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        checked_jobs(self.jobs)
        if self.out is not None:
            folder_path(self.out)

    def play(self, specification: Specification, experiment: int) -> Measured:
        """Play an experiment."""
        return run_in(self.out, specification, (experiment,), self.jobs, self.progress)


USUAL = Setting()


@dataclass(frozen=True)
class Question:
    """A rare event of a game: at ``epsilon``, or at the epsilon of ``delta``.

    Attributes
    ----------
    specification : of the play, under the measure of the experiment itself.
    experiment : 0, or 1 for the exchanged direction.
    confidence : of each interval.
    """

    specification: Specification
    experiment: int
    epsilon: float | None = None
    delta: float | None = None
    _: KW_ONLY
    confidence: float = 0.95
    setting: Setting = USUAL

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.delta is None):
            raise InvalidInput("give either the epsilon of the event, or the delta of that epsilon")
        open_probability("confidence", self.confidence)
        if self.epsilon is not None:
            finite("epsilon", self.epsilon)
        if self.delta is not None:
            open_probability("delta", self.delta)
        s = self.specification
        require_distinguishable(s.family.core.pure_epsilon, s.rounds)

    @classmethod
    def of(
        cls,
        adversary: Callable[..., Any] | str,
        family: Guarantee | str,
        rounds: int,
        trials: int,
        *,
        seed: int = 0,
        setting: Setting = USUAL,
        experiment: int = 0,
        **event: Any,
    ) -> Question:
        """The question about a game, whose parts may be texts; raises InvalidInput."""
        if not isinstance(setting, Setting):
            raise InvalidInput(f"setting must be a Setting, not {setting!r:.80}")
        adversary, family = game_of(adversary, family, rounds)
        terms = setting.filter
        s = Specification(
            adversary, family, rounds, trials, seed, relation=setting.relation, sampling=plain(),
            filter=parse_filter(terms) if isinstance(terms, str) else terms,
        )  # fmt: skip
        return cls(s, experiment_number(experiment), setting=setting, **event)
