"""The adversary's view, V^b = (R, Y_1, ..., Y_k), and its replay.

Roth 2011 (Lecture 4), Algorithm 1: the coins and the answers reproduce every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from simulator.adversaries.contract import Challenge, admit
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import Breach, placed
from simulator.foundations.seeds import restore
from simulator.mechanisms import Ask
from simulator.mechanisms.conversations import Conversations
from simulator.mechanisms.copies import own_copy
from simulator.mechanisms.interactive_mechanism import Opening
from simulator.theory.guarantees.interface import Guarantee


@dataclass(frozen=True, slots=True)  # a study of views has millions
class View:
    """The coins and the answers of one trial.

    Attributes
    ----------
    experiment : b.
    trial : the trial's number.
    coins : the state of the coins at the start of the trial, see ``record``.
    answers : the k answers; NaN where a filter refused the query. A black box's may have any type.
    """

    experiment: int
    trial: int
    coins: tuple[int, ...]
    answers: tuple[Any, ...]


@dataclass(frozen=True)
class Replay:
    """The challenges and privacy losses of a view, one per round.

    A message is an :class:`~simulator.mechanisms.Ask` among the challenges. The loss of a black
    box's answer is NaN, to a message as well.
    """

    challenges: tuple[Any, ...]
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
    """Play the adversary on the recorded coins and answers; no mechanism draws an answer.

    Raises Breach where the replayed loss differs from the ``recorded`` one by more than rounding,
    and where the adversary sends fewer challenges than there are answers or breaks the rules.
    """
    challenges, losses = [], []
    conversations = Conversations()
    for i, (challenge, answer) in enumerate(zip(challenges_of(view, adversary), view.answers)):
        with placed(f"round {i + 1} of the replay"):
            losses.append(replayed_loss(challenge, answer, family, relation, conversations))
        challenges.append(challenge if isinstance(challenge, Ask) else Challenge(*challenge))
    replayed = Replay(tuple(challenges), tuple(losses))
    if recorded is not None and not same_loss(replayed, recorded):
        raise Breach(
            f"the replay of trial {view.trial} of experiment {view.experiment} has a loss of "
            f"{replayed.loss:.17g}, the recorded loss is {recorded:.17g}: {LIKELY_CAUSES}"
        )
    return replayed


def challenges_of(view: View, adversary: Callable[..., Any]) -> Iterator[Any]:
    """Yield the adversary's challenge of each round, on the recorded coins and answers.

    Raises Breach where it stops early, and for its own errors.
    """
    answer = None
    playing = None
    for i, next_answer in enumerate(view.answers):
        with placed(f"round {i + 1} of the replay"):
            if playing is None:
                playing = adversary(restore(view.coins))
            try:
                challenge = playing.send(answer)
            except StopIteration:
                raise Breach("the adversary stopped before it") from None
            answer = own_copy(next_answer)
        yield challenge
    leave(playing)


def replayed_loss(
    challenge: Any,
    answer: Any,
    family: Guarantee,
    relation: Relation,
    conversations: Conversations,
) -> float:
    """The loss of one round of a replay: 0 where a filter refused, NaN where it is unknown.

    ``conversations`` are those that were opened before in this view.
    """
    refused = isinstance(answer, float) and answer != answer
    if isinstance(challenge, Ask):
        conversation = conversations.find(challenge)
        if conversation is None:  # its law is unknown
            return math.nan
        loss = conversation.pair(challenge.message).loss(answer)
        conversation.heard(challenge.message, answer, loss)
        return loss
    pair = admit(challenge, family, relation)
    if not challenge[2].has_likelihood:
        return math.nan
    if refused:
        return 0.0
    if isinstance(pair, Opening):
        conversations.open(pair.begun(), answer)
    return pair.loss(answer)


LIKELY_CAUSES = (
    "the adversary or a mechanism has another source of randomness than the generator that it is "
    "given (random, numpy.random, os.urandom), keeps something from trial to trial (in a module, "
    "a closure, a copy of its coins), or is no longer the one that was played"
)


def same_loss(replayed: Replay, recorded: float) -> bool:
    """Whether the losses agree up to the rounding of their sums; True where one is unknown."""
    if replayed.loss == recorded or math.isnan(replayed.loss):
        return True
    scale = math.fsum(abs(loss) for loss in replayed.round_losses if math.isfinite(loss))
    return abs(replayed.loss - recorded) <= 1e-9 * (1.0 + scale)


def leave(playing: Any) -> None:
    """Close an adversary; errors that it raises then are ignored."""
    try:
        playing.close()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return
