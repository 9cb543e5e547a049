"""Mechanisms that are arbitrary code, without a likelihood.

The views of all trials with such a mechanism are kept, as their losses are unknown. Whether it
keeps its claim is tested by an audit of the views.
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
from simulator.theory.guarantees.interface import Guarantee


@dataclass(frozen=True)
class Raised:
    """The answer of a black box that raised an exception: the name of its type.

    An exception may depend on the database, so it is an answer like any other.

    >>> from simulator.mechanisms import Raised
    >>> Raised.of(ValueError("no records"))
    raised ValueError
    """

    kind: str

    def __repr__(self) -> str:
        return f"raised {self.kind}"

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """The answer that stands for an exception."""
        return cls(type(error).__name__)


def takes_generator(function: Callable[..., Any]) -> bool:
    """Whether a function of a database also takes a generator, as its second positional argument.

    That argument has no default, or is named ``rng``. A callable without a signature takes none.
    """
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__  # faster than a signature, as functions may be made in every round
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
    """A copy of the answer of a black box; :class:`Raised` where it raises.

    Raises Breach for an answer that cannot be copied, as it could change later.
    """
    try:
        answer = function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # any exception of a user's code is an answer
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
    """The common part of mechanisms without a likelihood."""

    __slots__ = ()

    claimed: Guarantee
    name: str
    has_likelihood: ClassVar[bool] = False

    def describe(self, function: Any) -> None:
        """Set ``name`` and ``with_generator`` by the user's function; raises InvalidInput.

        The function must be callable, and ``claimed`` a guarantee.
        """
        kind = type(self).__name__
        if not callable(function):
            raise InvalidInput(f"{kind} needs a function of a database, not {function!r}")
        if not isinstance(self.claimed, Guarantee):
            raise InvalidInput(
                f"{kind} needs the guarantee that it claims, such as PureDP(0.1), not "
                f"{self.claimed!r}"
            )
        name = self.name or getattr(function, "__name__", None) or type(function).__name__
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "with_generator", takes_generator(function))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, claimed={self.claimed})"

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> BlackBoxPair:
        """The mechanism on these two databases."""
        return BlackBoxPair(self, database_0, database_1)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee, under any relation."""
        return self.claimed

    def log_likelihood_ratio(
        self,
        answer: Any,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """Raise NotApplicable, as it is unknown."""
        raise NotApplicable(f"{self!r} has no likelihood: audit the views of its play")

    def outcomes(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> tuple[list[Any], list[float], list[float]]:
        """Raise NotApplicable, as they are unknown."""
        raise NotApplicable(f"{self!r} has no likelihood: audit the views of its play")


@dataclass(frozen=True, repr=False, slots=True)
class BlackBox(NoLikelihood):
    """A mechanism of any callable, without a likelihood.

    Parameters
    ----------
    sampler : ``sampler(database, rng)`` or ``sampler(database)`` returns one answer: a number, a
        string, a tuple, an array, None. An exception is an answer too, see :class:`Raised`. A
        sampler that draws from another source than ``rng`` is played, and the result is marked as
        not reproducible.
    claimed : the guarantee to test.
    name : for messages; by default the sampler's.

    >>> from simulator import PureDP
    >>> from simulator.mechanisms import BlackBox
    >>> def noisy_size(database, rng):
    ...     return database.size + rng.laplace(scale=10.0)
    >>> mechanism = BlackBox(noisy_size, PureDP(0.1))
    >>> mechanism.guarantee(), mechanism.has_likelihood
    (PureDP(epsilon=0.1), False)
    """

    sampler: Callable[..., Any]
    claimed: Guarantee
    name: str = ""
    with_generator: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        self.describe(self.sampler)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Any:
        """Draw one answer on ``database``."""
        arguments = (database, noise) if self.with_generator else (database,)
        return answer_of(self.sampler, *arguments)


class BlackBoxPair:
    """A black box on two databases, without a known loss."""

    __slots__ = ("_databases", "_mechanism")

    def __init__(self, mechanism: Mechanism, database_0: Database, database_1: Database) -> None:
        self._mechanism = mechanism
        self._databases = database_0, database_1

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """Draw one answer on database ``b``; it may be NaN."""
        return self._mechanism.sample(self._databases[b], noise)

    def loss(self, answer: Any) -> float:
        """NaN, as it is unknown."""
        return math.nan
