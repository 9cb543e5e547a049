"""A task of a study while it is played: what is known, and what is due."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace

from simulator.foundations.files import canonical_json
from simulator.runner.worker import Player
from simulator.studies.answers import Answer, Findings, Look, failed
from simulator.studies.points import Point
from simulator.studies.quantities import Quantity
from simulator.studies.stopping import NARROW, SURE, StoppingRule
from simulator.studies.tasks import Task


@dataclass
class UnderWay:
    """A task that is being played."""

    task: Task
    rule: StoppingRule
    program: str
    _: KW_ONLY
    look: int = 0
    points: dict[tuple[str, int], Point] = field(default_factory=dict)
    seconds: float = 0.0
    last_seconds: float = 0.0

    def wanted(self) -> tuple[tuple[Quantity, int], ...]:
        """The quantities that are not done, each with its experiment."""
        return tuple(
            (quantity, experiment)
            for quantity, experiment in self.task.wanted()
            if not self._is_done(quantity, experiment)
        )

    def _is_done(self, quantity: Quantity, experiment: int) -> bool:
        found = self.found(quantity, experiment)
        return bool(found) and all(point.stopped for point in found)

    def found(self, quantity: Quantity, experiment: int) -> list[Point]:
        """The points of a quantity: one, or one per bound."""
        if quantity.source == "bound" and not quantity.name:
            place = str(quantity).removeprefix("bound")
            return [
                point
                for (name, _), point in self.points.items()
                if name == str(quantity) or (name.startswith("bound:") and name.endswith(place))
            ]
        point = self.points.get((str(quantity), experiment))
        return [] if point is None else [point]

    def ordered(self) -> list[Point]:
        """All points, in the order of the quantities."""
        return [point for each in self.task.wanted() for point in self.found(*each)]

    @property
    def rounds(self) -> int:
        """The rounds of the next look, of all experiments."""
        return self.rule.trials_at(self.look) * self.task.rounds * len(self.task.experiments)

    def next_look(self) -> Look:
        """What is to be found out next."""
        game = replace(self.task.game, trials=self.rule.trials_at(self.look))
        return Look(
            Player(game),
            self.wanted(),
            error=self.rule.error_at(self.look, 1.0 - self.rule.confidence),
            sure=self.rule.error_at(self.look, SURE),
            width=self.rule.width or NARROW,
        )

    def take(self, answers: Findings) -> list[Point]:
        """The points of a look's answers; the next look is due."""
        self.seconds += answers.seconds
        self.last_seconds = answers.seconds
        given = answers.found
        if answers.failed:
            given = tuple(failed(quantity, b, answers.failed) for quantity, b in self.wanted())
        found = [self._point(answer) for answer in given]
        self.points |= {(point.quantity, point.experiment): point for point in found}
        self.look += 1
        return found

    def _point(self, answer: Answer) -> Point:
        task, rule, certified = self.task, self.rule, answer.certified
        lower, upper = answer.ends
        stopped = rule.reason(self.look, lower, upper, answer.hits)
        if answer.failed or certified:
            stopped = "failed" if answer.failed else "certified"
        if certified and answer.method == "approximation":
            stopped = "approximation"
        s = task.game
        return Point(
            task=task.id,
            adversary=task.label,
            family=str(s.family),
            rounds=s.rounds,
            relation=str(s.relation),
            filter="" if s.filter is None else str(s.filter),
            seed=s.seed,
            experiment=answer.experiment,
            quantity=str(answer.quantity),
            value=answer.value,
            lower=lower,
            upper=upper,
            confidence=float(stopped == "certified") if certified else rule.confidence,
            sure_lower=answer.sure[0],
            sure_upper=answer.sure[1],
            method=answer.method,
            trials=0 if certified else rule.trials_at(self.look),
            hits=answer.hits,
            looks=self.look + 1,
            stopped=stopped,
            seconds=round(self.seconds, 3),
            program=self.program,
            metadata=canonical_json(task.metadata, "the metadata of a task"),
            error=answer.error,
        )

    def decide(self, decided: set[tuple[str, str, int]]) -> list[Point]:
        """Stop the quantities with these keys, and open those that are no longer among them."""
        changed = [
            replace(point, stopped="decided" if point.key in decided else "")
            for point in self.points.values()
            if point.stopped in ("", "decided") and (point.key in decided) != bool(point.stopped)
        ]
        self.points |= {(point.quantity, point.experiment): point for point in changed}
        return changed

    def resume(self, stored: dict[tuple[str, str, int], Point]) -> None:
        """Take over the lines of an earlier call, and go on after its last look."""
        own = [point for key, point in stored.items() if key[0] == self.task.id]
        for point in own:
            if self._is_reusable(point):
                self.points[point.quantity, point.experiment] = point
        due = [self._stored_looks(own, *each) for each in self.wanted()]
        self.look = min(due, default=0)

    def _stored_looks(self, own: list[Point], quantity: Quantity, experiment: int) -> int:
        """How many looks at a quantity are stored that did not stop it."""
        for point in own:
            same = (point.quantity, point.experiment) == (str(quantity), experiment)
            if same and point.stopped in ("", "decided") and self._is_of_a_look(point):
                kept = point.stopped if self.rule.decide else ""  # decided anew between two waves
                self.points[point.quantity, point.experiment] = replace(point, stopped=kept)
                return point.looks
        return 0

    def _is_reusable(self, point: Point) -> bool:
        if point.computed:
            return True
        if not (point.done and self._is_of_a_look(point)):
            return False
        reason = self.rule.reason(point.looks - 1, point.lower, point.upper, point.hits)
        # A lone look, without a width or hits, has the whole error; such a line is of one look.
        return bool(reason) and (point.looks > 1 or reason == point.stopped)

    def _is_of_a_look(self, point: Point) -> bool:
        """Whether a point is of a look that this call would take."""
        trials = self.rule.trials_at(point.looks - 1)
        return (point.confidence, point.trials) == (self.rule.confidence, trials)
