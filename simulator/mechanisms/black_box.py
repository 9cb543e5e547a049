"""Mechanisms of other people's code: they are run, and nothing is known of their likelihood.

The play keeps the view of every trial with such a mechanism, and knows no loss. Whether a claim is
kept is then a question to the views, for an audit to answer.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms.base import Mechanism
from simulator.mechanisms.copies import own_copy
from simulator.theory.guarantees.families import Guarantee


@dataclass(frozen=True)
class Raised:
    """The answer of a black box that raised an exception: the name of its type, and no more.

    An exception on one database only is a leak, so it is an answer like any other.
    """

    kind: str

    def __repr__(self) -> str:
        return f"raised {self.kind}"

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """The answer that stands for an exception."""
        return cls(type(error).__name__)


def takes_generator(function: Callable[..., Any]) -> bool:
    """Whether a function of a database also takes a generator: by a second positional argument.

    That is one without a default, or one that is named ``rng``. What has no signature takes none.
    """
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__  # made anew in every round, perhaps: a signature takes longer
        required = code.co_argcount - len(function.__defaults__ or ())
        return code.co_argcount > 1 and (required > 1 or code.co_varnames[1] == "rng")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 and (
        positional[1].default is inspect.Parameter.empty or positional[1].name == "rng"
    )


def answer_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a black box answers, as a copy of its own; :class:`Raised` where it raises.

    Raises Breach for an answer that cannot be copied: it could change after it was given.
    """
    try:
        answer = function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's code raises is its answer
        return Raised.of(error)
    try:
        return own_copy(answer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Breach(
            f"a black box answered {answer!r}, which cannot be copied ({type(error).__name__}): "
            "let it answer numbers, strings, tuples or arrays"
        ) from None


class NoLikelihood(Mechanism):
    """What all mechanisms share of which nothing but their answers is known."""

    __slots__ = ()

    claimed: Guarantee
    has_likelihood: ClassVar[bool] = False

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The guarantee that is claimed, under whatever relation it is played."""
        return self.claimed

    def log_likelihood_ratio(
        self,
        answer: Any,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """Raise NotApplicable: it is not known."""
        raise NotApplicable(f"{self!r} has no likelihood: audit the views of its play")

    def outcomes(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> tuple[list[Any], list[float], list[float]]:
        """Raise NotApplicable: they are not known."""
        raise NotApplicable(f"{self!r} has no likelihood: audit the views of its play")


def checked_black_box(kind: str, function: Any, claimed: Any) -> None:
    """Raise InvalidInput unless there is something to call and a claim."""
    if not callable(function):
        raise InvalidInput(f"{kind} needs a function of a database, not {function!r}")
    if not isinstance(claimed, Guarantee):
        raise InvalidInput(
            f"{kind} needs the guarantee that it claims, such as PureDP(0.1), not {claimed!r}"
        )


def name_of(function: Any) -> str:
    """A function's name, or its type's."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


@dataclass(frozen=True, repr=False, slots=True)
class BlackBox(NoLikelihood):
    """A mechanism of any callable, without a likelihood.

    Parameters
    ----------
    sampler : ``sampler(database, rng)`` or ``sampler(database)`` returns one answer: a number, a
        string, a tuple, an array, None. An exception is an answer too, see :class:`Raised`. A
        sampler that draws from another source than ``rng`` is played as it is, and the play says
        that it cannot be reproduced.
    claimed : the guarantee to hold it to.
    name : for messages; by default the sampler's.
    """

    sampler: Callable[..., Any]
    claimed: Guarantee
    name: str = ""
    with_generator: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        checked_black_box("BlackBox", self.sampler, self.claimed)
        object.__setattr__(self, "name", self.name or name_of(self.sampler))
        object.__setattr__(self, "with_generator", takes_generator(self.sampler))

    def __repr__(self) -> str:
        return f"BlackBox({self.name}, claimed={self.claimed})"

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Any:
        """Draw one answer on ``database``."""
        arguments = (database, noise) if self.with_generator else (database,)
        return answer_of(self.sampler, *arguments)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> BlackBoxPair:
        """The mechanism on these two databases."""
        return BlackBoxPair(self, database_0, database_1)


class BlackBoxPair:
    """A black box on two databases: it can be drawn from, and no loss is known."""

    __slots__ = ("_databases", "_mechanism")

    def __init__(self, mechanism: Mechanism, database_0: Database, database_1: Database) -> None:
        self._mechanism = mechanism
        self._databases = database_0, database_1

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """Draw one answer on database ``b``; any answer is one, NaN as well."""
        return self._mechanism.sample(self._databases[b], noise)

    def loss(self, answer: Any) -> float:
        """NaN: it is not known."""
        return math.nan
