"""Measures to sample from when the event of interest is rare.

A tilted play draws every answer from the law q(y | h) = e^{theta s - psi(theta | h)} p_b(y | h),
where s is the round's privacy loss signed so that the rare event is a large sum (the loss itself
in experiment 0, its negative in experiment 1) and h the history. The weight of a view is then
W = exp(sum of psi_i - theta_i s_i), and E_Q[W f] = E_b[f] for any adaptive adversary, even when
theta depends on the history, because each round's factor has conditional mean 1 (Siegmund 1976;
Asmussen and Glynn 2007, chapter VI).

The draws are seeded by the ``kind`` of a measure, not by its parameters, and computed parameters
are :func:`rounded`: the last bit of a computation differs between processors.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, numeral, open_probability


@dataclass(frozen=True)
class Tilted:
    """The same theta in every round; 0 is plain play, a large theta makes large losses likely.

    In experiment 1 ``Tilted(theta)`` tilts towards large -L. theta = -1 in one experiment is plain
    play of the other, if no loss is infinite.

    >>> from simulator.analysis import Tilted
    >>> Tilted(5.0)
    Tilted(theta=5.0)
    """

    theta: float

    kind: ClassVar[str] = "tilted"

    def __post_init__(self) -> None:
        # a plain float, not -0.0, so that equal measures have equal texts and draws
        object.__setattr__(self, "theta", finite("theta", self.theta) + 0.0)

    def __str__(self) -> str:
        return f"tilted:{self.theta!r}"

    @property
    def levels(self) -> np.ndarray:
        """The thetas in use, shape (1,)."""
        return np.array([self.theta])

    @property
    def grid(self) -> np.ndarray:
        """The index of the level, shape (1, 1)."""
        return np.zeros((1, 1), dtype=np.int64)

    @property
    def span(self) -> tuple[float, float]:
        """The range of signed losses that the columns of the grid divide."""
        return 0.0, 1.0


@dataclass(frozen=True, eq=False)
class Steered:
    """theta by the loss so far and the rounds played, from a table.

    Attributes
    ----------
    levels : float64, shape (levels,), the thetas in use.
    grid : int64, shape (phases, columns): the level in use in each phase of the rounds and each
        column of the signed loss so far.
    span : the losses that the columns divide evenly; beyond them the outermost columns apply.

    >>> import numpy as np
    >>> from simulator.analysis import Steered
    >>> measure = Steered(np.array([1.0, 3.0]), np.array([[0, 1], [0, 1]]), span=(-2.0, 2.0))
    >>> measure.levels[measure.grid].tolist()            # theta by phase and by the loss so far
    [[1.0, 3.0], [1.0, 3.0]]
    """

    levels: np.ndarray
    grid: np.ndarray
    span: tuple[float, float]
    name: str = field(init=False)
    kind: ClassVar[str] = "steered"

    def __post_init__(self) -> None:
        low, high = self.span
        if self.levels.ndim != 1 or not np.isfinite(self.levels).all():
            raise InvalidInput("steering needs finite thetas, in an array of one dimension")
        if not -math.inf < low < high < math.inf:
            raise InvalidInput("steering needs a finite span of losses low < high")
        if self.grid.ndim != 2 or self.grid.size == 0 or self.grid.dtype.kind not in "iu":
            raise InvalidInput("steering needs a grid of whole numbers, of shape (phases, columns)")
        if not 0 <= self.grid.min() <= self.grid.max() < len(self.levels):
            raise InvalidInput("steering needs a grid of indices into its levels")
        content = self.levels.tobytes() + self.grid.tobytes() + repr(self.span).encode()
        object.__setattr__(self, "name", hashlib.sha256(content).hexdigest()[:16])

    def __str__(self) -> str:
        return f"steered:{self.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Steered) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Stratum(NamedTuple):
    """The plays of rarity ``least`` to that of the next stratum, less one, and their measure.

    Attributes
    ----------
    least : the least rarity, in decades.
    theta : the tilt of their total loss.
    share : the share of the trials.
    """

    least: int
    theta: float
    share: float


@dataclass(frozen=True)
class Covering:
    """Whole views tilted by their total loss: e^{theta L - M} P_b with M = ln E_b e^{theta L}.

    For a rule whose states can be enumerated, see :mod:`simulator.engine.enumerated.covering`.
    Every path has weight e^{M - theta L}. ``theta`` >= 0 tilts towards large L in experiment 0 and
    towards large -L in experiment 1.

    With ``strata`` it is the mixture of such measures of parts of the plays, which are divided by
    their rarity, see :mod:`simulator.engine.enumerated.strata`; ``theta`` is then that of the
    first.

    >>> from simulator.analysis import Covering
    >>> Covering(theta=3.0).kind
    'covering'
    """

    theta: float
    strata: tuple[Stratum, ...] = ()
    kind: ClassVar[str] = "covering"

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", finite("theta", self.theta))
        if self.theta < 0.0:
            raise InvalidInput(f"a covering measure needs theta >= 0, not {self.theta:g}")
        if not self.strata:
            return
        least = [stratum.least for stratum in self.strata]
        if least[0] != 0 or least != sorted(set(least)):
            raise InvalidInput(f"strata need rarities that ascend from 0, not {least}")
        if self.theta != self.strata[0].theta:
            raise InvalidInput("the theta of a covering measure is that of its first stratum")
        total = math.fsum(stratum.share for stratum in self.strata)
        if not abs(total - 1.0) <= 1e-3:
            raise InvalidInput(f"the shares of the strata add up to {total:g}, not to 1")

    @classmethod
    def stratified(cls, strata: tuple[Stratum, ...]) -> Covering:
        """The mixture of the measures of all strata; a single one is the measure of all plays."""
        return cls(strata[0].theta, strata if len(strata) > 1 else ())

    @property
    def shares(self) -> np.ndarray:
        """The probabilities of the strata: their shares over the sum of these."""
        shares = np.array([stratum.share for stratum in self.strata] or [1.0])
        return np.asarray(shares / shares.sum())

    def __str__(self) -> str:
        if not self.strata:
            return f"covering:{self.theta!r}"
        parts = (f"{one.least},{one.theta!r},{one.share!r}" for one in self.strata)
        return f"covering:{','.join(parts)}"


@dataclass(frozen=True, eq=False)
class Guarded:
    """A mixture of a measure with a guard measure that bounds all weights.

    e^{theta z} times c_theta times the family's largest moment of the rounds to come is a
    supersolution: it is at least (1 - e^{-z})+ after the last round, with z the loss beyond
    epsilon, and no mechanism of the family raises it on average. Drawing a share of the trials in
    proportion to it, that is tilted by theta, bounds the weight of every view by the guard's weight
    over the share, for any measure of the other trials.

    Attributes
    ----------
    beside : the measure of the other trials.
    theta : of the guard, at least 0.
    share : of the guard, in (0, 1).

    >>> from simulator.analysis import Guarded, Tilted
    >>> Guarded(Tilted(5.0), theta=1.0, share=0.1).kind
    'guarded'
    """

    beside: Tilted | Steered
    theta: float
    share: float
    kind: ClassVar[str] = "guarded"

    def __post_init__(self) -> None:
        if not isinstance(self.beside, Tilted | Steered):
            raise InvalidInput(
                f"a guard stands beside a Tilted or a Steered measure, not {self.beside!r}"
            )
        object.__setattr__(self, "theta", finite("theta", self.theta) + 0.0)
        object.__setattr__(self, "share", open_probability("share", self.share))
        if self.theta < 0.0:
            raise InvalidInput(f"a guard needs theta >= 0, not {self.theta:g}")

    def __str__(self) -> str:
        return f"guarded:{self.theta!r},{self.share!r}:{self.beside}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guarded) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def levels(self) -> np.ndarray:
        """The thetas in use, that of the guard last."""
        return np.append(self.beside.levels, self.theta)

    @property
    def grid(self) -> np.ndarray:
        """The grid of the measure of the other trials."""
        return self.beside.grid

    @property
    def span(self) -> tuple[float, float]:
        """The range of losses that the columns of the grid divide."""
        return self.beside.span

    def log_weight(self, beside: float, guard: float) -> float:
        """Return ln dP/dQ of the mixture from those of its two parts."""
        first, second = math.log1p(-self.share) - beside, math.log(self.share) - guard
        peak = max(first, second)
        return -peak - math.log(math.exp(first - peak) + math.exp(second - peak))


RoundByRound = Tilted | Steered | Guarded
"""Measures that tilt each answer given the past."""

Sampling = Tilted | Steered | Guarded | Covering


def parse_sampling(text: str) -> Sampling:
    """Read ``tilted:THETA``, ``covering:THETA`` or ``guarded:THETA,SHARE:MEASURE``.

    A covering measure with strata is ``covering:LEAST,THETA,SHARE,LEAST,THETA,SHARE,...``.
    Inverse of ``str()``, except for a steered measure, whose text does not contain its table.
    Raises InvalidInput.
    """
    kind, _, rest = text.partition(":")
    numbers, _, beside = rest.partition(":")
    try:
        values = [numeral(value) for value in numbers.split(",")]
        if kind == "guarded":
            theta, share = values
            return Guarded(parse_sampling(beside), theta, share)  # type: ignore[arg-type]
        if kind == "covering" and len(values) > 1:
            return Covering.stratified(
                tuple(_stratum(values[at : at + 3]) for at in range(0, len(values), 3))
            )
        [theta] = values
        if kind not in ("tilted", "covering"):
            raise ValueError(kind)
        return Tilted(theta) if kind == "tilted" else Covering(theta)
    except ValueError:
        raise InvalidInput(f"no sampling measure can be read from {text!r}") from None


def _stratum(values: list[float]) -> Stratum:
    least, theta, share = values
    if least != int(least) or not 0.0 < share <= 1.0 or not theta >= 0.0:
        raise ValueError(least)
    return Stratum(int(least), theta, share)


TABLE_BITS, THETA_BITS = 20, 10
"""Significant bits of computed tables, and of a theta that a search finds: near a flat minimum a
search ends elsewhere, by as much as its own tolerance, if its objective differs in the last bit."""


def rounded(parameters: ArrayLike, bits: int) -> np.ndarray:
    """The parameters of a measure to so many significant bits, in their shape.

    Any measure is valid; these have the same parameters on every processor, unless a computed one
    lies within its own error of the middle between two of them.
    """
    mantissa, exponent = np.frexp(np.asarray(parameters, dtype=np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


LARGEST_PSI = 1e6
"""Largest psi(theta) of one round; beyond, a weight e^{psi - theta loss} has no correct digits."""


def require_digits(name: str, theta: float, psi: float) -> None:
    """Raise InvalidInput where the weights of a theta would be dominated by rounding errors."""
    if not abs(psi) <= LARGEST_PSI:
        raise InvalidInput(
            f"theta {theta:g} is too large for {name}: psi(theta) is {psi:.3g}, and beyond "
            f"{LARGEST_PSI:g} weights have no correct digits; choose a smaller theta"
        )


def phase_of(rounds: int, phases: int) -> np.ndarray:
    """The phase of each round, int64 of shape (rounds,)."""
    return np.arange(rounds) * phases // rounds


def theta_chooser(sampling: RoundByRound, rounds: int) -> Callable[[int, float], float]:
    """The function ``theta(i, loss)``: the theta of round ``i`` at a signed loss so far."""
    thetas = sampling.levels[sampling.grid].tolist()
    if len(thetas) == len(thetas[0]) == 1:
        only: float = thetas[0][0]
        return lambda i, loss: only
    low, high = sampling.span
    last = len(thetas[0]) - 1
    # exactly as the compiled kernel computes it, as a loss may lie on a column's edge
    each = (last + 1) / (high - low)
    row_of = [thetas[phase] for phase in phase_of(rounds, len(thetas)).tolist()]

    def theta(i: int, loss: float) -> float:
        if low <= loss < high:
            place = int((loss - low) * each)
            return row_of[i][place if place < last else last]
        return row_of[i][0 if -math.inf < loss < low else last]

    return theta
