"""Correlated records: what a record-level promise is worth to an adversary who knows the law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulator.analysis.result import Result
from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.foundations.knobs import Within
from simulator.mechanisms import Table
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, wrong
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.finite import FiniteLaw

Vector = NDArray[np.float64]

SICK = Database({"sick": 1, "others": 3})
WELL = SICK.remove("sick")
OURS = "ours: given the others, the parity is one record"


@game(
    "correlated",
    "Correlated records, and secrets spread over records",
    sources=(
        "Kifer and Machanavajjhala 2011, No Free Lunch in Data Privacy",
        "Song, Wang and Chaudhuri 2017, Pufferfish Privacy Mechanisms for Correlated Data",
    ),
    sweep=("flip", (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)),
)
def correlated(
    *,
    epsilon: Annotated[float, "of one record", Within(0.01, 3.0)] = 0.5,
    records: Annotated[int, "in the chain, or of the parity", Within(1, 10)] = 6,
    flip: Annotated[
        float, "probability that the next record of the chain differs", Within(0.001, 0.5)
    ] = 0.2,
    place: Annotated[int, "of the secret record in the chain, from 1", Within(1, 10)] = 3,
    at: Annotated[
        float, "the epsilon at which delta is taken, in epsilons of one record", Within(0.0, 10.0)
    ] = 1.5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Release, for each day of a person, a randomized response to "were you sick".

    Each day is epsilon-DP. But sick days follow each other: the days are a Markov chain, in which
    the next day differs from this one with probability flip, and the adversary knows that. Her
    secret is one day. The answers about the other days speak of it too, so it loses more than
    epsilon; between epsilon (flip = 0.5, independent days) and epsilon for each day (flip near 0).

    Differential privacy does not promise otherwise: it bounds what is learned from one record, as
    if the adversary knew the others. Bounds for the chain are those of the whole chain as one
    group, and of quilts (Song, Wang and Chaudhuri): days farther off than some distance are charged
    by how much a day at that distance says about the secret, and the days nearer by epsilon each.

    The opposite also happens. If her secret is the parity of her records, and the adversary knows
    nothing else of them, then every answer about a record says little: the loss falls to
    2 artanh(tanh(epsilon/2)^k). It is epsilon again for an adversary who knows the other records.

    Look at the first two tables along flip: the wrong claim is the promise for one record.
    """
    place = min(place, records)
    chain = Chain(epsilon, records, flip, place)
    laws = chain.laws()
    law = FiniteLaw.from_probabilities(*laws)
    loss = "largest loss about one record of the chain"
    yield exact(loss, "all histories and answers", law.support[1])
    yield exact(loss, "equal answers, record by record", chain.worst_answers())
    yield bound(loss, "the chain is one group", records * epsilon, source="group privacy")
    source = "Song, Wang and Chaudhuri 2017"
    yield bound(loss, "the best quilt", chain.quilt_bound(), source=source)
    yield wrong(loss, "the promise for one record", epsilon)
    yield from _delta(law, laws, chain, at * epsilon, partial(simulate, trials=trials, seed=seed))
    yield from _parity(epsilon, records)


@dataclass(frozen=True)
class Chain:
    """A stationary chain of bits, each answered by randomized response; one bit is the secret.

    Attributes
    ----------
    epsilon : of one answer.
    records : the length.
    flip : the probability that a bit differs from the one before it.
    place : of the secret bit, from 1.
    """

    epsilon: float
    records: int
    flip: float
    place: int

    def laws(self) -> tuple[Vector, Vector]:
        """The law of all answers where the secret is 0 and where it is 1, shape (2^records,) each.

        Given the secret, the answers before it, its own and those after it are independent. The
        answers on a side are ordered from the secret outwards.
        """
        truth = 1.0 / (1.0 + math.exp(-self.epsilon))
        answer = np.array([[truth, 1.0 - truth], [1.0 - truth, truth]])
        step = np.array([[1.0 - self.flip, self.flip], [self.flip, 1.0 - self.flip]])

        def side(length: int) -> Vector:
            law = np.ones((2, 1))
            for _ in range(length):  # one record farther in
                law = step @ (answer[:, :, None] * law[:, None, :]).reshape(2, -1)
            return law

        before, after = side(self.place - 1), side(self.records - self.place)
        first, second = (
            np.einsum("i,j,k->ijk", before[x], answer[x], after[x]).ravel() for x in (0, 1)
        )
        return first / math.fsum(first), second / math.fsum(second)

    def worst_answers(self) -> float:
        """The largest loss, that of equal answers: each record farther out adds to the next one."""

        def side(length: int) -> float:
            loss = 0.0
            for _ in range(length):
                grown = math.exp(self.epsilon + loss)
                loss = math.log(
                    ((1.0 - self.flip) * grown + self.flip) / (self.flip * grown + 1.0 - self.flip)
                )
            return loss

        return self.epsilon + side(self.place - 1) + side(self.records - self.place)

    def quilt_bound(self) -> float:
        """The least bound of any quilt: two records, or one, or none, on the sides of the secret.

        Given the quilt's records, what lies beyond them says nothing of the secret. The records
        that are nearer, the secret among them, cost epsilon each, and a quilt's record what it says
        of the secret: ln (1 + l)/(1 - l), l = (1 - 2 flip)^distance.
        """

        def side(length: int) -> float:
            best = length * self.epsilon
            for distance in range(1, length + 1):
                same = (1.0 - 2.0 * self.flip) ** distance
                best = min(best, (distance - 1) * self.epsilon + 2.0 * math.atanh(same))
            return best

        return self.epsilon + side(self.place - 1) + side(self.records - self.place)


def _delta(
    law: FiniteLaw,
    laws: tuple[Vector, Vector],
    chain: Chain,
    point: float,
    plays: Callable[..., Result],
) -> Iterator[GameRow]:
    """Delta of all answers together, with a play of the release as one mechanism."""
    quantity = "delta about one record of the chain"
    yield exact(quantity, "all histories and answers", law.delta(point))
    release = Table(counting_query("sick"), tuple(laws[0]), tuple(laws[1]))

    def ask(coins: np.random.Generator) -> Any:
        yield WELL, SICK, release

    result = plays(ask, release.guarantee(), rounds=1)
    yield played(quantity, "the same, played", result.delta(point, confidence=0.999))
    for what, epsilon in (
        ("the chain is one group", chain.records * chain.epsilon),
        ("the best quilt", chain.quilt_bound()),
    ):
        yield bound(quantity, what, PureDP(epsilon).hockey_stick(point))
    claimed = PureDP(chain.epsilon).hockey_stick(point)
    yield wrong(quantity, "the promise for one record", claimed)


def _parity(epsilon: float, records: int) -> Iterator[GameRow]:
    """A secret that is the parity of the records, of which nothing else is known."""
    quantity = "largest loss about the parity of the records"
    exactly = 2.0 * math.atanh(math.tanh(epsilon / 2.0) ** records)
    yield exact(quantity, "nothing else is known", exactly)
    yield bound(quantity, "the other records are known", epsilon, source=OURS)
