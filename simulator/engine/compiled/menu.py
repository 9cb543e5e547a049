"""A rule's menu as arrays, for kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from simulator.adversaries.contract import Challenge, Rule, check_challenge, off_menu, out_of_range
from simulator.adversaries.program.compiling import Step
from simulator.data.databases import Relation
from simulator.engine.promises import limit_of_entry
from simulator.foundations.errors import NotApplicable, placed
from simulator.mechanisms import Free, ScalarMechanism, Scalars
from simulator.theory.filters.interface import Filter, OverMenu, Price, unseen
from simulator.theory.guarantees.interface import Guarantee


class Entries(NamedTuple):
    """A menu as a kernel reads it; see the attributes of :class:`Menu`.

    Attributes
    ----------
    first_state : the words of the rule's state; see :func:`words_of_state`.
    costs : the two numbers of each entry that the filter's step takes.
    work : float64, shape (1, widest params), for the params of a free entry.
    """

    first_state: np.ndarray
    kind: np.ndarray
    rows: np.ndarray
    params: np.ndarray
    low: np.ndarray
    high: np.ndarray
    costs: np.ndarray
    limits: np.ndarray
    work: np.ndarray


@dataclass(frozen=True)
class Menu:
    """A rule's menu as arrays, checked once.

    Attributes
    ----------
    kinds : the distinct kinds of mechanism, in order of first use.
    kind : int64, shape (entries,), the index in ``kinds`` of each entry.
    rows : float64, shape (entries, widest row).
    params : float64, shape (entries, widest params), prepared where the entry is not free.
    low, high : float64, shape (entries,), the interval of a free parameter; NaN otherwise.
    filter_, prices : the filter, and each entry's price; the epsilon of a free entry is its
        parameter.
    exchanged : whether the databases are exchanged, so that losses are ln(p1/p0).
    limits : float64, shape (entries, 2), the largest loss of one round with the entry; see
        :class:`~simulator.engine.promises.Limit`.
    """

    rule: Rule
    relation: Relation
    _: KW_ONLY
    kinds: tuple[Scalars, ...]
    kind: np.ndarray
    rows: np.ndarray
    params: np.ndarray
    low: np.ndarray
    high: np.ndarray
    filter_: Filter | None
    prices: tuple[Price, ...]
    limits: np.ndarray
    exchanged: bool = False

    @classmethod
    def of(
        cls,
        rule: Rule,
        family: Guarantee,
        relation: Relation,
        filter_: Filter | None = None,
        exchanged: bool = False,
    ) -> Menu:
        """The checked menu; raises Breach with the index of the entry.

        With ``exchanged`` the two databases of every entry are exchanged.
        """
        kinds: list[Scalars] = []
        entries = []
        for place, challenge in enumerate(rule.menu):
            with placed(f"menu entry {place} of {rule.name}"):
                database_0, database_1, mechanism = check_challenge(challenge, family, relation)
                assert isinstance(mechanism, ScalarMechanism)
                if exchanged:
                    database_0, database_1 = database_1, database_0
                row = mechanism.checked_row(database_0, database_1, relation)
                price = priced(mechanism, relation, filter_)
                limit = limit_of_entry(mechanism, relation)
            scalars, parameter, ends = mechanism.scalars, mechanism.parameter, (math.nan, math.nan)
            if isinstance(parameter, Free):
                ends, parameter = (parameter.low, parameter.high), parameter.high
            if scalars not in kinds:
                kinds.append(scalars)
            prepared = np.zeros(scalars.width(row))
            scalars.prepare(row, parameter, prepared)
            entries.append((kinds.index(scalars), row, prepared, *ends, price, limit))
        kind, rows, params, low, high, prices, limits = zip(*entries)
        return cls(
            rule,
            relation,
            kinds=tuple(kinds),
            kind=np.array(kind),
            rows=padded(rows),
            params=padded(params),
            low=np.array(low),
            high=np.array(high),
            filter_=filter_,
            prices=prices,
            limits=np.array(limits, dtype=np.float64),
            exchanged=exchanged,
        )

    @cached_property
    def admission(self) -> OverMenu:
        """The filter for kernels; see :meth:`Filter.over_menu`."""
        if self.filter_ is None:
            return OverMenu(no_filter, (0.0,), self.prices)
        return self.filter_.over_menu(self.prices)

    def entries(self) -> Entries:
        """The menu for one call of a kernel, which writes on ``work``."""
        return Entries(
            words_of_state(self.rule), self.kind, self.rows, self.params, self.low, self.high,
            np.array(self.admission.numbers), self.limits, np.zeros((1, self.params.shape[1])),
        )  # fmt: skip

    @property
    def observe(self) -> Callable[[Any, float], Any]:
        """What the filter makes of a round's loss; see :class:`Filter`."""
        return unseen if self.filter_ is None else type(self.filter_).observe

    @property
    def any_free(self) -> bool:
        """Whether some entry leaves its parameter to the rule."""
        return bool(np.isfinite(self.low).any())

    def is_free(self, entry: int) -> bool:
        """Whether the entry leaves its parameter to the rule."""
        return not math.isnan(self.low[entry])

    def complaint(self, move: float, parameter: float) -> str:
        """The error of a move and its parameter for a free entry; or ""."""
        if not (move == move // 1 and 0 <= move < len(self.kind)):
            return off_menu(self.rule.name, move)
        entry = int(move)
        if self.is_free(entry) and not self.low[entry] <= parameter <= self.high[entry]:
            return out_of_range(self.rule.name, parameter)
        return ""

    def challenge(self, entry: int, parameter: float) -> Challenge:
        """The entry's challenge; a free one with its parameter fixed to ``parameter``."""
        challenge = self.rule.menu[entry]
        if self.is_free(entry):
            assert isinstance(challenge.mechanism, ScalarMechanism)
            challenge = challenge._replace(mechanism=challenge.mechanism.with_parameter(parameter))
        return challenge

    def guarantee(self, entry: int) -> Guarantee:
        """The guarantee of the entry's mechanism; of a free one, for every parameter."""
        return self.rule.menu[entry].mechanism.guarantee(self.relation)


def words_of_state(rule: Rule) -> np.ndarray:
    """The words of a program's first state, int64; a rule in Python has none."""
    return np.array(rule.step.state if isinstance(rule.step, Step) else (), dtype=np.int64)


def no_filter(state: tuple[float], epsilon: float, delta: float) -> tuple[bool, tuple[float]]:
    """Admit every round."""
    return True, state


def padded(rows: Sequence[Sequence[float] | np.ndarray]) -> np.ndarray:
    """The rows as one table, with zeros after the shorter ones."""
    table = np.zeros((len(rows), max(map(len, rows))))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def priced(mechanism: ScalarMechanism, relation: Relation, filter_: Filter | None) -> Price:
    """The price of a round with this mechanism under a filter; (0, 0) without a filter."""
    if filter_ is None:
        return 0.0, 0.0
    price = filter_.price_of(mechanism, relation)
    parameter = mechanism.parameter
    if isinstance(parameter, Free) and (not filter_.prices_vary or price != (parameter.high, 0.0)):
        raise NotApplicable(
            f"the {filter_.name} filter cannot account for a free {mechanism.parameter_name} of "
            f"{type(mechanism).__name__} in a compiled rule; write fixed values into the menu"
        )
    return price
