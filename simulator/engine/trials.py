"""One play of Algorithm 1: the adversary that plays, what is drawn from, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from simulator.engine.challenges import CheckedPair
from simulator.engine.sampling import Guarded, RoundByRound, theta_chooser
from simulator.engine.specification import Specification
from simulator.engine.views.views import leave
from simulator.foundations.errors import Breach, DpcomposeError, raised
from simulator.mechanisms.copies import own_copy
from simulator.mechanisms.tilted import TiltedLaw
from simulator.theory.filters.interface import Filter, Price


class Playing:
    """An adversary that plays; what it raises becomes a Breach."""

    __slots__ = ("_playing", "_send")

    def __init__(self, adversary: Callable[..., Any], coins: np.random.Generator) -> None:
        try:
            self._playing = adversary(coins)
        except (DpcomposeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise adversary_raised(error, adversary) from error
        if not hasattr(self._playing, "send"):
            raise Breach(
                f"the adversary must be a generator function, it returned {self._playing!r}"
            )
        self._send = self._playing.send

    def send(self, answer: Any) -> Any:
        """The challenge that follows an answer."""
        try:
            return self._send(answer)
        except (DpcomposeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise adversary_raised(error) from error

    def close(self) -> None:
        """End it; errors that it raises then are ignored."""
        leave(self._playing)


def adversary_raised(error: BaseException, called: object = None) -> Breach:
    """The Breach for an error of the adversary, in a call of ``called``."""
    if isinstance(error, StopIteration):
        return Breach("the adversary stopped, but must yield in every round")
    if isinstance(error, AttributeError) and error.name == "ask" and isinstance(error.obj, float):
        return Breach(
            f"the adversary sent a message by {error.obj!r}, which is no handle: a filter that "
            "refuses an opening answers NaN, so test isinstance(answer, Handle)"
        )
    return Breach(f"the adversary raised {raised(error, called)}")


class Trial:
    """One play, whose answers the mechanisms draw.

    Parameters
    ----------
    number : of the trial, for messages.
    coins, noise : the generators of the adversary and of the mechanisms.
    filter_ : admits or refuses each round; None admits all.
    keep_answers, keep_path : whether the answers, and the losses along the rounds, are kept.

    Attributes
    ----------
    round : the round, from 0.
    loss : the privacy loss so far.
    sign : of the losses, which are those of the exchanged databases where it is -1.
    answers, path : the answers, and the loss after each round; None where they are not kept.
    """

    __slots__ = (
        "answers", "coins", "filter", "loss", "noise", "number", "path", "round", "sign", "spent",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        coins: np.random.Generator,
        noise: np.random.Generator,
        filter_: Filter | None = None,
        *,
        keep_answers: bool = False,
        keep_path: bool = False,
    ) -> None:
        self.number, self.coins, self.noise, self.filter = number, coins, noise, filter_
        self.round, self.loss, self.sign = 0, 0.0, 1.0
        self.spent = () if filter_ is None else filter_.initial
        self.answers: list[Any] | None = [] if keep_answers else None
        self.path: list[float] | None = [] if keep_path else None

    @property
    def log_weight(self) -> float:
        """The log of dP_b/dQ of the view so far: 0 in plain play."""
        return 0.0

    def admits(self, price: Price) -> bool:
        """Whether the filter admits a round at this price, which is then spent."""
        if self.filter is None:
            return True
        admitted, self.spent = self.filter.stepped(self.spent, price)
        return admitted

    def draw(self, pair: CheckedPair, b: int) -> Any:
        """The mechanism's answer on database ``b``."""
        return pair.sample(b, self.noise)

    def account(self, loss: float) -> None:
        """Add the loss of the round's answer; a filter may observe it."""
        self.loss += loss
        if self.filter is not None:
            self.spent = self.filter.observed(self.spent, self.sign * loss)

    def keep(self, answer: Any) -> Any:
        """Append the answer and the loss so far, where they are kept; return the answer's copy."""
        if self.answers is not None:
            self.answers.append(answer)
        if self.path is not None:
            self.path.append(self.loss)
        return answer if type(answer) is float else own_copy(answer)


class Tilting(NamedTuple):
    """A measure that tilts round by round, prepared for many trials.

    Attributes
    ----------
    theta_of : the theta of a round, at the loss so far.
    guard : the guarded measure, or None.
    sign : see :class:`Trial`; -1 in experiment 1.
    """

    theta_of: Callable[[int, float], float]
    guard: Guarded | None
    sign: float

    @classmethod
    def of(cls, specification: Specification, b: int) -> Tilting:
        """The specification's measure in experiment ``b``."""
        sampling = specification.sampling
        assert isinstance(sampling, RoundByRound)
        guard = sampling if isinstance(sampling, Guarded) else None
        return cls(theta_chooser(sampling, specification.rounds), guard, -1.0 if b else 1.0)


class TiltedTrial(Trial):
    """One play, whose answers are drawn from tilted laws: signed losses, and a weight.

    Attributes
    ----------
    guards : whether the guard draws.
    theta, law, guarding : theta and the law of the round, and the guard's law.
    log_beside, log_guard : ln dP_b/dQ so far, of the measure and of its guard.
    """

    __slots__ = (
        "guard", "guarding", "guards", "law", "log_beside", "log_guard", "theta", "theta_of",
    )  # fmt: skip
    law: TiltedLaw
    guarding: TiltedLaw

    def __init__(self, tilting: Tilting, *terms: Any, **kept: Any) -> None:
        super().__init__(*terms, **kept)
        self.theta_of, self.guard, self.sign = tilting
        self.log_beside = self.log_guard = 0.0
        self.guards = self.guard is not None and self.noise.random() < self.guard.share

    @property
    def log_weight(self) -> float:
        """The log of dP_b/dQ of the view so far."""
        if self.guard is None:
            return self.log_beside
        return self.guard.log_weight(self.log_beside, self.log_guard)

    def draw(self, pair: CheckedPair, b: int) -> Any:
        """An answer from the tilted law of the pair, which is that of experiment 0."""
        self.theta = self.theta_of(self.round, self.loss)
        drawn = self.law = pair.tilted(self.theta)
        if self.guard is not None:
            self.guarding = pair.tilted(self.guard.theta)
            drawn = self.guarding if self.guards else drawn
        return pair.received(drawn.draw(self.noise))

    def account(self, loss: float) -> None:
        """Add the loss and the weight of the round's answer."""
        super().account(loss)
        if loss < inf:  # an infinite loss is drawn untilted: no weight
            self.log_beside += self.law.psi - self.theta * loss
            if self.guard is not None:
                self.log_guard += self.guarding.psi - self.guard.theta * loss
