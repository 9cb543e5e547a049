"""Roth 2011, Lecture 4: Algorithm 1, its view, and Theorem 1 (the epsilons add up)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

from simulator.engine.views.views import replay
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import play, press_when_ahead
from simulator.teaching.claims.ledger.shared.parameters import Factor, Seed
from simulator.teaching.claims.ledger.theorems.composition import budgets_add_up, factors_of_a_view
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.theory.guarantees.pure import PureDP

KeepCoins = Annotated[bool, "whether a view is replayed with its own coins"]

claim(
    "roth2011-theorem-1",
    "Theorem 1",
    "k adaptively chosen ε-DP mechanisms are kε-DP in all: no view's loss passes kε.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": (0.3,) * 7},
)(budgets_add_up)


claim(
    "roth2011-theorem-1-heterogeneous",
    "after Theorem 1",
    "Mechanisms that are ε_i-DP are Σε_i-DP together, chosen adaptively.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"epsilons": tuple(0.8 / 2**i for i in range(7))},
)(budgets_add_up)


@claim(
    "roth2011-theorem-1-laplace",
    "after Theorem 1",
    "So the Laplace mechanism may answer adaptively chosen queries: each view's loss stays "
    "within the sum of the ε it spent.",
    Verdict.HOLDS,
    wrong={"share": 0.8},
)
def adaptive_laplace(
    *,
    trials: Annotated[int, "plays of each experiment", Within(1, 2000)] = 400,
    rounds: Annotated[int, "rounds k (all combinations are listed)", Within(1, 7)] = 5,
    share: Factor = 1.0,
    seed: Seed = 11,
) -> Finding:
    """Views of "press when ahead" are played and replayed; the largest loss over budget counts."""
    result = play(
        press_when_ahead(0.1, 0.2), PureDP(0.2), rounds, trials, seed=seed, keep_views=trials
    )
    worst = 0.0
    for view in result.views:
        replayed = result.replay(view)
        guarantees = [challenge.mechanism.guarantee() for challenge in replayed.challenges]
        spent = math.fsum(guarantee.pure_epsilon for guarantee in guarantees)
        worst = max(worst, abs(replayed.loss) / spent)
    return upper_bound(
        worst, share, "largest |loss| over the ε spent", method="simulation", false_alarm=0.0
    )


@claim(
    "roth2011-view-reproduces",
    "after Algorithm 1",
    "The coins and the answers are enough to reproduce every step of the experiment.",
    Verdict.HOLDS,
    wrong={"keep_coins": False},
)
def view_reproduces(
    *,
    trials: Annotated[int, "plays of each experiment", Within(1, 300)] = 60,
    rounds: Annotated[int, "rounds k (all combinations are listed)", Within(1, 10)] = 8,
    keep_coins: KeepCoins = True,
    seed: Seed = 5,
) -> Finding:
    """Views of an adversary that tosses a coin first are replayed, with and without their coins."""
    result = play(
        press_when_ahead(0.1, 0.2), PureDP(0.2), rounds, trials, seed=seed, keep_views=trials
    )
    s, reproduced = result.specification, 0
    for view, other in zip(result.views, result.views[1:] + result.views[:1]):
        kept = view if keep_coins else replace(view, coins=other.coins)
        loss = result.losses(view.experiment)[view.trial]
        reproduced += replay(kept, s.adversary, s.family, s.relation).loss == loss
    views = len(result.views)
    return statement(
        reproduced == views,
        f"{reproduced} of {views} views give back their loss to the last bit",
        printed="every step is reproduced",
    )


claim(
    "roth2011-theorem-1-proof-conditioning",
    "proof of Theorem 1",
    "Pr[V=v] factors into Pr[R=r] and the Pr[Y_i | Y_1, …, Y_{i-1}], without conditioning on "
    "the coins, and each ratio of these is at most e^ε.",
    Verdict.FAILS,
    wrong={"given_coins": True},
    fault=Fault.SLIP,
)(factors_of_a_view)
