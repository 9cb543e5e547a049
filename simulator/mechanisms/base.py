"""The interface of mechanisms, for the interpreter and for the compiled engine.

A :class:`Mechanism` is a frozen description: a query and its privacy parameters. Applied to two
databases it becomes a :class:`Pair`: two output distributions, with a privacy loss for every
answer. A :class:`ScalarMechanism` describes its pair by a row of numbers and a few scalar
functions, :class:`Scalars`; numba compiles these together with an adversary's rule, and the
interpreter calls the same functions.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from inspect import signature
from types import FunctionType
from typing import Any, ClassVar, Protocol

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query
from simulator.data.queries.kept import checked_values
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.mechanisms.free import Free
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw

Numbers = Sequence[float]
"""Floats: a tuple in the interpreter, a float64 array in a compiled kernel."""


@dataclass(frozen=True)
class Scalars:
    """The scalar functions that play one kind of mechanism; each must compile with numba.

    A challenge is a ``row`` of numbers and a privacy ``parameter``. ``prepare`` turns them into
    ``params``, once for a challenge that repeats. Plain play uses ``sample`` and ``loss``; tilted
    play also ``tilt`` and ``sample_tilted``.

    Attributes
    ----------
    name : the kind's name.
    width : ``(row) -> int``, how many numbers ``prepare`` writes.
    prepare : ``(row, parameter, params) -> None`` fills ``params``.
    sample : ``(params, b, noise) -> answer`` draws from the mechanism on database ``b``.
    loss : ``(params, answer) -> float``, ln P0(answer)/P1(answer); may be infinite.
    tilt_width : ``(row) -> int``, how many numbers ``tilt`` writes.
    tilt : ``(params, theta, tilted) -> None`` fills ``tilted`` for the law proportional to
        e^{theta loss} P0; ``tilted[0]`` is psi(theta) = ln E0 e^{theta loss}. Where a loss is
        infinite the law keeps that outcome's probability and tilts the others, and ``tilted[0]``
        is ln E0[e^{theta loss} | finite].
    sample_tilted : ``(params, tilted, noise) -> answer``.
    outcomes : ``(params) -> answers`` lists every possible answer where there are finitely many,
        and ``mass(params, b, answer)`` is an answer's probability on database ``b``. Only such a
        kind may be tilted and have infinite losses.
    piece_width : how many numbers ``piece`` writes.
    piece : ``(params, theta, low, high, piece) -> None``, for a kind with infinitely many answers:
        the law of :attr:`tilt` between two thresholds. ``piece[0]`` is
        ln E0[e^{theta loss}; low < answer < high].
    sample_piece : ``(params, pieces, row, noise) -> answer`` draws from the piece in that row of a
        table.
    whole : whether its answers are 1 apart, so that thresholds lie between them.

    >>> from simulator import Laplace
    >>> Laplace.scalars.name, Laplace.scalars.width([0.0, 1.0])
    ('Laplace', 6)
    """

    name: str
    width: Callable[[Sequence[float]], int]
    prepare: Callable[[Numbers, float, Any], None]
    sample: Callable[[Numbers, int, np.random.Generator], float]
    loss: Callable[[Numbers, float], float]
    _: KW_ONLY
    tilt_width: Callable[[Sequence[float]], int] | None = None
    tilt: Callable[[Numbers, float, Any], None] | None = None
    sample_tilted: Callable[[Numbers, Numbers, np.random.Generator], float] | None = None
    outcomes: Callable[[Numbers], Sequence[float]] | None = None
    mass: Callable[[Numbers, int, float], float] | None = None
    piece_width: int = 0
    piece: Callable[[Numbers, float, float, float, Any], None] | None = None
    sample_piece: Callable[[Numbers, np.ndarray, int, np.random.Generator], float] | None = None
    whole: bool = False


class Pair(Protocol):
    """One mechanism on two databases: a pair of output distributions.

    >>> import numpy as np
    >>> from simulator import Database, RandomizedResponse, counting_query
    >>> everyone = Database({"alice": 1, "others": 399})
    >>> mechanism = RandomizedResponse(counting_query("alice"), 0.2)
    >>> pair = mechanism.pair(everyone.remove("alice"), everyone)
    >>> answer = pair.sample(1, np.random.default_rng(0))     # in experiment 1
    >>> round(abs(pair.loss(answer)), 6)
    0.2
    """

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """Draw the mechanism's answer on database ``b``."""

    def loss(self, answer: Any) -> float:
        """Privacy loss ln P0(answer)/P1(answer)."""


CONTRACT = {
    "guarantee": ("relation",),
    "sample": ("database", "noise", "relation"),
    "log_likelihood_ratio": ("answer", "database_0", "database_1", "relation"),
}
"""The methods that a mechanism defines, and their arguments."""


