"""The privacy cost of an event: its laws composed in both directions, and every bound."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import overload

from simulator.foundations.curves import Several
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import real
from simulator.theory.bounds.base import Bound
from simulator.theory.bounds.comparison import (
    TRUTH,
    Compute,
    EpsilonAt,
    Question,
    Row,
    Rows,
    check_reach,
    no_finite_epsilon,
    question_of,
    table,
    theorem_row,
    true_row,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import all_bounds
from simulator.theory.bracket import Bracket
from simulator.theory.brackets import Brackets, brackets_at
from simulator.theory.events.leaves import NothingEvent, PromiseEvent
from simulator.theory.events.stored import EVENTS
from simulator.theory.events.tree import (
    ComposedEvent,
    EventRounds,
    EventTree,
    RepeatedEvent,
    check_event,
    compose,
)
from simulator.theory.events.units import ADD_REMOVE, Neighbours, Unit
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.pld.distribution import (
    PLD,
    compose_laws,
    grid_tolerance,
    largest_delta,
    largest_epsilon,
)
from simulator.theory.stored import members_of, written

LARGEST_PARAMETER = 1e4
"""Largest epsilon, mu or rho; beyond it exponentials overflow."""

MOST_CHOSEN = 3
"""Most kinds of rounds with several laws that choose separately: 2^3 compositions."""

Laws = list[tuple[PrivacyLossLaw, int]]

_NOTHING = NothingEvent()


@dataclass(frozen=True)
class Account:
    """The privacy cost of a composition under a neighbouring relation.

    ``Account().then(gaussian(1.0), 100).then("pure:0.1").epsilon(1e-6)`` is a certified bracket;
    ``event`` may be a whole tree.

    Answers hold in both directions: D0 lacks the record in every round, or has it in every round
    (Zhu, Dong and Wang 2022, Theorems 10 and 11). The bounds ``any-direction`` and
    ``dominating-both-directions`` of :meth:`compare` cover adversaries that exchange the databases
    from round to round, which may get more. Raises
    InvalidInput for an invalid event or relation; the answers raise NotApplicable where a node of
    the tree has no theorem.

    Attributes
    ----------
    event : a sensitivity in it is what one record moves under the relation.
    relation : what neighbours are, see :class:`~simulator.theory.events.units.Unit`.
    records : of the group in which they differ.

    >>> from simulator import Account
    >>> account = Account().then("gaussian:2", 10).then("pure:0.1", 5)
    >>> round(account.epsilon(delta=1e-6).upper, 4)
    8.4022
    """

    event: EventTree = _NOTHING
    relation: Neighbours = ADD_REMOVE
    records: int = 1

    def __post_init__(self) -> None:
        check_event(self.event)
        object.__setattr__(self, "records", self.unit.records)

    @property
    def unit(self) -> Unit:
        """What neighbours differ by; its clip is 1, as the events state what a record moves."""
        return Unit(self.relation, self.records)

    def then(self, event: EventTree | Guarantee | str, count: int = 1) -> Account:
        """The account with ``count`` more rounds of ``event``.

        A guarantee, or its text such as ``"pure:0.1"``, stands for any mechanism that keeps it.

        >>> from simulator.theory.events import Account, gaussian
        >>> print(Account(gaussian(1.0)).then("pure:0.1", 3).composition())
        1 x gdp:1.0 + 3 x pure:0.1
        """
        if isinstance(event, str):
            event = parse_guarantee(event)
        one_round = PromiseEvent(event) if isinstance(event, Guarantee) else event
        before = self.event.events if isinstance(self.event, ComposedEvent) else (self.event,)
        kept = [each for each in before if each != _NOTHING]
        return replace(
            self, event=compose(*kept, one_round if count == 1 else RepeatedEvent(one_round, count))
        )

    @cached_property
    def rounds(self) -> tuple[EventRounds, ...]:
        """The rounds of the tree. Raises InvalidInput for a parameter above LARGEST_PARAMETER."""
        found = tuple(self.event.resolved(self.unit))
        for part in found:
            for name in ("epsilon", "mu", "rho"):
                value = getattr(part.guarantees[0], name, 0.0)
                if isinstance(value, float) and value > LARGEST_PARAMETER:
                    raise InvalidInput(
                        f"{part.where}: its {name} is {value:g}, and above {LARGEST_PARAMETER:g} "
                        "there is no privacy to account for"
                    )
        return found

    @cached_property
    def laws(self) -> list[tuple[PrivacyLossLaw, int]]:
        """The law of every round from D0 to D1 (reversed, from D1 to D0), with its count."""
        found = []
        for part in self.rounds:
            if part.law is None:
                promises = " and ".join(each.kind for each in part.guarantees)
                raise NotApplicable(f"{part.where}: no law is known, only a {promises} guarantee")
            found.append((part.law, part.count))
        return found

    @cached_property
    def dominating(self) -> list[Laws]:
        """Laws above the rounds: first :attr:`laws`, then with others where a round has others.

        Up to ``MOST_CHOSEN`` kinds of such rounds choose separately, more of them alike.
        """
        choices = [(part.law, *part.others) for part in self.rounds]
        kinds = [kind for kind in dict.fromkeys(choices) if len(kind) > 1]
        if len(kinds) > MOST_CHOSEN:
            picks = [(place,) * len(kinds) for place in range(len(kinds[0]))]
        else:
            picks = list(itertools.product(*(range(len(kind)) for kind in kinds)))
        found: list[Laws] = []
        for pick in picks:
            place = dict(zip(kinds, pick))
            found.append([
                (own if kind not in place else kind[place[kind]] or own, count)
                for (own, count), kind in zip(self.laws, choices)
            ])  # fmt: skip
        return found

    @property
    def exact(self) -> bool:
        """Whether some databases attain the composed laws; if not, only upper ends are certain."""
        return all(part.exact for part in self.rounds)

    def composition(self, curves: bool = False) -> Composition:
        """The guarantees of the rounds; with ``curves`` their Renyi curves where there are any.

        >>> from simulator.theory.events import Account, laplace
        >>> print(Account(laplace(2.0)).composition())
        1 x pure:0.5
        """
        place = -1 if curves else 0
        found = Composition.of(*((part.guarantees[place], part.count) for part in self.rounds))
        return found.unordered if any(part.alternating for part in self.rounds) else found

    def directions(self, tolerance: float | None = None) -> tuple[PLD, ...]:
        """The composed losses: one where both directions have one law, otherwise two."""
        return composed_both(self.laws, tolerance)

    @overload
    def epsilon(self, delta: float, tolerance: float | None = None) -> Bracket: ...
    @overload
    def epsilon(self, delta: Several, tolerance: float | None = None) -> Brackets: ...
    def epsilon(self, delta: float | Several, tolerance: float | None = None) -> Bracket | Brackets:
        """Certified ends of the least epsilon at ``delta``, 0 or in [1e-300, 1), or at several.

        A list or an array, whose points are answered by one composition, gives
        :class:`~simulator.theory.bracket.Brackets`. Where a promise has no worst law, such as
        ``zcdp:0.1`` or ``range:0.1``, the upper end is the tightest of :meth:`compare`. Raises
        NotApplicable where the promises leave epsilon without an upper end, or where rounding
        does: delta is the probability of an infinite loss to some 13 digits.

        >>> from simulator.theory.events import Account, gaussian
        >>> print(Account(gaussian(1.0)).epsilon(1e-6))
        between 4.8865541 and 4.8865542
        """
        composed = cache(lambda: self.directions(tolerance))

        def at_one(delta: float) -> Bracket:
            if not self.exact:
                return self._tightest(tolerance, delta=delta)
            if delta == 0.0:
                return self._truth(EpsilonAt(0.0), tolerance).answer
            found = largest_epsilon(composed(), delta)
            if found.lower < found.upper == math.inf:  # delta is the mass at infinite loss
                with suppress(NotApplicable):  # where a theorem is without rounding
                    found = found.meet(self._tightest(tolerance, delta=delta))
                if found.lower == 0.0 and math.isinf(found.upper):
                    lost = max(pld.laws.infinite_mass for pld in composed())
                    raise no_finite_epsilon(lost, delta)
            return found

        return brackets_at("delta", delta, at_one, "epsilon of delta")

    @overload
    def delta(self, epsilon: float, tolerance: float | None = None) -> Bracket: ...
    @overload
    def delta(self, epsilon: Several, tolerance: float | None = None) -> Brackets: ...
    def delta(self, epsilon: float | Several, tolerance: float | None = None) -> Bracket | Brackets:
        """Certified ends of delta at a finite ``epsilon``, by the bounds where no law is exact.

        A list or an array gives Brackets, from one composition.

        >>> from simulator.theory.events import Account, gaussian
        >>> print(Account(gaussian(1.0)).delta(1.0))
        between 0.12693673 and 0.12693674
        """
        composed = self.directions(tolerance) if self.exact else ()

        def at_one(epsilon: float) -> Bracket:
            if not composed:
                return self._tightest(tolerance, epsilon=epsilon)
            return largest_delta(composed, real("epsilon", epsilon))

        return brackets_at("epsilon", epsilon, at_one, "delta of epsilon")

    def _tightest(
        self, tolerance: float | None, *, delta: float | None = None, epsilon: float | None = None
    ) -> Bracket:
        """The bracket of the tightest upper end among the rows; nothing is certain below it."""
        rows = self.compare(delta=delta, epsilon=epsilon, tolerance=tolerance)
        return Bracket(0.0, min(row.answer.upper for row in rows))

    def to_json(self) -> str:
        """One line of JSON, from which :meth:`from_json` makes an equal account."""
        group = {} if self.records == 1 else {"records": self.records}
        unit = {"relation": self.relation, **group}
        return written("event", {**unit, "event": EVENTS.write(self.event)})

    @classmethod
    def from_json(cls, text: str) -> Account:
        """Inverse of :meth:`to_json`; the unit is one record that is added or removed by default.

        Raises InvalidInput with the path of what is wrong.
        """
        found = members_of(text, "event", ("event",))
        relation = found["relation"].text() if "relation" in found else ADD_REMOVE
        records = found["records"].whole() if "records" in found else 1
        return cls(EVENTS.read(found["event"]), relation, records)  # type: ignore[arg-type]

    def compare(
        self,
        *,
        delta: float | None = None,
        epsilon: float | None = None,
        names: Collection[str] = (),
        tolerance: float | None = None,
        exact_only: bool = False,
    ) -> Rows:
        """The rows of every bound and of the composed loss, sorted by tightness.

        The result is a list; ``to_frame()``, ``to_csv(path)`` and ``to_parquet(path)`` write it.

        Parameters
        ----------
        delta, epsilon : exactly one: the result is the epsilon at that delta, or the delta at it.
        names : of bounds, or ``privacy-loss-distribution``; by default all that apply.
        tolerance : the largest relative width of the exact row, in [1e-12, 1]; by default it aims
            at 1e-8, or where the loss is put on a grid at 1e-6, or 1e-4 for more than 32 distinct
            laws, and may be wider.
        exact_only : whether to leave out the composed loss where it is only an upper end.

        >>> from simulator.theory.events import Account, gaussian
        >>> [row.name for row in Account(gaussian(1.0)).compare(delta=1e-6)][:2]
        ['analytic-gaussian', 'privacy-loss-distribution']
        """
        if tolerance is not None:
            PLD.nothing(tolerance)  # raises InvalidInput where it is out of range
        question = question_of(delta, epsilon)

        def truth() -> Row:
            if exact_only and not self.exact:
                raise NotApplicable(
                    f"{TRUTH}: no single pair of laws is this mechanism's worst case"
                )
            return self._truth(question, tolerance)

        theorems = {bound.name: self._theorem(question, bound) for bound in all_bounds()}
        if not names and self.exact:  # these compose what the composed loss is of
            del theorems["one-direction"], theorems["dominating-pairs"]
        return table(theorems, truth, names)

    def _theorem(self, question: Question, bound: Bound) -> Compute:
        """A function for the bound's row: on the guarantees or on their curves, the smaller one."""
        places = (-1, 0) if any(len(part.guarantees) > 1 for part in self.rounds) else (0,)

        def compute() -> Row:
            rows: list[Row] = []
            refusals: list[NotApplicable] = []
            for place in places:
                attained = all(part.guarantees[place] == part.attained for part in self.rounds)
                composition = self.composition(curves=place == -1)
                try:
                    rows.append(theorem_row(question, bound, composition, attained))
                except NotApplicable as error:
                    refusals.append(error)
            if not rows:
                raise refusals[0]
            return min(rows, key=lambda row: row.answer.upper)

        return compute

    def _truth(self, question: Question, tolerance: float | None) -> Row:
        if self.exact:
            check_reach(self.laws)
            return true_row(question, self.laws, len(self.directions()) > 1, tolerance)
        rows, refusals = [], []
        for laws in self.dominating:
            try:
                check_reach(laws)
                both = len(composed_both(laws)) > 1
                rows.append(true_row(question, laws, both, tolerance))
            except NotApplicable as error:
                refusals.append(error)
        if not rows:
            raise refusals[0]
        upper = min(row.answer.upper for row in rows)
        source = "laws that dominate every mechanism of the promises, composed numerically"
        seconds = sum(row.seconds for row in rows)
        return Row(TRUTH, "upper", Bracket(0.0, upper), source, seconds=seconds)


def composed_both(laws: Laws, tolerance: float | None = None) -> tuple[PLD, ...]:
    """The composed losses: one where both directions have one law, otherwise two."""
    if tolerance is None:
        tolerance = grid_tolerance(law for law, _ in laws)
    one = compose_laws(laws, tolerance)
    exchanged = [(law.reversed(), count) for law, count in laws]
    return (one,) if exchanged == laws else (one, compose_laws(exchanged, tolerance))
