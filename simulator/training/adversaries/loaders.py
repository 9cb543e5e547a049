"""Trainings whose data loader is not what their accountant assumes: the claim, and what is lost.

Each :class:`Loader` is played as an adversary that requests the same step or epoch in every round.
The gradients are one-dimensional, and the worst that are known: one differing record of gradient
+1, which is absent or 0 in the other database, among records of gradient -1 or 0.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy

from simulator.adversaries.contract import Challenge
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database, Relation
from simulator.data.queries.sums import clipped_sum
from simulator.mechanisms.gaussian import Gaussian
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.theory.pld.distribution import PLD, compose_laws
from simulator.training.laws.shuffled_batches import scaled_noise, shuffled_batches
from simulator.training.mechanisms.divided_step import DividedStep
from simulator.training.mechanisms.drawn_by_weight import DrawnByWeight
from simulator.training.mechanisms.random_allocation import RandomAllocation
from simulator.training.mechanisms.shuffled_batches import ShuffledBatches

Laws = tuple[tuple[PrivacyLossLaw, int], ...]


@dataclass(frozen=True)
class Loader:
    """A loader with its worst known databases, as an adversary.

    Attributes
    ----------
    name : for tables.
    challenge : of every round.
    relation : of the two databases.
    rounds : how many are played.
    claimed : the laws that Poisson accounting composes, with their counts.
    proved : laws that the training's loss dominates; empty where it is only played.
    """

    name: str
    challenge: Challenge
    relation: Relation
    _: KW_ONLY
    rounds: int
    claimed: Laws
    proved: Laws = ()

    def __call__(self, coins: np.random.Generator) -> Generator[Challenge, Any, None]:
        """Play."""
        while True:
            yield self.challenge

    @property
    def family(self) -> Guarantee:
        """What the mechanism says that it keeps."""
        return self.challenge.mechanism.guarantee(self.relation)

    def claimed_epsilon(self, delta: float) -> float:
        """What Poisson accounting says, rounded up; the worse direction."""
        return max(one.epsilon(delta).upper for one in _both_directions(self.claimed))

    def proved_epsilon(self, delta: float) -> float | None:
        """A lower end of the true epsilon, exact but for its rounding down; None if only played."""
        if not self.proved:
            return None
        return max(one.epsilon(delta).lower for one in _both_directions(self.proved))


def _both_directions(laws: Laws) -> tuple[PLD, PLD]:
    composed = compose_laws(laws, 1e-4)
    return composed, composed.reversed()


def value(record: tuple[int, float]) -> float:
    """The gradient of a record (batch, gradient)."""
    return record[1]


def batch(record: tuple[int, float]) -> int:
    """The batch of a record (batch, gradient), where batches are formed first."""
    return record[0]


def weight(record: tuple[int, float]) -> float:
    """The weight of a record (weight, gradient)."""
    return float(record[0])


def poisson(sigma: float, rate: float, steps: int) -> Laws:
    """The law of a step on a Poisson sample, so many times."""
    return ((PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), rate), steps),)


def shuffling_loaders(sigma: float, batches: int, epochs: int, size: int = 10) -> list[Loader]:
    """Loaders that pass over all records in every epoch, in batches of ``size`` records.

    Sources: Chua and others, "How Private are DP-SGD Implementations?", ICML 2024, for records in
    a new order in every epoch; Annamalai and others, "To Shuffle or not to Shuffle", 2024, for
    batches that are formed first.
    """
    step = Gaussian(clipped_sum(value, -1.0, 1.0), sigma)
    claimed = poisson(sigma, 1.0 / batches, batches * epochs)
    others = Database({(0, -1.0): batches * size - 1})
    absent, present = others.add((0, 0.0)), others.add((0, 1.0))
    mates = Database({(j, -1.0 if j else 1.0): size - (j == 0) for j in range(batches)})
    apart = size - 1.0 + size  # her batch's sum without her, above that of another batch
    every = (shuffled_batches(sigma, batches), epochs)
    once = (shuffled_batches(sigma / epochs**0.5, batches), 1)
    formed = (shuffled_batches(sigma, batches, apart, apart + 1.0), epochs)
    alone = Database([(0, -1.0)])  # the places of the others are public, so one serves
    return [
        Loader(
            "each record in one random step",
            Challenge(alone, alone.add((0, 1.0)), RandomAllocation(step, batches)),
            ADD_REMOVE, rounds=epochs, claimed=claimed,
        ),
        Loader(
            "shuffled once",
            Challenge(absent, present, ShuffledBatches(step, batches, epochs)),
            REPLACE_ONE, rounds=1, claimed=claimed, proved=(once,),
        ),
        Loader(
            "shuffled in every epoch",
            Challenge(absent, present, ShuffledBatches(step, batches)),
            REPLACE_ONE, rounds=epochs, claimed=claimed, proved=(every,),
        ),
        Loader(
            "batches formed first, then shuffled",
            Challenge(
                mates.add((0, 0.0)), mates.add((0, 1.0)),
                ShuffledBatches(step, batches, batch_of=batch),
            ),
            REPLACE_ONE, rounds=epochs, claimed=claimed, proved=(formed,),
        ),
    ]  # fmt: skip


def dividing_loaders(sigma: float, rate: float, coordinates: int, steps: int) -> list[Loader]:
    """Poisson samples whose noisy sum is divided by a size that the record changes.

    The record makes the expected size whole. Sources: threads 571 and 819 of Opacus, for the
    expected size rounded down.
    """
    step, many = Gaussian(clipped_sum(value, -1.0, 1.0), sigma), round(20.0 / rate)
    others = Database({(0, 0.0): many - 1})
    claimed = poisson(sigma, rate, steps)
    scale = (scaled_noise(coordinates - 1, 20.0 / 19.0), steps)
    return [
        Loader(
            name,
            Challenge(others, others.add((0, 1.0)), DividedStep(step, rate, coordinates, divisor)),
            ADD_REMOVE, rounds=steps, claimed=claimed, proved=proved,
        )
        for name, divisor, proved in (
            ("sum over the expected size, rounded down", "floor", (scale,)),
            ("sum over the size of the sample", "sample", ()),
        )
    ]  # fmt: skip


def weighted_loader(sigma: float, records: int, draws: int, heavy: int, steps: int) -> Loader:
    """A sampler that draws with replacement, and the record as often as ``heavy`` others.

    Source: thread 813 of Opacus is about the rate that is claimed for such a sampler.
    """
    step = Gaussian(clipped_sum(value, -1.0, 1.0), sigma)
    others = Database({(1, 0.0): records - 1})
    share, times = heavy / (heavy + records - 1), np.arange(draws + 1)
    weights = scipy.stats.binom.pmf(times, draws, share)
    likely = weights > 1e-300
    law = GaussianMixtureLaw(sigma, tuple(times[likely].tolist()), tuple(weights[likely].tolist()))
    return Loader(
        f"drawn by weight, hers {heavy} times a usual one",
        Challenge(
            others.add((heavy, 0.0)), others.add((heavy, 1.0)),
            DrawnByWeight(step, draws, weight, records),
        ),
        REPLACE_ONE, rounds=steps, claimed=poisson(sigma, draws / records, steps),
        proved=((law, steps),),
    )  # fmt: skip


def all_loaders(game: Mapping[str, Any]) -> list[Loader]:
    """The loaders of a specification with ``sigma``, ``batches``, ``epochs`` and the rest."""
    sigma = game["sigma"]
    return [
        *shuffling_loaders(sigma, game["batches"], game["epochs"]),
        *dividing_loaders(sigma, game["rate"], game["coordinates"], game["steps"]),
        weighted_loader(sigma, game["records"], game["draws"], game["heavy"], game["draws"]),
    ]
