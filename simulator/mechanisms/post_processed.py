"""Post-processing: a function of an answer is as private as the answer.

Dwork and Roth 2014, Proposition 2.1. The exact likelihoods are computed for any function of
finitely many outcomes, for cuts of a continuous answer, and for a bijection.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms.base import Mechanism, PairMechanism, ScalarMechanism, Scalars
from simulator.mechanisms.finite import FINITE, table_row
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.known_noise import noise_of
from simulator.mechanisms.laplace import Laplace
from simulator.mechanisms.quadrature import laplace_cdf
from simulator.mechanisms.tilted import outcomes_of
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.finite import FiniteLaw

Vector = NDArray[np.float64]


class TableMechanism(ScalarMechanism):
    """A mechanism with finitely many outcomes, made from another mechanism's answer.

    A subclass is a frozen dataclass with a ``mechanism``; it defines ``table``.
    """

    __slots__ = ()

    mechanism: ScalarMechanism
    scalars: ClassVar[Scalars] = FINITE

    @property
    def query(self) -> Query:  # type: ignore[override]
        """The query of the inner mechanism."""
        return self.mechanism.query

    @property
    def parameter(self) -> float:
        """The privacy parameter of the inner mechanism; raises InvalidInput if it is free."""
        return self.mechanism.fixed_parameter()

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The guarantee of the inner mechanism."""
        return self.mechanism.guarantee(relation)

    def table(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[Vector, Vector]:
        """The outcomes' probabilities on each database."""
        raise NotImplementedError

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(outcomes, P0..., P1...), from the two probability vectors."""
        return table_row(value_0, value_1)

    def checked_row(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[float, ...]:
        """``row`` for two databases, which the inner mechanism checks."""
        self.mechanism.checked_row(database_0, database_1, relation)
        return self.row(*self.table(database_0, database_1, relation), relation)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> FiniteLaw:
        """The exact finite law of the loss."""
        return FiniteLaw.from_probabilities(*self.table(database_0, database_1, relation))


@dataclass(frozen=True, slots=True)
class PostProcessed(TableMechanism):
    """A function of the outcome of a mechanism that has finitely many.

    Parameters
    ----------
    mechanism : with finitely many outcomes: randomized response, exponential, report noisy max,
        leaky, :class:`Cells`, another of this kind.
    function : from the outcome, a whole number, to a whole number >= 0, which is the answer (as
        a float).

    Raises NotApplicable for a mechanism of another kind, InvalidInput for a function with other
    values.

    >>> from simulator import Database, RandomizedResponse, counting_query
    >>> from simulator.mechanisms import PostProcessed
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> bit = RandomizedResponse(counting_query("alice"), 0.2)
    >>> pair = PostProcessed(bit, lambda answer: 0).pair(everyone.remove("alice"), everyone)
    >>> pair.loss(0.0)
    0.0
    """

    mechanism: ScalarMechanism
    function: Callable[[int], int]

    def table(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[Vector, Vector]:
        """The probabilities of the function's values."""
        pair = self.mechanism.pair(database_0, database_1, relation)
        try:
            answers, *tables = outcomes_of(pair)
        except NotApplicable:
            raise NotApplicable(
                f"{type(self.mechanism).__name__} has no table of outcomes to post-process; "
                "cut it into Cells"
            ) from None
        places = [_place(self.function, int(answer)) for answer in answers]
        first, second = (np.bincount(places, weights=p).astype(float) for p in tables)
        return first, second


def _place(function: Callable[[int], int], outcome: int) -> int:
    place = function(outcome)
    if not isinstance(place, int | np.integer) or place < 0:
        raise InvalidInput(
            f"the post-processing of outcome {outcome} gave {place!r}, not a whole number >= 0"
        )
    return int(place)


@dataclass(frozen=True, slots=True)
class Cells(TableMechanism):
    """The number of the cell between ``cuts`` that contains a Laplace or Gaussian answer.

    Parameters
    ----------
    mechanism : Laplace or Gaussian, of a real-valued query.
    cuts : ascending, finite.

    The answer is the number of cuts below the mechanism's answer, as a float.

    >>> from simulator import Database, Laplace, counting_query
    >>> from simulator.mechanisms import Cells
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> above = Cells(Laplace(counting_query("alice"), 0.5), cuts=(0.5,))
    >>> pair = above.pair(everyone.remove("alice"), everyone)
    >>> [round(pair.loss(cell), 6) for cell in (0.0, 1.0)]
    [0.449833, -0.449833]
    """

    mechanism: Laplace | Gaussian
    cuts: tuple[float, ...]

    def __post_init__(self) -> None:
        cuts = tuple(map(float, self.cuts))
        if type(self.mechanism) not in NOISE:
            raise InvalidInput(f"cells are cut from Laplace or Gaussian, not {self.mechanism!r}")
        ascend = all(a < b for a, b in itertools.pairwise((-math.inf, *cuts, math.inf)))
        if not ascend or not cuts:
            raise InvalidInput(f"cuts must ascend and be finite, not {self.cuts!r}")
        object.__setattr__(self, "cuts", cuts)

    def table(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[Vector, Vector]:
        """The cells' probabilities, each computed from the smaller tail."""
        cdf, scale = NOISE[type(self.mechanism)], noise_of(self.mechanism, relation).scale
        edges = np.array([-math.inf, *self.cuts, math.inf])
        first, second = (
            _between(cdf, (edges - float(self.query(d))) / scale) for d in (database_0, database_1)
        )
        return first, second


NOISE: dict[type, Callable[[Vector], Vector]] = {Laplace: laplace_cdf, Gaussian: scipy.special.ndtr}
"""The distribution function of a mechanism's noise, symmetric, in units of its scale."""


def _between(cdf: Callable[[Vector], Vector], z: Vector) -> Vector:
    lower, upper = cdf(z), cdf(-z)
    return np.where(z[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])


@dataclass(frozen=True, slots=True)
class Recoded(PairMechanism):
    """A bijection of another mechanism's answer, which changes no loss.

    Parameters
    ----------
    mechanism : any.
    forward, back : the bijection and its inverse.

    >>> from simulator import Laplace, counting_query
    >>> from simulator.mechanisms import Recoded
    >>> def half(answer):
    ...     return answer / 2
    >>> def twice(answer):
    ...     return answer * 2
    >>> Recoded(Laplace(counting_query("alice"), 0.1), half, twice).guarantee()
    PureDP(epsilon=0.1)
    """

    mechanism: Mechanism
    forward: Callable[[Any], Any]
    back: Callable[[Any], Any]

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The guarantee of the inner mechanism."""
        return self.mechanism.guarantee(relation)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Any:
        """A recoded answer."""
        return self.forward(self.mechanism.sample(database, noise, relation))

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> RecodedPair:
        """The two recoded output distributions."""
        inner = self.mechanism.pair(database_0, database_1, relation)
        return RecodedPair(inner, self.forward, self.back)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Any:
        """The law of the inner mechanism."""
        return self.mechanism.law(database_0, database_1, relation)


@dataclass(frozen=True, slots=True)
class RecodedPair:
    """A pair whose answers pass through a bijection."""

    inner: Any
    forward: Callable[[Any], Any]
    back: Callable[[Any], Any]

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """Draw a recoded answer."""
        return self.forward(self.inner.sample(b, noise))

    def loss(self, answer: Any) -> float:
        """The loss of the answer before it was recoded."""
        loss: float = self.inner.loss(self.back(answer))
        return loss