class Mechanism(ABC):
    """A private mechanism, frozen and hashable.

    A new mechanism defines ``guarantee``, ``sample`` and ``log_likelihood_ratio`` in plain
    Python, and plays with generator adversaries. To play compiled it derives from
    :class:`ScalarMechanism` instead.

    >>> from simulator import Gaussian, counting_query
    >>> mechanism = Gaussian(counting_query("alice"), sigma=4.0)
    >>> mechanism.guarantee(), mechanism.has_likelihood
    (GaussianDP(mu=0.25), True)
    """

    __slots__ = ()

    query: Query
    has_likelihood: ClassVar[bool] = True
    """Whether the loss of an answer is known; see :mod:`simulator.mechanisms.black_box`."""

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        for name, arguments in CONTRACT.items():
            if isinstance(method := vars(cls).get(name), FunctionType):
                try:
                    signature(method).bind(None, *arguments)
                except TypeError:
                    raise InvalidInput(
                        f"{cls.__name__}.{name}{signature(method)} does not fit the contract of a "
                        "mechanism:\n"
                        "    guarantee(self, relation)\n"
                        "    sample(self, database, noise, relation)\n"
                        "    log_likelihood_ratio(self, answer, database_0, database_1, relation)"
                    ) from None

    @abstractmethod
    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The guarantee that this mechanism promises under ``relation``."""

    def worst_law(self, relation: Relation = ADD_REMOVE) -> PrivacyLossLaw | None:
        """Exact law of the privacy loss on the worst pair of neighbours.

        It dominates that of every other pair. None where no such law is known, or where it is the
        dominating pair of the guarantee.
        """
        return None

    @abstractmethod
    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Any:
        """Answer on ``database``, with noise calibrated to ``relation``."""

    @abstractmethod
    def log_likelihood_ratio(
        self,
        answer: Any,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """Ln of the ratio of the answer's likelihood on ``database_0`` and on ``database_1``."""

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The mechanism on these two databases; raises Breach if they exceed a sensitivity."""
        return PlainPair(self, database_0, database_1, relation)

    def outcomes(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> tuple[list[Any], list[float], list[float]]:
        """Every possible answer with its probability on the two databases.

        A plain mechanism that lists them can be played tilted and enumerated.

        Raises
        ------
        NotApplicable : there are infinitely many, or they are not listed.
        """
        raise no_outcomes(type(self).__name__)

    def law(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> PrivacyLossLaw:
        """Exact law of the privacy loss on this pair, where it has a closed form.

        Raises
        ------
        NotApplicable : this mechanism has no closed form.
        """
        raise NotApplicable(
            f"{type(self).__name__} has no closed-form privacy-loss law: write its method law, "
            "which returns one"
        )


def no_outcomes(name: str) -> NotApplicable:
    """The error of a mechanism or pair that can be neither tilted nor enumerated."""
    return NotApplicable(
        f"{name} has neither a tilted sampler (`tilt` and `sample_tilted`) nor a list of outcomes "
        "(`outcomes`): play it without a measure, or add one"
    )


@dataclass(frozen=True, slots=True)
class PlainPair:
    """A pair played by the mechanism's own Python methods."""

    mechanism: Mechanism
    database_0: Database
    database_1: Database
    relation: Relation

    def sample(self, b: int, noise: np.random.Generator) -> Any:
        """Draw the mechanism's answer on database ``b``."""
        database = self.database_1 if b else self.database_0
        answer = self.mechanism.sample(database, noise, self.relation)
        if not all_finite(answer):
            raise Breach(f"{self.mechanism!r} answered {answer!r}, which is not finite")
        return answer

    def outcomes(self) -> tuple[list[Any], list[float], list[float]]:
        """Every possible answer with its probability on the databases; raises NotApplicable."""
        return self.mechanism.outcomes(self.database_0, self.database_1, self.relation)

    def loss(self, answer: Any) -> float:
        """Privacy loss of ``answer``."""
        loss = self.mechanism.log_likelihood_ratio(
            answer, self.database_0, self.database_1, self.relation
        )
        if type(loss) is float:
            return loss
        if isinstance(loss, numbers.Real):  # a number of numpy or a fraction
            return float(loss)
        raise Breach(
            f"{self.mechanism!r} answered {answer!r}, whose loss is not a real number: {loss!r}"
        )


