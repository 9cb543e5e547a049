"""A second transcription of Algorithm 1, the independent witness of every engine.

What plays is ``compose`` of :mod:`simulator.engine.algorithm_1`, and the compiled kernels. This one
exists to be held against them, draw for draw: it prepares, checks and caches nothing, and computes
in another way. It draws by ``mechanism.sample`` on database b alone, and takes the loss of every
round from ``mechanism.log_likelihood_ratio``.
"""

import math
from typing import NamedTuple

from simulator.adversaries.contract import Rule
from simulator.data.databases import ADD_REMOVE
from simulator.foundations.seeds import Stream, generator
from simulator.mechanisms import Free


class Play(NamedTuple):
    """One trial: the challenges, the answers and the losses."""

    challenges: list
    answers: list
    loss: float


def compose(adversary, k, b, coins, noise, *, relation=ADD_REMOVE):
    """Compose(A, M, k, b) for an adversary written as a generator function."""
    challenges, answers, loss = [], [], 0.0
    playing = adversary(coins)
    answer = None
    for _ in range(k):
        database_0, database_1, mechanism = playing.send(answer)
        answer = mechanism.sample((database_0, database_1)[b], noise, relation)
        loss += mechanism.log_likelihood_ratio(answer, database_0, database_1, relation)
        challenges.append((database_0, database_1, mechanism))
        answers.append(answer)
    return Play(challenges, answers, loss)


def as_generator(rule):
    """A rule over a menu, read by its docstring alone, as a generator function."""

    def adversary(coins):
        state, answer, i = rule.state, math.nan, 0
        while True:
            state, move, *rest = rule.step(state, i, answer, coins)
            database_0, database_1, mechanism = rule.menu[move]
            if isinstance(mechanism.parameter, Free):
                mechanism = mechanism.with_parameter(rest[0])
            answer = yield database_0, database_1, mechanism
            i += 1

    return adversary


def compose_block(specification, b, block, adversary=None):
    """Play a whole block with the same draws as the engines; one Play a trial."""
    s = specification
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    adversary = adversary or s.adversary
    if isinstance(adversary, Rule):
        adversary = as_generator(adversary)
    return [
        compose(adversary, s.rounds, b, coins, noise, relation=s.relation)
        for _ in range(s.trials_in(block))
    ]


def enumerate_losses(adversary, k, b, relation=ADD_REMOVE):
    """The exact law {loss: probability} of experiment ``b``, for a deterministic adversary.

    Walks the whole tree of answers of mechanisms with finitely many outcomes, and runs the
    adversary from the start along every path. Losses are rounded to 12 digits.
    """
    law = {}

    def walk(answers, probability, loss):
        if len(answers) == k:
            key = round(loss, 12)
            law[key] = law.get(key, 0.0) + probability
            return
        playing = adversary(None)
        challenge = next(playing)
        for answer in answers:
            challenge = playing.send(answer)
        database_0, database_1, mechanism = challenge
        masses = outcome_masses(mechanism, database_0, database_1, relation)
        for answer, pair in enumerate(masses):
            if pair[b] > 0.0:
                infinite = math.inf if pair[0] > 0.0 else -math.inf
                step = math.log(pair[0] / pair[1]) if pair[0] and pair[1] else infinite
                walk([*answers, float(answer)], probability * pair[b], loss + step)

    walk([], 1.0, 0.0)
    return law


def outcome_masses(mechanism, database_0, database_1, relation):
    """[(P0(y), P1(y)) for y = 0, 1, ...], from each mechanism's definition."""
    name = type(mechanism).__name__
    return list(zip(*(MASSES[name](mechanism, d, relation) for d in (database_0, database_1))))


def _randomized_response(mechanism, database, _relation):
    truth = math.exp(mechanism.epsilon) / (1 + math.exp(mechanism.epsilon))
    return [truth if y == mechanism.query(database) else 1 - truth for y in (0, 1)]


def _leaky(mechanism, database, _relation):
    truth = math.exp(mechanism.epsilon) / (1 + math.exp(mechanism.epsilon))
    hidden = 1 - mechanism.delta
    on_zero = [mechanism.delta, hidden * truth, hidden * (1 - truth), 0.0]
    return on_zero[::-1] if mechanism.query(database) else on_zero


def _exponential(mechanism, database, relation):
    sensitivity = mechanism.query.sensitivity(relation)
    weights = [
        math.exp(mechanism.epsilon * q / (2 * sensitivity)) for q in mechanism.query(database)
    ]
    return [weight / sum(weights) for weight in weights]


MASSES = {
    "RandomizedResponse": _randomized_response,
    "LeakyRandomizedResponse": _leaky,
    "Exponential": _exponential,
}
