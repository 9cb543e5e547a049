"""Certified epsilon of a training, for each way in which its loader may form batches.

C bounds the norm of a record's gradient. A record that is there or not moves a sum by C, also where
it is replaced by a special one of gradient 0; one that is replaced by any other moves it by 2C.
Neighbours are the same two databases in all steps; gradients may depend on what earlier steps have
revealed.
What each row rests on stands in simulator/theory/lemmas: sampling, replaced-sample, cut-samples,
random-allocation, batches-without-amplification.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.events.accounting import Account
from simulator.theory.events.leaves import GaussianEvent
from simulator.theory.events.sums import SampledSumEvent
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE, REPLACE_SPECIAL, Neighbours
from simulator.theory.pld.distribution import compose_laws
from simulator.training.as_trained.described import TrainingRun
from simulator.training.events import RandomAllocationEvent
from simulator.training.laws.shuffled_batches import shuffled_batches

POISSON, ALLOCATED = "Poisson samples", "one random step of every epoch"
SHUFFLED, ONCE, FIXED = "shuffled in every epoch", "shuffled once", "fixed batches"
CUT = "Poisson samples, cut to"

_LEAST_SIGMA = 2.5e-3
"""Less noise shows the batch almost surely; more noise loses less, so a lower end stays one."""
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class LoaderRow:
    """Certified ends of epsilon for one loader.

    Attributes
    ----------
    loader : how records come into batches.
    relation : of the neighbours.
    moves : what one record moves a sum by, in units of C.
    epsilon : the truth is between its ends; an end that is not known is 0 or infinite.
    source : what the ends rest on, or why an end is not known.
    """

    loader: str
    relation: Neighbours
    moves: int
    epsilon: Bracket
    source: str

    @property
    def neighbours(self) -> str:
        """The relation with what a record moves."""
        return f"{self.relation}, {'' if self.moves == 1 else self.moves}C"


def loader_rows(run: TrainingRun) -> Iterator[LoaderRow]:
    """The rows of a training, one after the other as they are computed.

    >>> from simulator.training.as_trained.described import TrainingRun
    >>> from simulator.training.as_trained.rows import loader_rows
    >>> run = TrainingRun(noise=1.0, records=1000, batch=10, steps=1000, delta=1e-5)
    >>> first = next(loader_rows(run))
    >>> first.loader, first.neighbours, round(first.epsilon.upper, 4)
    ('Poisson samples', 'add-remove, C', 1.8283)
    """
    yield _known(POISSON, ADD_REMOVE, 1, lambda: _poisson(run, ADD_REMOVE), "exact pair")
    yield _known(POISSON, REPLACE_ONE, 2, lambda: _poisson(run, REPLACE_ONE), "exact pair")
    cut = run.cut or min(math.ceil(1.25 * run.batch), run.records)
    yield _known(
        f"{CUT} {cut}", ADD_REMOVE, 1, lambda: _cut(run, cut),
        "upper end: which records are left out is revealed",
    )  # fmt: skip
    yield _known(
        ALLOCATED, ADD_REMOVE, 1, lambda: _allocated(run),
        "exact pair, each record by itself" if run.whole_epochs == run.begun_epochs
        else _upper_of_begun(run, "pair of whole epochs"),
    )  # fmt: skip
    noise = "exact: noise alone"
    if run.whole_epochs == 0:
        noise = _upper_of_begun(run, "noise alone")
    elif run.per_epoch > 1:
        noise = "from above noise alone, from below the largest noisy sum"
    yield _known(SHUFFLED, REPLACE_SPECIAL, 1, lambda: _shuffled(run, once=False), noise)
    yield _known(ONCE, REPLACE_SPECIAL, 1, lambda: _shuffled(run, once=True), noise)
    yield _known(FIXED, REPLACE_SPECIAL, 1, lambda: _noise_alone(run, 1), "exact: noise alone")
    yield _known(FIXED, REPLACE_ONE, 2, lambda: _noise_alone(run, 2), "exact: noise alone")


def _known(
    loader: str, relation: Neighbours, moves: int, of: Callable[[], Bracket], source: str
) -> LoaderRow:
    try:
        return LoaderRow(loader, relation, moves, of(), source)
    except NotApplicable as error:
        return LoaderRow(loader, relation, moves, Bracket(0.0, math.inf), f"not known: {error}")


def _upper_of_begun(run: TrainingRun, what: str) -> str:
    """The source of ends that do not meet, as the last epoch is not trained to its end."""
    if run.whole_epochs == 0:
        return f"upper end: {what}, no epoch is trained to its end"
    return f"{what}, from above {run.begun_epochs} of them, from below {run.whole_epochs}"


def _poisson(run: TrainingRun, relation: Neighbours) -> Bracket:
    step = SampledSumEvent(run.noise, run.rate)
    return Account(relation=relation).then(step, run.steps).epsilon(run.delta)


def _cut(run: TrainingRun, cut: int) -> Bracket:
    step = SampledSumEvent(run.noise, run.rate, batch=cut, size=run.records)
    upper = Account().then(step, run.steps).epsilon(run.delta).upper
    return Bracket(0.0, upper)


def _allocated(run: TrainingRun) -> Bracket:
    """Of the whole epochs from below, and of those begun from above."""
    of = {
        epochs: Account(
            RandomAllocationEvent(GaussianEvent(run.noise), run.per_epoch, epochs=epochs)
        ).epsilon(run.delta)
        for epochs in {run.whole_epochs, run.begun_epochs} - {0}
    }
    lower = of[run.whole_epochs].lower if run.whole_epochs else 0.0
    return Bracket(lower, of[run.begun_epochs].upper)


def _noise_alone(run: TrainingRun, moves: int) -> Bracket:
    account = Account(relation=REPLACE_ONE if moves == 2 else REPLACE_SPECIAL)
    step = GaussianEvent(run.noise, float(moves))
    return account.then(step, run.begun_epochs).epsilon(run.delta)


def _shuffled(run: TrainingRun, *, once: bool) -> Bracket:
    upper = _noise_alone(run, 1)
    epochs = run.whole_epochs
    if epochs == 0:
        return Bracket(0.0, upper.upper)
    if run.per_epoch == 1:  # every record is in every batch
        return upper
    sigma = max(run.noise / (epochs**0.5 if once else 1.0), _LEAST_SIGMA)
    law = shuffled_batches(sigma, run.per_epoch)
    composed = compose_laws([(law, 1 if once else epochs)], _TOLERANCE)
    ends = (one.epsilon(run.delta).lower for one in (composed, composed.reversed()))
    return Bracket(max(ends), upper.upper)
