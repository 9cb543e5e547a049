"""Zhang 2020, lecture 7, part 4: distributed differential privacy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated

import numpy as np
from scipy.stats import dlaplace

from simulator.analysis.estimation import clopper_pearson
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.foundations.errors import Breach
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import challenges, play
from simulator.teaching.claims.ledger.shared.exact_values import chance_of_truth, random_pairs
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, NoiseFactor, Seed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import (
    FALSE_ALARM,
    largest_loss_seen,
    seen_within,
    simulated,
)
from simulator.teaching.mechanisms.two_party import TwoPartyCount
from simulator.theory import PureDP

Record = tuple[int, int]
Messages = Annotated[int, "messages that are summed", Within(1, 2)]
KnowsCoins = Annotated[bool, "whether the adversary knows its own coins"]
Row = Annotated[Record, "the party and the bit of the row that is added"]
Parties = Annotated[int, "parties of the protocol (all combinations are listed)", Within(2, 5)]
Pairs = Annotated[int, "random pairs of laws that are tried", Within(1, 15)]
OutsiderFirst = Annotated[bool, "whether the output is claimed to tell more than the view"]

Views = dict[tuple[int, ...], float]
Pair = tuple[np.ndarray, np.ndarray]
ONES = counting_query(lambda record: record[1] == 1, "ones")
SHARED: Database = Database([(1, 1), (1, 0), (1, 1), (2, 1), (2, 0), (2, 0)])
"""Records are (party, bit): three people with each party."""


@claim(
    "zhang2020-two-party-count",
    "part 4, counting queries in the 2-party model",
    "Each party shares its own count with noise Lap(2/ε): the view of either party is ε-DP for "
    "the other's rows.",
    Verdict.NOT_TIGHT,
    wrong={"noise": 0.25},
)
def two_party_count(
    *, epsilon: Epsilon = 1.0, noise: NoiseFactor = 1.0, seed: Seed = 40
) -> Finding:
    """Both parties' views, played for a row of the other party; the supremum by the law.

    ``noise`` scales the printed 2/ε.
    """
    worst = 0.0
    for viewer, row in ((1, (2, 1)), (2, (1, 1))):
        protocol = TwoPartyCount(ONES, epsilon / noise, viewer)
        game = challenges((SHARED, SHARED.add(row), protocol))
        result = play(game, PureDP(epsilon / noise), 1, 300, seed=seed)
        law = protocol.law(SHARED, SHARED.add(row))
        worst = max(worst, largest_loss_seen(result), law.support[1])
    return upper_bound(
        worst,
        epsilon,
        "largest privacy loss",
        note="one row moves one message by 1, so Lap(1/ε) would do: the printed noise is twice "
        "what ε needs",
    )


@claim(
    "zhang2020-two-party-sum",
    "part 4, counting queries in the 2-party model",
    "The sum of the two messages is an estimate of the common count.",
    Verdict.HOLDS,
    wrong={"messages": 1},
)
def two_party_sum(
    *,
    epsilon: Epsilon = 1.0,
    messages: Messages = 2,
    trials: Annotated[int, "plays of each experiment", Within(1, 10_000)] = 2000,
    seed: Seed = 41,
) -> Finding:
    """Sums of messages in played views: as often above the true count as below.

    The noise is symmetric; the sum's variance is 16/ε², eight times a curator's.
    """
    with_alice = SHARED.add((2, 1))
    game = challenges((SHARED, with_alice, TwoPartyCount(ONES, epsilon)))
    result = play(game, PureDP(epsilon), 1, trials, seed=seed, keep_views=trials)
    views = np.array([view.answers[0] for view in result.views if view.experiment == 1])
    sums = views[:, 1 : 1 + messages].sum(axis=1)
    true = float(with_alice.count(lambda record: record[1] == 1))
    above = clopper_pearson(int((sums > true).sum()), trials, 1 - FALSE_ALARM)
    return simulated(
        above.lower <= 0.5 <= above.upper,
        f"above the true count of {true:g} in a share {above.value:.3f} of {trials} plays, mean "
        f"{number(float(sums.mean()))}, variance {number(float(sums.var()))}",
        printed="one half",
    )


@claim(
    "zhang2020-view-of-the-others",
    "part 4, Adversary view",
    "The adversary sees its own inputs and coins besides the messages: privacy against a party "
    "asks more than privacy against an outsider who sees the sum.",
    Verdict.HOLDS,
    wrong={"knows_coins": False},
)
def view_of_the_others(*, epsilon: Epsilon = 1.0, knows_coins: KnowsCoins = True) -> Finding:
    """The total variation distance that one row of the other party makes, by listing views.

    The messages have geometric noise of ε/2, which is the Laplace noise of whole numbers.
    """
    party, outsider = (advantage_of_a_row(epsilon / 2.0, known) for known in (knows_coins, False))
    return statement(
        party > outsider * (1 + 1e-9),
        f"advantage {number(party)} for the other party, {number(outsider)} for an outsider who "
        "sees the sum alone",
    )


def advantage_of_a_row(rate: float, knows_coins: bool) -> float:
    """The distance of the views (own noise, sum), or of the sums alone, for counts 0 and 1."""
    noise = np.arange(-400, 401)
    chances = dlaplace.pmf(noise, rate)
    views = np.zeros((2, len(noise) if knows_coins else 1, 2 * len(noise)))
    for row, own in product((0, 1), range(len(noise))):
        seen = views[row, own if knows_coins else 0]
        seen[own + row : own + row + len(noise)] += chances[own] * chances
    return float(np.maximum(views[1] - views[0], 0.0).sum())


@claim(
    "zhang2020-multiparty-own-rows",
    "part 4, Definition 1 (multi-party differential privacy)",
    "The definition compares databases that differ in a row of the party outside the adversary's "
    "control; the adversary's own rows are no secret from it.",
    Verdict.HOLDS,
    wrong={"row": (2, 1)},
)
def own_rows(*, epsilon: Epsilon = 1.0, row: Row = (1, 1), seed: Seed = 42) -> Finding:
    """Party 1 looks: a pair that differs in its own row is not a pair of neighbours."""
    game = challenges((SHARED, SHARED.add(row), TwoPartyCount(ONES, epsilon, viewer=1)))
    try:
        play(game, PureDP(epsilon), 1, 1, seed=seed)
        refused = False
    except Breach:
        refused = True
    return statement(refused, f"a pair that differs in {row} is {'' if refused else 'not '}refused")


@claim(
    "zhang2020-multiparty-repeated",
    "part 4, Protocol",
    "A protocol is a sequence of rounds of messages, so repeated counting composes: k rounds of "
    "the two-party count are kε-DP for each party.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.25},
)
def repeated_count(
    *,
    epsilon: Epsilon = 0.5,
    rounds: Annotated[int, "rounds k (all combinations are listed)", Within(1, 7)] = 5,
    trials: Annotated[int, "plays of each experiment", Within(1, 2000)] = 400,
    share: Factor = 1.0,
    seed: Seed = 43,
) -> Finding:
    """The protocol run again and again; every round costs up to ε/2."""
    pair = (SHARED, SHARED.add((2, 1)), TwoPartyCount(ONES, epsilon))
    result = play(challenges(*[pair] * rounds), PureDP(epsilon), rounds, trials, seed)
    return seen_within(result, share * rounds * epsilon)


def transcripts(
    bits: tuple[int, ...], rounds: int, laws: Sequence[Pair]
) -> Iterator[tuple[float, list[int], tuple[int, ...]]]:
    """Every (probability, messages, coins) of parties that hold a bit each and speak in turn.

    ``laws`` are the laws of a message on either bit, the next one in turn. It is said about the own
    bit if the messages so far have an even sum, and about its opposite if they have an odd one: it
    depends on those before. A coin says whether to lie.
    """
    for coins in product((0, 1), repeat=len(bits) * rounds):
        messages: list[int] = []
        chance = 1.0
        for turn, lies in enumerate(coins):
            said_of = bits[turn % len(bits)] ^ (sum(messages) % 2)
            messages.append(said_of ^ lies)
            chance *= float(laws[turn % len(laws)][said_of][messages[-1]])
        yield chance, messages, coins


def response(epsilon: float) -> list[Pair]:
    """The laws of randomized response."""
    truth = chance_of_truth(epsilon)
    return [(np.array([truth, 1.0 - truth]), np.array([1.0 - truth, truth]))]


def coalition_view(bits: tuple[int, ...], honest: int, rounds: int, laws: Sequence[Pair]) -> Views:
    """Probabilities of what all parties but ``honest`` see: their coins, and her messages."""
    views: Views = {}
    for chance, messages, coins in transcripts(bits, rounds, laws):
        seen = tuple(
            message if turn % len(bits) == honest else lies
            for turn, (message, lies) in enumerate(zip(messages, coins))
        )
        views[seen] = views.get(seen, 0.0) + chance
    return views


@claim(
    "zhang2020-multiparty-coalition",
    "part 4, Definition 1 (multi-party differential privacy)",
    "With m parties and messages that depend on earlier ones, a party whose messages spend ε in "
    "all is ε-private against a coalition of the m-1 others.",
    Verdict.HOLDS,
    wrong={"share": 0.6},
)
def coalition(
    *,
    epsilon: Epsilon = 0.8,
    parties: Parties = 3,
    rounds: Annotated[int, "rounds k (all combinations are listed)", Within(1, 4)] = 2,
    pairs: Pairs = 3,
    share: Factor = 1.0,
    seed: Seed = 44,
) -> Finding:
    """Every view of every coalition, with its coins, for every bit of every party.

    Of randomized response, and of protocols whose messages have random laws within ε.
    """
    turns, spent = parties * rounds, epsilon / rounds
    protocols = [response(spent)]
    protocols += [random_pairs(turns, 2, seed + i, epsilon=spent) for i in range(pairs)]
    worst = 0.0
    for laws, honest in product(protocols, range(parties)):
        for bits in product((0, 1), repeat=parties):
            other = tuple(bit ^ (place == honest) for place, bit in enumerate(bits))
            first, second = (coalition_view(held, honest, rounds, laws) for held in (bits, other))
            worst = max(worst, *(abs(math.log(first[v] / second[v])) for v in first))
    return upper_bound(
        worst,
        share * epsilon,
        "largest privacy loss",
        note=f"{parties} parties, {rounds} messages each of ε/{rounds}; {len(protocols)} protocols",
    )


@claim(
    "zhang2020-multiparty-output",
    "part 4, Protocol",
    "The output is a deterministic function of the transcript, so it reveals no more about a "
    "party than the coalition's view does.",
    Verdict.NOT_TIGHT,
    wrong={"outsider_first": True},
)
def output_of_transcript(
    *, epsilon: Epsilon = 0.8, parties: Parties = 3, outsider_first: OutsiderFirst = False
) -> Finding:
    """The distance that one bit makes: of the coalition's view, and of the number of messages 1."""
    bits, other = (0,) * parties, (1,) + (0,) * (parties - 1)
    views = [coalition_view(held, 0, 1, response(epsilon)) for held in (bits, other)]
    outputs = np.zeros((2, parties + 1))
    for sums, held in zip(outputs, (bits, other)):
        for chance, messages, _ in transcripts(held, 1, response(epsilon)):
            sums[sum(messages)] += chance
    of_view = sum(max(views[0][v] - views[1][v], 0.0) for v in views[0])
    of_output = float(np.maximum(outputs[0] - outputs[1], 0.0).sum())
    smaller, larger = (of_view, of_output) if outsider_first else (of_output, of_view)
    return upper_bound(
        smaller,
        larger,
        "advantage",
        note=f"{number(of_view)} of the view, {number(of_output)} of the output",
    )
