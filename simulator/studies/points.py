"""One line of a study: a quantity of a task, its interval, and how it was found."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import from_json
from simulator.foundations.validation import numeral
from simulator.studies.quantities import AT, Quantity
from simulator.studies.stopping import relative_width
from simulator.theory.filters.named import FILTERS

STATES = ("width", "hits", "decided", "trials", "certified", "approximation", "failed", "")
"""Why a quantity is done: narrow enough, hits enough, a comparison settled, the most trials,
certified ends without a sample, a value without ends, an error; empty while it is not done."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A quantity of a task.

    Attributes
    ----------
    task : the identity of the game.
    adversary, family, rounds, relation, filter, seed, experiment : the game.
    quantity : as :class:`~simulator.studies.quantities.Quantity` writes it.
    value, lower, upper : the estimate and its interval; NaN where there is no estimate.
    confidence : of the interval, 1 where its ends are certified, 0 of an approximation.
    sure_lower, sure_upper : wider ends that miss with probability 1e-6 at most.
    method : how the interval was made.
    trials, hits : the sample, 0 without one; ``looks`` how often it was looked at.
    stopped : one of STATES.
    seconds : the time that its plays took, those of the task's other quantities included.
    program : the versions that numbers depend on, as a digest.
    metadata : JSON.
    error : what went wrong, or why there is no estimate.

    >>> from simulator.studies import Task, collect
    >>> point, = collect([Task(None, "pure:0.1", 10, ["bound:basic epsilon(delta=1e-6)"])], jobs=1)
    >>> point.rounds, round(point.value, 6), point.method
    (10, 1.0, 'upper')
    """

    task: str
    adversary: str
    family: str
    rounds: int
    relation: str
    filter: str
    seed: int
    experiment: int
    quantity: str
    value: float
    lower: float
    upper: float
    confidence: float
    sure_lower: float
    sure_upper: float
    method: str
    trials: int
    hits: int
    looks: int
    stopped: str
    seconds: float
    program: str
    metadata: str = "{}"
    error: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What the line is about: of two lines with one key the later one counts."""
        return self.task, self.quantity, self.experiment

    @property
    def subject(self) -> tuple[object, ...]:
        """What a reader knows the line by: two adversaries of one name have one subject."""
        game = (self.adversary, self.family, self.rounds, self.relation, self.filter, self.seed)
        return (*game, self.metadata, self.experiment, self.quantity)

    @property
    def computed(self) -> bool:
        """Whether it was computed, without a sample: an equal game has an equal value."""
        return self.stopped in ("certified", "approximation")

    @property
    def done(self) -> bool:
        """Whether the quantity was measured as far as it was wanted."""
        return self.stopped not in ("", "failed")

    @property
    def relative_width(self) -> float:
        """(upper - lower)/upper; NaN without an interval."""
        return relative_width(self.lower, self.upper)

    @property
    def command(self) -> str:
        """The shell command that plays it again, to the same value; empty where there is none.

        The adversary has to be a text: a name of the library, or a file. An epsilon(delta=) from
        plain plays is shown as the delta at that epsilon. Intervals are those of a single look.
        """
        quantity = Quantity.parse(self.quantity)
        if not AT[quantity.kind]:
            return ""  # no command prints a moment
        own_filter = self.filter and self.filter.partition(":")[0] not in FILTERS
        if quantity.source not in _REPLAYS or own_filter or not is_loadable(self.adversary):
            return ""
        options: dict[str, object] = {
            "family": self.family, "rounds": self.rounds, "trials": self.trials or "",
            "seed": self.seed, "relation": self.relation, "filter": self.filter,
        }  # fmt: skip
        if quantity.source == "simulated":
            reached = self.value if math.isfinite(self.value) else self.upper
            at = reached if quantity.epsilon is None else quantity.epsilon
            if not 0.0 <= at < math.inf:  # the shell has no such epsilon
                return ""
            options["epsilon"] = at
        else:
            options |= {AT[quantity.kind]: quantity.at, "experiment": self.experiment}
            options["method"] = quantity.name
        given = {name: str(value) for name, value in options.items() if value != ""}
        parts = [part for name, value in given.items() for part in (f"--{name}", value)]
        text = shlex.join([*_REPLAYS[quantity.source], self.adversary, *parts])
        return text if text.isprintable() else ""

    @property
    def at(self) -> float:
        """The epsilon or the delta that the quantity is a function of."""
        return Quantity.parse(self.quantity).at

    def same_numbers(self, other: Point) -> bool:
        """Whether both lines have the same numbers, whatever time they took."""
        return self.row() | {"seconds": ""} == other.row() | {"seconds": ""}

    def row(self) -> dict[str, str]:
        """The fields as texts; floats have their shortest exact form."""
        return {
            each.name: repr(float(value)) if isinstance(value, float) else str(value)
            for each in fields(self)
            for value in [getattr(self, each.name)]
        }

    @classmethod
    def of_row(cls, row: Mapping[str, str]) -> Point:
        """Inverse of :meth:`row`; raises InvalidInput, which names the column."""
        read: dict[str, Any] = {}
        for each in fields(cls):
            text = row.get(each.name)
            if text is None:
                raise InvalidInput(f"no column {each.name!r}")
            try:
                read[each.name] = _READERS[str(each.type)](text)
            except ValueError:
                raise InvalidInput(f"{text!r} is not a {each.type} in {each.name!r}") from None
        if read["stopped"] not in STATES:
            raise InvalidInput(f"{read['stopped']!r} is not in {STATES} in 'stopped'")
        from_json(read["metadata"], "the column 'metadata'", exact=False)
        return cls(**read)


def latest(points: Iterable[Point]) -> list[Point]:
    """The last point about each subject: the lines of an adversary before an edit are left out."""
    return list({point.subject: point for point in points}.values())


_REPLAYS = {
    "simulated": ("dpcompose", "simulate"),
    "rare": ("dpcompose", "estimate-rare"),
    "exact": ("dpcompose", "estimate-rare", "--method", "doob"),
}
"""The beginnings of the commands that play a source of numbers."""


@lru_cache(maxsize=256)
def is_loadable(adversary: str) -> bool:
    """Whether a shell may take this text of an adversary: a name of the library, or a file."""
    from simulator.adversaries.registry import entries  # imports the library

    is_file = adversary.endswith(".py") or ".py:" in adversary
    is_option = adversary.startswith("-")
    return (is_file and not is_option) or adversary in {entry.name for entry in entries()}


_READERS: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": numeral}
COLUMNS = tuple(each.name for each in fields(Point))
