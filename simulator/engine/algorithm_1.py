"""Algorithm 1 of Roth 2011 (Lecture 4), Compose(A, M, k, b): it plays every generator adversary.

The kernels of :mod:`simulator.engine.compiled` are the same algorithm for a rule over a menu, with
the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan
from typing import Any

import numpy as np

from simulator.engine.challenges import Challenges, LossUnknown
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.promises import at
from simulator.engine.specification import Specification
from simulator.engine.trials import Playing, TiltedTrial, Tilting, Trial
from simulator.engine.views.views import View
from simulator.foundations.errors import Breach, DpcomposeError, NotApplicable, raised
from simulator.foundations.seeds import Stream, generator, record


def compose(
    adversary: Callable[..., Any], family: Challenges, k: int, b: int, trial: Trial
) -> None:
    """Compose(A, M, k, b): play the adversary A for k rounds of experiment b, in the family M.

    ``trial`` brings A's coins R and the noise, and keeps the view (R, Y_1, ..., Y_k) and its loss.
    """
    playing = Playing(adversary, trial.coins)
    answer = None
    for trial.round in range(k):
        challenge = playing.send(answer)  # D^{i,0}, D^{i,1} and M_i, by R and the answers so far
        pair = family.checked(challenge)  # a Breach unless these are neighbours, and M_i is in M
        if trial.admits(pair.price):  # false where a privacy filter refuses
            answer = trial.draw(pair, b)  # Y_i from M_i(D^{i,b})
            trial.account(pair.loss(answer))  # ln Pr[M_i(D^{i,0}) = Y_i] / Pr[M_i(D^{i,1}) = Y_i]
        else:
            answer = nan
        answer = trial.keep(answer)  # in the view; A receives a copy
    playing.close()


def play_trial(family: Challenges, trial: Trial) -> None:
    """Play Algorithm 1 once; an error names the round, the trial and the experiment."""
    s = family.specification
    family.begin_trial()
    try:
        compose(s.adversary, family, s.rounds, family.experiment, trial)
    except DpcomposeError as error:
        raise type(error)(at(trial.round, trial.number, family.played, str(error))) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        complaint = f"the mechanism raised {raised(error)}"
        raise Breach(at(trial.round, trial.number, family.played, complaint)) from error


def play_as_generator(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b`` by Algorithm 1; a rule is driven as a generator.

    A block with a mechanism without likelihood is played again with every view kept, as no losses
    are known.
    """
    s = specification
    try:
        return play_keeping(s, b, block, s.views_in(block))
    except LossUnknown:
        if s.filter is not None and s.filter.observes:
            raise NotApplicable(
                f"the {s.filter.name} filter depends on the realised losses: it needs mechanisms "
                "with a likelihood"
            ) from None
        if s.sampling is not None:
            raise
    return play_keeping(s, b, block, s.trials_in(block))


def play_keeping(
    specification: Specification, b: int, block: int, kept: int, trials: int | None = None
) -> Outcome:
    """Play one block, or its first ``trials``, and keep the views of its first ``kept`` trials.

    Raises LossUnknown where losses are needed and a mechanism has none: where not all views are
    kept, or where the answers are tilted by them.
    """
    s = specification
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    needed = s.sampling is not None or kept < s.trials_in(block) or s.observes
    family = Challenges(s, b, losses_needed=needed)
    begin = Trial if s.sampling is None else partial(TiltedTrial, Tilting.of(s, b))
    losses, log_weights = [], []
    trace = np.zeros((3, s.rounds)) if s.trace else None
    views = []
    first = block * s.block_size
    for number in range(first, first + (s.trials_in(block) if trials is None else trials)):
        keeps = number - first < kept
        stood = record(coins) if keeps else ()
        trial = begin(number, coins, noise, s.filter, keep_answers=keeps, keep_path=s.trace)
        play_trial(family, trial)
        losses.append(trial.loss)
        log_weights.append(trial.log_weight)
        if trial.answers is not None:
            views.append(View(b, number, stood, tuple(trial.answers)))
        if trace is not None:
            add_path(trace, np.array(trial.path))
    found = np.array(losses, dtype=np.float64)
    return Outcome(
        b, block, -found if family.exchanged else found, trace, tuple(views),
        log_weights=None if s.sampling is None else np.array(log_weights, dtype=np.float64),
        challenges=tuple(family.met.values()),
    )  # fmt: skip


def add_path(trace: np.ndarray, path: np.ndarray) -> None:
    """Add one trial's running losses, shape (rounds,), to the sums of a trace."""
    usable = np.isfinite(path)
    trace[0, usable] += path[usable]
    trace[1, usable] += path[usable] ** 2
    trace[2] += usable
