"""The adversary's contract: its challenges, the answers it receives, and the checks.

An adversary is a generator function, ``answer = yield database_0, database_1, mechanism``, which
receives its coins (a numpy Generator of its own) and nothing else. Who has a step function over a
menu of challenges makes a :class:`Rule` of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

from simulator.data.databases import Database, Relation
from simulator.foundations.errors import Breach, InvalidInput
from simulator.identity.keys import is_fixed
from simulator.identity.origins import is_of_package
from simulator.mechanisms import Free, Mechanism, Pair, ScalarMechanism
from simulator.mechanisms.sensitivities import check_sensitivities
from simulator.theory.guarantees.interface import Guarantee


class Challenge(NamedTuple):
    """What an adversary sends in a round: the triple D^{i,0}, D^{i,1}, M_i.

    By the convention of Roth 2011 (Lecture 4) ``database_1`` holds Alice and ``database_0`` does
    not. Any 3-tuple that an adversary yields is taken for one.

    >>> from simulator import Database, Laplace, counting_query
    >>> from simulator.adversaries import Challenge
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> count = Laplace(counting_query("alice"), 0.1)
    >>> Challenge(everyone.remove("alice"), everyone, count).mechanism.epsilon
    0.1
    """

    database_0: Database
    database_1: Database
    mechanism: Mechanism


Playing = Generator[Any, Any, None]
"""An adversary at play: it yields challenges and receives answers."""
GeneratorAdversary = Callable[[np.random.Generator], Playing]


@dataclass(frozen=True)
class Rule:
    """A rule over a menu: an adversary that is written as a step function.

    Parameters
    ----------
    step : ``step(state, round, answer, coins) -> (state, move)`` or ``(state, move, parameter)``,
        a plain function of scalars. ``round`` counts from 0; ``answer`` is the last answer as a
        float, NaN in round 0 and after a query that a filter refused; ``coins`` is the
        adversary's own numpy Generator; ``move`` is an index into the menu; ``parameter`` fixes
        the menu entry's free privacy parameter.
    menu : the challenges to choose from, each with a :class:`ScalarMechanism`.
    state : the state before round 0: a number, or a tuple of numbers whose types the step keeps.
        What can be altered, such as an array, is refused.
    name : for tables; by default the step's name.

    >>> from simulator import Database, Laplace, counting_query
    >>> from simulator.adversaries import Challenge, Rule
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> count = Challenge(everyone.remove("alice"), everyone, Laplace(counting_query("alice"), 0.1))
    >>> def always(state, round, answer, coins):
    ...     return state, 0
    >>> Rule(always, (count,)).name
    'always'
    """

    step: Callable[..., tuple[Any, ...]]
    menu: tuple[Challenge, ...]
    state: Any = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "menu", tuple(Challenge(*entry) for entry in self.menu))
        object.__setattr__(self, "name", self.name or self.step.__name__)
        if not self.menu:
            raise InvalidInput(f"the rule {self.name} has an empty menu")
        if not is_fixed(self.state):
            raise InvalidInput(
                f"the state of {self.name} is {self.state!r}, which a step can alter, so that it "
                "would pass from trial to trial: start from a number or a tuple of numbers"
            )
        for place, challenge in enumerate(self.menu):
            if not isinstance(challenge.mechanism, ScalarMechanism):
                raise InvalidInput(
                    f"menu entry {place} of {self.name} is not a scalar mechanism: "
                    f"{challenge.mechanism!r}; write this adversary as a generator function"
                )

    def __reduce__(self) -> tuple[Callable[..., Rule], tuple[Any, ...]]:
        # A decorated step is not found under its name, which is the rule's, nor is a predicate in
        # a query of the menu: plain pickle, which keeps names of functions only, would refuse both.
        return _restored, (cloudpickle.dumps((self.step, self.menu)), self.state, self.name)

    def __call__(self, coins: np.random.Generator) -> Generator[Challenge, float, None]:
        """Drive the same step function as a generator adversary."""
        state, answer, i = self.state, float("nan"), 0
        while True:
            state, *move = self.step(state, i, answer, coins)
            if move[0] not in range(len(self.menu)):
                raise Breach(off_menu(self.name, move[0]))
            entry = int(move[0])
            challenge = self.menu[entry]
            mechanism = challenge.mechanism
            assert isinstance(mechanism, ScalarMechanism)
            if isinstance(mechanism.parameter, Free):
                if len(move) < 2:
                    raise Breach(f"move {entry} needs a parameter in {mechanism.parameter}")
                check_in(mechanism.parameter, float(move[1]))
                challenge = challenge._replace(mechanism=mechanism.with_parameter(float(move[1])))
            answer = yield challenge
            i += 1


def name_of(adversary: Callable[..., Any]) -> str:
    """The name of an adversary, which is part of what seeds its draws."""
    for attribute in ("name", "__name__"):
        if named := getattr(adversary, attribute, ""):
            return str(named)
    return type(adversary).__name__


def is_of_library(adversary: Callable[..., Any]) -> bool:
    """Whether an adversary is written in this package: it is known to depend on its seeds alone."""
    written = adversary.step if isinstance(adversary, Rule) else adversary
    return is_of_package(written if isinstance(written, FunctionType) else type(written))


def _restored(played: bytes, state: Any, name: str) -> Rule:
    step, menu = cloudpickle.loads(played)
    return Rule(step, menu, state, name)


def off_menu(name: str, move: float) -> str:
    """Return the Breach of a rule whose move is not the index of a menu entry."""
    shown = f"{move:g}" if isinstance(move, float) else str(move)
    return f"{name} made the move {shown}, which is not on its menu"


def out_of_range(name: str, parameter: float) -> str:
    """Return the Breach of a rule whose parameter is outside its menu entry's interval."""
    return f"{name} chose the parameter {parameter}, outside what its menu entry allows"


