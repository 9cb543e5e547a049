"""The numbers of one look at a task: played, searched or computed, in a worker."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.rare import Setting, estimate_rare
from simulator.analysis.result import Result
from simulator.analysis.searches import worst_case_of_family
from simulator.data.databases import REPLACE_ONE, Relation
from simulator.engine.specification import Specification
from simulator.foundations.errors import DpcomposeError, InvalidInput, NotApplicable, Refusal
from simulator.runner.play import run
from simulator.runner.store import RunStore
from simulator.runner.worker import Player, Received
from simulator.studies.quantities import AT, Quantity
from simulator.studies.stopping import NARROW
from simulator.theory.bounds.comparison import Row
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account
from simulator.theory.guarantees.interface import Guarantee


@dataclass(frozen=True)
class Look:
    """What to find out about a task at one look.

    Attributes
    ----------
    player : the game with the trials of this look, in a form that reaches a worker.
    wanted : quantities and experiments.
    error, sure : the probabilities that an interval, and that its wider ends, may miss.
    width : the relative width at which a search for the worst adversary ends.
    """

    player: Player | Received
    wanted: tuple[tuple[Quantity, int], ...]
    error: float
    sure: float
    width: float = NARROW

    @property
    def game(self) -> Specification:
        """The game; raises InvalidInput in a worker that cannot load it."""
        return self.player.specification


class Answer(NamedTuple):
    """One number: its interval, its wider ends, and how it was found."""

    quantity: Quantity
    experiment: int
    value: float
    ends: tuple[float, float]
    sure: tuple[float, float]
    method: str
    hits: int
    error: str = ""
    certified: bool = False
    failed: bool = False


def failed(quantity: Quantity, experiment: int, why: str) -> Answer:
    """The answer of a quantity that could not be found."""
    nothing = math.nan, math.nan
    return Answer(quantity, experiment, math.nan, nothing, nothing, "", 0, why, failed=True)


@dataclass(frozen=True)
class Findings:
    """The answers of a look, and the seconds that it took; ``failed`` is an error's text."""

    found: tuple[Answer, ...]
    seconds: float
    failed: str = ""
    traceback: str = ""


def answers_of(look: Look) -> Findings:
    """Answer a look in this process. An error is returned: one task does not stop the others."""
    return answered(look, jobs=1, store=None)


def answered(look: Look, jobs: int | None, store: RunStore | None) -> Findings:
    """Answer a look with ``jobs`` workers, keeping blocks in ``store``."""
    import traceback

    start = time.perf_counter()
    try:
        found: list[Answer] = []
        simulated = [each for each in look.wanted if each[0].source == "simulated"]
        if simulated:
            experiments = sorted({experiment for _, experiment in simulated})
            result = Result.of(run(look.game, experiments, jobs, store, progress=False))
            found += [_estimated(look, result, *each) for each in simulated]
        for quantity, experiment in look.wanted:
            if quantity.source != "simulated":
                try:
                    found += _SOURCES[quantity.source](look, quantity, experiment)
                except DpcomposeError as error:
                    found.append(failed(quantity, experiment, str(error)))
        return Findings(tuple(found), time.perf_counter() - start)
    except KeyboardInterrupt:
        raise
    except DpcomposeError as error:
        return Findings((), time.perf_counter() - start, str(error), traceback.format_exc())
    except Exception as error:  # code of a user
        text = f"{type(error).__name__}: {error}"
        return Findings((), time.perf_counter() - start, text, traceback.format_exc())


def _estimated(look: Look, result: Result, quantity: Quantity, experiment: int) -> Answer:
    """A quantity from plain plays."""
    measure = getattr(result, quantity.kind)
    at = (quantity.at,) if AT[quantity.kind] else ()
    try:
        near: Estimate = measure(*at, experiment, 1.0 - look.error)
        far: Estimate = measure(*at, experiment, 1.0 - look.sure)
    except Refusal as refused:
        return _refused(quantity, experiment, refused)
    return _answer(quantity, experiment, near, far)


