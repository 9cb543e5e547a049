"""The adversary's view, V^b = (R, Y_1, ..., Y_k), and how to replay it.

Roth 2011 (Lecture 4), Algorithm 1: the coins and the answers reproduce every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
) -> Replay:
    """Play the adversary again on the recorded coins and answers; no mechanism draws anything.

    Raises Breach where the adversary does not send as many challenges as there are answers, or
    breaks the rules: then it is not the one that the view was recorded with.
    """
    playing = adversary(restore(view.coins))
    challenges, losses = [], []
    answer = None
    for i, next_answer in enumerate(view.answers):
        try:
            challenge = playing.send(answer)
            answer = next_answer
            refused = isinstance(answer, float) and answer != answer
            losses.append(0.0 if refused else admit(challenge, family, relation).loss(answer))
        except StopIteration:
            raise Breach(f"the replayed adversary stopped before round {i + 1}") from None
        except DpcomposeError as error:
            raise type(error)(f"round {i + 1} of the replay: {error}") from error
        except Exception as error:
            complaint = f"{type(error).__name__}: {error}"
            raise Breach(f"round {i + 1} of the replay raised {complaint}") from error
        challenges.append(Challenge(*challenge))
    playing.close()
    return Replay(tuple(challenges), tuple(losses))