def rule(
    menu: Any, state: Any = 0.0, name: str = ""
) -> Callable[[Callable[..., tuple[Any, ...]]], Rule]:
    """Make a :class:`Rule` of the decorated step function.

    Parameters
    ----------
    menu : the challenges to choose from, ``(database_0, database_1, mechanism)`` each.
    state : the state before round 0 of every trial: a number or a tuple of numbers.
    name : for tables; by default the step's name.

    The step is ``step(state, round, answer, coins)``, and returns the next state and an index into
    the menu (and a parameter, where the menu's entry leaves one free). ``round`` counts from 0. In
    round 0 there is no answer yet and ``answer`` is NaN, which is neither above nor below any
    number: add it to a sum only where ``round > 0``. It is NaN too after a query that a filter
    refused.

    >>> from simulator import Database, Laplace, counting_query, rule
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> without, alice = everyone.remove("alice"), counting_query("alice")
    >>> menu = [(without, everyone, Laplace(alice, epsilon)) for epsilon in (0.1, 0.2)]
    >>> @rule(menu)
    ... def press_when_ahead(state, round, answer, coins):
    ...     return state, 1 if answer > 0.5 else 0
    >>> press_when_ahead.name
    'press_when_ahead'
    """

    def decorate(step: Callable[..., tuple[Any, ...]]) -> Rule:
        return Rule(step, tuple(menu), state, name)

    return decorate


def check_in(free: Free, parameter: float) -> None:
    """Raise Breach unless a move's parameter is in its menu entry's interval."""
    if not free.low <= parameter <= free.high:
        raise Breach(
            f"the move's parameter {parameter!r} is outside the menu's [{free.low}, {free.high}]"
        )


def no_triple(challenge: Any) -> str:
    """Return the Breach of an adversary that sent a value other than a challenge."""
    return f"the adversary must yield (database_0, database_1, mechanism), not {challenge!r}"


def check_databases(database_0: Any, database_1: Any, relation: Relation) -> None:
    """Raise Breach unless these are databases, and neighbours under the relation."""
    for database in (database_0, database_1):
        if not isinstance(database, Database):
            raise Breach(f"the adversary yielded {database!r} where a Database belongs")
    if not relation.are_neighbours(database_0, database_1):
        difference = relation.difference(database_0, database_1)
        raise Breach(f"the databases are not neighbours under {relation}: {difference}")


def check_mechanism(mechanism: Any, family: Guarantee, relation: Relation) -> Guarantee:
    """Return the mechanism's guarantee; raises Breach where it is outside the family."""
    if Mechanism not in type(mechanism).__mro__:  # faster than isinstance of an abstract class
        raise Breach(f"the adversary yielded {mechanism!r} where a mechanism belongs")
    guarantee: Guarantee = mechanism.guarantee(relation)
    if not guarantee.implies(family):
        raise Breach(f"{mechanism!r} promises {guarantee}, outside the family {family}")
    return guarantee


def check_challenge(challenge: Any, family: Guarantee, relation: Relation) -> Challenge:
    """Return the challenge if it keeps the rules, except for its query's sensitivity.

    Raises Breach when it is not a triple, when the databases are not neighbours, or when the
    mechanism is outside the family.
    """
    try:
        database_0, database_1, mechanism = challenge
    except (TypeError, ValueError):
        raise Breach(no_triple(challenge)) from None
    check_databases(database_0, database_1, relation)
    check_mechanism(mechanism, family, relation)
    return Challenge(database_0, database_1, mechanism)


def admit(challenge: Any, family: Guarantee, relation: Relation) -> Pair:
    """Check a challenge completely and return its prepared pair; raises Breach."""
    database_0, database_1, mechanism = check_challenge(challenge, family, relation)
    check_sensitivities(mechanism, database_0, database_1, relation)
    return mechanism.pair(database_0, database_1, relation)
