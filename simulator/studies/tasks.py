"""Tasks: a game, and the quantities wanted of it."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from simulator.adversaries.loading import game_of
from simulator.data.databases import ADD_REMOVE, RELATIONS, Relation
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.foundations.files import canonical_json
from simulator.foundations.validation import whole
from simulator.runner.play import checked_experiments
from simulator.studies.quantities import Quantity
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee

Adversary = Callable[..., Any] | str


@dataclass(frozen=True)
class Task:
    """One game and what to find out about it; a value with an identity of its own.

    Attributes
    ----------
    adversary : a generator function, a rule, a name of the library, ``"file.py:function"``, or None
        where every quantity is about the family alone: a bound, or a worst case.
    family, rounds, seed, relation, filter : as for ``simulate``; texts are read.
    quantities : texts such as ``"epsilon(delta=1e-6)"``, see :class:`Quantity`; at least one.
    experiments : of 0 and 1; a quantity is measured in each of them.
    metadata : what the reader wants to know, kept with the results; no part of the identity.

    Raises InvalidInput where one of them is invalid; the adversary is looked up when it is used.

    >>> from simulator.studies import Task
    >>> task = Task("fixed-worst-case", "pure:0.1", 10, ["epsilon(delta=1e-6)", "mean()"])
    >>> task.label, [str(quantity) for quantity in task.quantities]
    ('fixed-worst-case', ['epsilon(delta=1e-06)', 'mean()'])
    """

    adversary: Adversary | None
    family: Guarantee | str
    rounds: int
    quantities: Sequence[Quantity | str]
    _: KW_ONLY
    seed: int = 0
    relation: Relation | str = ADD_REMOVE
    filter: Filter | str | None = None
    experiments: Sequence[int] = (0, 1)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole("rounds", self.rounds)
        read = [self.quantities] if isinstance(self.quantities, str) else self.quantities
        wanted = tuple(Quantity.parse(each) if isinstance(each, str) else each for each in read)
        if not wanted:
            raise InvalidInput("a task needs a quantity, such as epsilon(delta=1e-6)")
        if self.adversary is None and not all(each.of_family for each in wanted):
            raise InvalidInput("a task without an adversary has bounds and worst cases alone")
        relation = self.relation
        if isinstance(relation, str):
            if relation not in RELATIONS:
                raise InvalidInput(f"no relation {relation!r}; there are {', '.join(RELATIONS)}")
            relation = RELATIONS[relation]
        filter_ = parse_filter(self.filter) if isinstance(self.filter, str) else self.filter
        changed = {
            "quantities": tuple(dict.fromkeys(wanted)),
            "relation": relation,
            "filter": filter_,
            "experiments": checked_experiments(self.experiments),
            "metadata": dict(self.metadata),
        }
        for name, value in changed.items():
            object.__setattr__(self, name, value)
        canonical_json(self.metadata, "the metadata of a task")

    @cached_property
    def game(self) -> Specification:
        """The game, with one trial; raises InvalidInput for an unknown adversary or family."""
        adversary, family = game_of(self.adversary or nobody, self.family, self.rounds)
        return Specification(
            adversary, family, self.rounds, 1, self.seed,
            relation=self.relation, filter=self.filter,  # type: ignore[arg-type]
        )  # fmt: skip

    @cached_property
    def id(self) -> str:
        """A digest of all that a result of this task depends on, besides the program."""
        text = canonical_json(self.game.identity(), "the identity of a task")
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """The adversary's text, or its name; empty where there is none."""
        if self.adversary is None:
            return ""
        return self.adversary if isinstance(self.adversary, str) else self.game.name

    def wanted(self) -> Iterator[tuple[Quantity, int]]:
        """Each quantity in each experiment that it has; bounds and searches have no second one."""
        for quantity in self.quantities:
            assert isinstance(quantity, Quantity)
            single = quantity.source == "bound"
            for experiment in self.experiments[:1] if single else self.experiments:
                yield quantity, experiment


def require_names(tasks: Iterable[Task]) -> None:
    """Raise InvalidInput where two games have one name, so that no reader tells them apart."""
    named: dict[tuple[object, ...], str] = {}
    for task in tasks:
        game = task.game
        values = (game.family, game.rounds, game.relation, game.filter, game.seed)
        metadata = canonical_json(task.metadata, "the metadata of a task")
        if named.setdefault((task.label, *map(str, values), metadata), task.id) != task.id:
            raise InvalidInput(
                f"two different adversaries are named {task.label!r}: give their functions another "
                "__name__ each, or their tasks another metadata each"
            )


def nobody(coins: object) -> Iterator[None]:
    """The adversary of a task about a family alone: it is never played."""
    yield None


def grid(
    adversaries: Iterable[Adversary] | str | None,
    families: Iterable[Guarantee | str] | Guarantee | str,
    rounds: Iterable[int] | int,
    quantities: Sequence[Quantity | str] | str,
    **others: Any,
) -> list[Task]:
    """Every combination of adversaries, families and rounds as a task.

    A text or a number stands for a list with it alone; ``others`` are as for :class:`Task`.

    >>> from simulator.studies import grid
    >>> len(grid("fixed-worst-case", ["pure:0.1", "pure:0.2"], [10, 100, 1000], "tail(epsilon=1)"))
    6
    """
    return [
        Task(adversary, family, k, quantities, **others)
        for adversary, family, k in itertools.product(
            _several(adversaries), _several(families), _several(rounds)
        )
    ]


def _several(value: Any) -> list[Any]:
    single = isinstance(value, str | int | Guarantee) or not isinstance(value, Iterable)
    return [value] if single else list(value)
