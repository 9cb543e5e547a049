"""The adversary's view, V^b = (R, Y_1, ..., Y_k), and how to replay it.

Roth 2011 (Lecture 4), Algorithm 1: the coins and the answers reproduce every step.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, admit
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.errors import Breach, DpcomposeError
from simulator.seeds import restore
from simulator.theory.guarantees import Guarantee


@dataclass(frozen=True)
class View:
    """The coins and the answers of one trial.

    Attributes
    ----------
    experiment : b.
    trial : the trial's number.
    coins : where the coins stood when the trial began, see :func:`simulator.seeds.record`.
    answers : the k answers; NaN where a filter refused the query.
    """

    experiment: int
    trial: int
    coins: tuple[int, ...]
    answers: tuple[Any, ...]


@dataclass(frozen=True)
class Replay:
    """What a view reproduces: the challenge of every round, and every round's privacy loss."""

    challenges: tuple[Challenge, ...]
    round_losses: tuple[float, ...]

    @property
    def loss(self) -> float:
        """The view's privacy loss ln Pr[V0 = v]/Pr[V1 = v], added up as the engine does."""
        total = 0.0
        for loss in self.round_losses:
            total += loss
        return total


def replay(
    view: View,
    adversary: Callable[..., Any],
    family: Guarantee,
    relation: Relation = ADD_REMOVE,
    recorded: float | None = None,
) -> Replay:
    """Play the adversary again on the recorded coins and answers; no mechanism draws anything.

    Raises Breach where the replayed loss is not the ``recorded`` one, up to rounding; where the
    adversary does not send as many challenges as there are answers, or breaks the rules: then it
    is not the one that the view was recorded with.
    """
    challenges, losses = [], []
    answer = None
    playing = None
    for i, next_answer in enumerate(view.answers):
        try:
            if playing is None:
                playing = adversary(restore(view.coins))
            challenge = playing.send(answer)
            refused = isinstance(next_answer, float) and next_answer != next_answer
            losses.append(0.0 if refused else admit(challenge, family, relation).loss(next_answer))
            answer = own_copy(next_answer)
        except StopIteration:
            raise Breach(f"the replayed adversary stopped before round {i + 1}") from None
        except DpcomposeError as error:
            raise type(error)(f"round {i + 1} of the replay: {error}") from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            complaint = f"{type(error).__name__}: {error}"
            raise Breach(f"round {i + 1} of the replay raised {complaint}") from error
        challenges.append(Challenge(*challenge))
    leave(playing)
    replayed = Replay(tuple(challenges), tuple(losses))
    if recorded is not None and not same_loss(replayed, recorded):
        raise Breach(
            f"the replay of trial {view.trial} of experiment {view.experiment} has a loss of "
            f"{replayed.loss:.17g}, the recorded loss is {recorded:.17g}: {LIKELY_CAUSES}"
        )
    return replayed


LIKELY_CAUSES = (
    "the adversary or a mechanism has another source of randomness than the generator that it is "
    "given (random, numpy.random, os.urandom), keeps something from trial to trial (in a module, "
    "a closure, a copy of its coins), or is no longer the one that was played"
)


def same_loss(replayed: Replay, recorded: float) -> bool:
    """Whether the losses agree up to the rounding of their sums."""
    if replayed.loss == recorded:
        return True
    scale = math.fsum(abs(loss) for loss in replayed.round_losses if math.isfinite(loss))
    return abs(replayed.loss - recorded) <= 1e-9 * (1.0 + scale)


def leave(playing: Any) -> None:
    """Close an adversary; whatever it does then has no bearing on the trial."""
    try:
        playing.close()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return


IMMUTABLE = (float, int, complex, str, bytes, type(None), np.generic)


def own_copy(answer: Any) -> Any:
    """An answer for the adversary to do with as it likes: the kept one stays as it was."""
    if isinstance(answer, IMMUTABLE):
        return answer
    return answer.copy() if type(answer) is np.ndarray else copy.deepcopy(answer)
