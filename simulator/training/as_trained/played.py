"""Lower ends of epsilon by play: the worst gradients that are known, for each loader."""

from __future__ import annotations

from simulator.adversaries.contract import Challenge
from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries.sums import clipped_sum
from simulator.foundations.errors import NotApplicable
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.sampled import PoissonSubsampled
from simulator.training.adversaries.loaders import Loader, poisson, shuffling_loaders, value
from simulator.training.as_trained.described import TrainingRun
from simulator.training.as_trained.rows import ALLOCATED, FIXED, ONCE, POISSON, SHUFFLED

CONFIDENCE = 0.95
"""Of all lower ends of a training together."""
_SHUFFLING = {
    ALLOCATED: "each record in one random step",
    SHUFFLED: "shuffled in every epoch",
    ONCE: "shuffled once",
}


def games_of(run: TrainingRun) -> dict[str, Loader]:
    """The game of each loader, by the name of its row; of whole epochs where it shuffles."""
    step = Gaussian(clipped_sum(value, -1.0, 1.0), run.noise)
    alone = Database([(0, 0.0)])
    with_record = alone.add((0, 1.0))
    claimed = poisson(run.noise, run.rate, run.steps)
    sampled = step if run.rate == 1.0 else PoissonSubsampled(step, run.rate)
    found = {
        name: Loader(
            name, Challenge(alone, with_record, mechanism), ADD_REMOVE, rounds=rounds,
            claimed=claimed,
        )
        for name, mechanism, rounds in (
            (POISSON, sampled, run.steps),
            (FIXED, step, run.begun_epochs),
        )
    }  # fmt: skip
    if run.whole_epochs and run.per_epoch > 1:
        size = max(1, run.records // run.per_epoch)
        shuffling = shuffling_loaders(run.noise, run.per_epoch, run.whole_epochs, size)
        by_name = {loader.name: loader for loader in shuffling}
        found |= {name: by_name[theirs] for name, theirs in _SHUFFLING.items()}
    return found


def played_epsilon(run: TrainingRun, loader: str, trials: int, seed: int = 0) -> float:
    """A lower end of epsilon from a play, with CONFIDENCE for all loaders together.

    Raises NotApplicable for a loader without a game.
    """
    games = games_of(run)
    if loader not in games:
        raise NotApplicable(f"{loader} is not played")
    game = games[loader]
    result = simulate(
        game, game.family, game.rounds, trials, seed=seed, relation=game.relation, progress=False,
    )  # fmt: skip
    each = 1.0 - (1.0 - CONFIDENCE) / (2 * 5)
    return max(result.epsilon(run.delta, b, each).lower for b in (0, 1))