def _answer(quantity: Quantity, experiment: int, near: Estimate, far: Estimate) -> Answer:
    value = near.lower if near.lower == near.upper else near.value
    return Answer(
        quantity, experiment, value, (near.lower, near.upper), (far.lower, far.upper),
        near.method, near.hits, near.no_value,
    )  # fmt: skip


def _refused(quantity: Quantity, experiment: int, why: Exception) -> Answer:
    ends = (0.0, 1.0 if quantity.kind in ("tail", "delta") else math.inf)
    return Answer(quantity, experiment, math.nan, ends, ends, "refused", 0, str(why))


def _rare(look: Look, quantity: Quantity, experiment: int) -> list[Answer]:
    """A quantity from plays under a measure, or by recursion where that applies."""
    return [_by_method(quantity.name or "auto", look, quantity, experiment)]


def _exact(look: Look, quantity: Quantity, experiment: int) -> list[Answer]:
    """A quantity by recursion over the states and losses of a rule."""
    return [_by_method("doob", look, quantity, experiment)]


def _by_method(method: str, look: Look, quantity: Quantity, experiment: int) -> Answer:
    s = look.game
    setting = Setting(relation=s.relation, filter=s.filter, jobs=1, progress=False)
    try:
        event = estimate_rare(
            s.adversary, s.family, s.rounds, s.trials, epsilon=quantity.epsilon,
            delta=quantity.delta, experiment=experiment, method=method,
            confidence=1.0 - look.error, seed=s.seed, setting=setting,
        )  # fmt: skip
        sure = event.read(confidence=1.0 - look.sure)
    except Refusal as refused:
        return _refused(quantity, experiment, refused)
    name = {"tail": "tail", "delta": "delta", "epsilon": "at_delta"}[quantity.kind]
    near, far = getattr(event, name), getattr(sure, name)
    exact = near.lower == near.upper or near.method.startswith("exact")
    return _answer(quantity, experiment, near, far)._replace(certified=exact)


def _worst(look: Look, quantity: Quantity, experiment: int) -> list[Answer]:
    """Certified ends of the worst adversary of the family."""
    s = look.game
    if quantity.kind == "epsilon":
        raise InvalidInput("the worst adversary is searched at an epsilon: delta(epsilon=)")
    found = worst_case_of_family(
        str(s.family), epsilon=quantity.at, rounds=s.rounds, filter=s.filter,
        experiment=experiment, relation=s.relation, tolerance=look.width,
    )  # fmt: skip
    return [_certified(quantity, experiment, found.delta, "search")]


def _bound(look: Look, quantity: Quantity, experiment: int) -> list[Answer]:
    """Each bound on the family, or the one that is named."""
    s = look.game
    if s.filter is not None:
        raise InvalidInput("the bounds are of a number of rounds, not of a filter")
    rows = _rows(s.family, s.rounds, s.relation, quantity)
    if not rows:
        raise NotApplicable(f"no bound applies to {s.rounds} rounds of {s.family}")
    return [
        _certified(replace(quantity, name=row.name), experiment, row.answer, row.kind)
        for row in rows
    ]


@lru_cache(maxsize=64)
def _rows(
    family: Guarantee, rounds: int, relation: Relation, quantity: Quantity
) -> tuple[Row, ...]:
    account = Account(relation="replace-one" if relation is REPLACE_ONE else "add-remove")
    account = account.then(family, rounds)
    names = (quantity.name,) if quantity.name else ()
    return tuple(account.compare(epsilon=quantity.epsilon, delta=quantity.delta, names=names))


def _certified(quantity: Quantity, experiment: int, found: Bracket, method: str) -> Answer:
    ends = found.lower, found.upper
    return Answer(quantity, experiment, found.value, ends, ends, method, 0, certified=True)


_SOURCES = {"rare": _rare, "exact": _exact, "worst": _worst, "bound": _bound}
