"""The witness of tilted play: every view of a small game, with its laws computed a second way.

Nothing here calls the tilting of the package. Probabilities come from the mechanisms' own
vectors, the tilted ones from their definition q ∝ p e^{theta c} on the finite losses, and the
measure's theta in each round from a transcription of its definition.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

from simulator import RandomizedResponse
from simulator.data.databases import ADD_REMOVE
from simulator.engine.algorithm_1 import play_trial
from simulator.engine.challenges import Challenges
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.trials import TiltedTrial, Tilting
from simulator.mechanisms import Exponential


class Leaf(NamedTuple):
    """A view of the tree: the uniform draws that lead to it, and what it should weigh."""

    draws: tuple
    answers: tuple
    probability: float
    tilted: float
    signed: float


def masses(mechanism, database_0, database_1, relation=ADD_REMOVE):
    """Probabilities of the answers 0, 1, 2, ... on both databases, shape (2, answers)."""
    both = database_0, database_1
    if isinstance(mechanism, RandomizedResponse):
        truth = 1 / (1 + math.exp(-mechanism.epsilon))
        return np.array([[truth, 1 - truth][:: -1 if mechanism.query(d) else 1] for d in both])
    if isinstance(mechanism, Exponential):
        scores = np.array([mechanism.query(d) for d in both], dtype=float)
        weights = np.exp(scores * mechanism.epsilon / (2 * mechanism.query.sensitivity(relation)))
        return weights / weights.sum(axis=1, keepdims=True)
    if hasattr(mechanism, "table"):
        return np.array(mechanism.table(*both, relation))
    if hasattr(mechanism, "probabilities"):
        return np.array(mechanism.probabilities(*map(mechanism.query, both), relation))
    return np.array(mechanism.outcomes(*both, relation)[1:])


def tilted_masses(p, losses, theta):
    """The law ∝ p e^{theta c} where the loss c is finite; the others keep their probability."""
    here = (p > 0) & np.isfinite(losses)
    q = np.where(p > 0, p, 0.0)
    if here.any():
        log = np.log(p[here]) + theta * losses[here]
        lifted = np.exp(log - log.max())
        q[here] = p[here].sum() * lifted / lifted.sum()
    return q


def theta_at(sampling, i, rounds, signed):
    """The measure's theta in round ``i`` after a signed loss, by its definition."""
    phases, columns = sampling.grid.shape
    low, high = sampling.span
    place = math.floor((min(signed, 1e300) - low) * (columns / (high - low)))
    return sampling.levels[sampling.grid[i * phases // rounds, min(max(place, 0), columns - 1)]]


def leaves(adversary, rounds, b, sampling, filter_=None, *, relation=ADD_REMOVE):
    """Every view that experiment ``b`` can give, with its law and its tilted law."""
    found = []

    def walk(draws, answers, p_view, q_view, signed, purse):
        i = len(answers)
        if i == rounds:
            found.append(Leaf(draws, answers, p_view, q_view, signed))
            return
        playing = adversary(None)
        challenge = next(playing)
        for answer in answers:
            challenge = playing.send(answer)
        if filter_ is not None:
            price = filter_.price(challenge[2].guarantee(relation))
            admitted, purse = type(filter_).step(purse, *price)
            if not admitted:
                walk(draws, (*answers, math.nan), p_view, q_view, signed, purse)
                return
        both = masses(challenge[2], *challenge[:2], relation)
        p = both[b]
        with np.errstate(divide="ignore"):
            losses = np.log(both[b]) - np.log(both[1 - b])
        q = tilted_masses(p, losses, theta_at(sampling, i, rounds, signed))
        # randomized response draws 1 from the low end of the unit interval, tables 0
        order = range(len(p))
        if isinstance(challenge[2], RandomizedResponse):
            order = reversed(order)
        start = 0.0
        for y in order:
            if p[y] > 0:
                walk((*draws, start + q[y] / 2), (*answers, float(y)), p_view * p[y],
                     q_view * q[y], signed + losses[y], purse)  # fmt: skip
            start += q[y]

    walk((), (), 1.0, 1.0, 0.0, None if filter_ is None else filter_.initial)
    return found


class Script:
    """Noise that gives these uniform draws, and no more."""

    def __init__(self, draws):
        self.draws = iter(draws)

    def random(self):
        return next(self.draws)


def by_algorithm_1(s, b, leaf):
    """Algorithm 1 with the leaf's draws: answers, signed loss, log-weight."""
    coins, noise = np.random.default_rng(0), Script(leaf.draws)
    trial = TiltedTrial(Tilting.of(s, b), 0, coins, noise, s.filter, keep_answers=True)
    play_trial(Challenges(s, b), trial)
    return tuple(trial.answers), trial.loss, trial.log_weight


def by_kernel(s, b, leaf):
    """The uncompiled kernel's play with the leaf's draws: answers, signed loss, log-weight."""
    engine = TiltedEngine.build(s.adversary, s.family, s.relation, s.filter, compiled=False)
    signed, log_weights, answers = np.empty(1), np.empty(1), np.empty((1, s.rounds))
    coins = np.random.default_rng(0)
    arrays = {"losses": signed, "log_weights": log_weights, "answers": answers}
    engine.play(b, s.sampling, s.rounds, coins, Script(leaf.draws), **arrays)
    return tuple(answers[0].tolist()), float(signed[0]), float(log_weights[0])


def assert_exact(s, b, play=by_algorithm_1):
    """Q(view) W(view) = P_b(view) for every view, and Q is a law: then E_Q[W f] = E_b[f] for all f.

    The play must give the very answers that the tilted law puts at these draws.
    """
    found = leaves(s.adversary, s.rounds, b, s.sampling, s.filter, relation=s.relation)
    assert math.fsum(leaf.tilted for leaf in found) == approx(1.0)
    assert math.fsum(leaf.probability for leaf in found) == approx(1.0)
    for leaf in found:
        answers, signed, log_weight = play(s, b, leaf)
        np.testing.assert_array_equal(answers, leaf.answers)
        np.testing.assert_allclose(signed, leaf.signed, rtol=1e-11, atol=1e-12)
        assert leaf.tilted * math.exp(log_weight) == approx(leaf.probability)
    return found


def approx(value):
    return pytest.approx(value, rel=1e-10)


def law_of(found):
    """{signed loss: probability} of experiment b, losses rounded to 10 digits."""
    law = {}
    for leaf in sorted(found, key=lambda leaf: leaf.signed):
        key = round(leaf.signed, 10) + 0.0
        law[key] = law.get(key, 0.0) + leaf.probability
    return law


def expectation(found, of):
    return math.fsum(leaf.probability * of(leaf.signed) for leaf in found)


def hockey_stick(epsilon):
    return lambda signed: -math.expm1(min(epsilon - signed, 0.0))


def pairs(*groups):
    return list(itertools.product(*groups))
