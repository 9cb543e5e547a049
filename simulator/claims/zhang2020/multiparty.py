"""Zhang 2020, lecture 7, part 4: distributed differential privacy."""

from __future__ import annotations

import math

import numpy as np

from simulator.claims.cast import play
from simulator.claims.findings import number, statement, upper_bound
from simulator.claims.model import Finding, Verdict
from simulator.claims.registry import claim
from simulator.claims.sources import ZHANG_2020
from simulator.claims.zhang2020.play import FALSE_ALARM, challenges, largest_loss, simulated
from simulator.data.databases import Database
from simulator.errors import Breach
from simulator.estimation import clopper_pearson
from simulator.mechanisms.two_party import TwoPartyCount
from simulator.queries import counting_query
from simulator.theory import PureDP
from simulator.theory.laws import LaplaceLaw

Record = tuple[int, int]
ONES = counting_query(lambda record: record[1] == 1, "ones")
SHARED: Database = Database([(1, 1), (1, 0), (1, 1), (2, 1), (2, 0), (2, 0)])
"""Records are (party, bit): three people with each party."""


@claim(
    "zhang2020-two-party-count",
    ZHANG_2020,
    "part 4, counting queries in the 2-party model",
    "Each party shares its own count with noise Lap(2/ε): the view of either party is ε-DP for "
    "the other's rows.",
    Verdict.NOT_TIGHT,
    wrong={"noise": 0.25},
)
def two_party_count(*, epsilon: float = 1.0, noise: float = 1.0) -> Finding:
    """Both parties' views, played for a row of the other party; the supremum by the law.

    ``noise`` scales the printed 2/ε.
    """
    worst = 0.0
    for viewer, row in ((1, (2, 1)), (2, (1, 1))):
        protocol = TwoPartyCount(ONES, epsilon / noise, viewer)
        game = challenges((SHARED, SHARED.add(row), protocol))
        result = play(game, PureDP(epsilon / noise), 1, 300, seed=40)
        law = protocol.law(SHARED, SHARED.add(row))
        worst = max(worst, largest_loss(result), law.support[1])
    return upper_bound(
        worst,
        epsilon,
        "largest privacy loss",
        note="one row moves one message by 1, so Lap(1/ε) would do: the printed noise is twice "
        "what ε needs",
    )


@claim(
    "zhang2020-two-party-sum",
    ZHANG_2020,
    "part 4, counting queries in the 2-party model",
    "The sum of the two messages is an estimate of the common count.",
    Verdict.HOLDS,
    wrong={"messages": 1},
)
def two_party_sum(*, epsilon: float = 1.0, messages: int = 2, trials: int = 2000) -> Finding:
    """Sums of messages in played views: as often above the true count as below.

    The noise is symmetric; the sum's variance is 16/ε², eight times a curator's.
    """
    with_alice = SHARED.add((2, 1))
    game = challenges((SHARED, with_alice, TwoPartyCount(ONES, epsilon)))
    result = play(game, PureDP(epsilon), 1, trials, seed=41, keep_views=trials)
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
    ZHANG_2020,
    "part 4, Adversary view",
    "The adversary sees its own inputs and coins besides the messages: privacy against a party "
    "asks more than privacy against an outsider who sees the sum.",
    Verdict.HOLDS,
    wrong={"knows_coins": False},
)
def view_of_the_others(*, epsilon: float = 1.0, knows_coins: bool = True) -> Finding:
    """The total variation distance that one row makes, of the other's message or of the sum.

    Who knows its own message subtracts it. Two Lap(b) add up to a law with the tail
    (1/2 + x/(4b)) e^{-x/b}, so a shift of 1 is seen with advantage 1 - 2 tail(1/2).
    """
    b = 2.0 / epsilon
    outsider = 1.0 - 2.0 * (0.5 + 0.5 / (4.0 * b)) * math.exp(-0.5 / b)
    party = LaplaceLaw(1.0 / b).delta(0.0) if knows_coins else outsider
    return statement(
        party > outsider * (1 + 1e-9),
        f"advantage {number(party)} for the other party, {number(outsider)} for an outsider who "
        "sees the sum alone",
    )


@claim(
    "zhang2020-multiparty-own-rows",
    ZHANG_2020,
    "part 4, Definition 1 (multi-party differential privacy)",
    "The definition compares databases that differ in a row of the party outside the adversary's "
    "control; the adversary's own rows are no secret from it.",
    Verdict.HOLDS,
    wrong={"row": (2, 1)},
)
def own_rows(*, epsilon: float = 1.0, row: Record = (1, 1)) -> Finding:
    """Party 1 looks: a pair that differs in its own row is not a pair of neighbours."""
    game = challenges((SHARED, SHARED.add(row), TwoPartyCount(ONES, epsilon, viewer=1)))
    try:
        play(game, PureDP(epsilon), 1, 1, seed=42)
        refused = False
    except Breach:
        refused = True
    return statement(refused, f"a pair that differs in {row} is {'' if refused else 'not '}refused")


@claim(
    "zhang2020-multiparty-repeated",
    ZHANG_2020,
    "part 4, Protocol",
    "A protocol is a sequence of rounds of messages, so repeated counting composes: k rounds of "
    "the two-party count are kε-DP for each party.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.25},
)
def repeated_count(*, epsilon: float = 0.5, rounds: int = 5, share: float = 1.0) -> Finding:
    """The protocol run again and again; every round costs up to ε/2."""
    pair = (SHARED, SHARED.add((2, 1)), TwoPartyCount(ONES, epsilon))
    result = play(challenges(*[pair] * rounds), PureDP(epsilon), rounds, 2000, seed=43)
    return upper_bound(
        largest_loss(result),
        share * rounds * epsilon,
        "largest loss",
        note="4000 plays",
        method="simulation",
        false_alarm=0.0,
    )