class ScalarPair:
    """A pair played by scalar functions on a prepared tuple of numbers."""

    __slots__ = ("params", "scalars")

    def __init__(self, scalars: Scalars, row: Sequence[float], parameter: float) -> None:
        params = [0.0] * scalars.width(row)  # Python floats, which are faster than numpy's
        scalars.prepare(row, parameter, params)
        self.scalars = scalars
        self.params = tuple(map(float, params))

    def sample(self, b: int, noise: np.random.Generator) -> float:
        """Draw the mechanism's answer on database ``b``."""
        answer = self.scalars.sample(self.params, b, noise)
        if answer - answer != 0.0:
            raise Breach(
                f"the {self.scalars.name} mechanism answered {answer}, which is not finite"
            )
        return answer

    def loss(self, answer: float) -> float:
        """Privacy loss of ``answer``."""
        return self.scalars.loss(self.params, answer)

    def outcomes(self) -> tuple[list[float], list[float], list[float]]:
        """Every possible answer with its probability on the databases; raises NotApplicable."""
        listed, mass = self.scalars.outcomes, self.scalars.mass
        if listed is None or mass is None:
            raise no_outcomes(f"the {self.scalars.name} mechanism")
        answers = list(listed(self.params))
        on_0, on_1 = ([mass(self.params, b, answer) for answer in answers] for b in (0, 1))
        return answers, on_0, on_1

    def tilted(self, theta: float) -> tuple[float, ...]:
        """Prepare the tilted law; raise NotApplicable for a mechanism that has none."""
        width, tilt = self.scalars.tilt_width, self.scalars.tilt
        if width is None or tilt is None:
            raise NotApplicable(
                f"{self.scalars.name} has no tilted sampler; use multilevel splitting instead"
            )
        out = np.zeros(width(self.params))
        tilt(self.params, theta, out)
        return tuple(out.tolist())

    def sample_tilted(self, tilted: tuple[float, ...], noise: np.random.Generator) -> float:
        """Draw from the tilted law that ``tilted`` describes."""
        assert self.scalars.sample_tilted is not None
        return self.scalars.sample_tilted(self.params, tilted, noise)


class PairMechanism(Mechanism):
    """A mechanism defined by its ``pair``, which gives its answers and losses."""

    __slots__ = ()

    @abstractmethod
    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The mechanism on these two databases; raises Breach if they exceed a sensitivity."""

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> Any:
        """Answer on ``database``, with noise calibrated to ``relation``."""
        return self.pair(database, database, relation).sample(0, noise)

    def log_likelihood_ratio(
        self,
        answer: Any,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """Ln of the ratio of the answer's likelihood on ``database_0`` and on ``database_1``."""
        return self.pair(database_0, database_1, relation).loss(answer)


class ScalarMechanism(PairMechanism):
    """A mechanism with one real answer, played by scalar functions.

    A subclass is a frozen dataclass with a ``query`` and one privacy parameter, whose field it
    names in ``parameter_name``; it defines ``scalars`` and ``row``.

    >>> from simulator import Laplace, counting_query
    >>> mechanism = Laplace(counting_query("alice"), 0.1)
    >>> mechanism.parameter, mechanism.with_parameter(0.2).parameter
    (0.1, 0.2)
    """

    __slots__ = ()

    scalars: ClassVar[Scalars]
    parameter_name: ClassVar[str] = "epsilon"

    @property
    def parameter(self) -> float | Free:
        """The privacy parameter (epsilon or sigma), or the interval a rule may choose from."""
        found: float | Free = getattr(self, self.parameter_name)
        return found

    def with_parameter(self, parameter: float) -> ScalarMechanism:
        """The same mechanism with its privacy parameter fixed."""
        return replace(self, **{self.parameter_name: parameter})  # type: ignore[type-var]

    @abstractmethod
    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """The numbers that describe the pair, from the query's values on the two databases."""

    def checked_row(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[float, ...]:
        """``row`` for two databases; raises Breach when they exceed the stated sensitivity."""
        return self.row(*checked_values(self.query, database_0, database_1, relation), relation)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The mechanism on these two databases; raises Breach if they exceed a sensitivity."""
        return self.scalar_pair(self.checked_row(database_0, database_1, relation))

    def scalar_pair(self, row: tuple[float, ...]) -> ScalarPair:
        """The pair that a row describes."""
        return ScalarPair(self.scalars, row, self.fixed_parameter())

    def fixed_parameter(self) -> float:
        """The privacy parameter; raises InvalidInput when it was left free."""
        parameter = self.parameter
        if isinstance(parameter, Free):
            raise InvalidInput(
                f"{type(self).__name__} has a free {self.parameter_name}; "
                "only a rule's menu may hold it"
            )
        return parameter


def all_finite(answer: Any) -> bool:
    """Whether no number in the answer is NaN or infinite; True for an answer without numbers."""
    if type(answer) is float:
        return answer - answer == 0.0
    if isinstance(answer, float | np.floating | np.ndarray):
        numbers = np.asarray(answer)
        return numbers.dtype.kind not in "fc" or bool(np.isfinite(numbers).all())
    return True
