"""Zhang 2020, lecture 7, part 1: randomized response and the definition of privacy."""

from __future__ import annotations

import math
from itertools import product
from typing import Annotated

import numpy as np
from scipy.stats import binom

from simulator.data.databases import Database
from simulator.foundations.knobs import Within
from simulator.mechanisms import RandomizedResponse
from simulator.teaching.claims.findings import equal, number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import (
    ALICE,
    WITH_ALICE,
    WITHOUT_ALICE,
    challenges,
    play,
)
from simulator.teaching.claims.ledger.shared.exact_values import chance_of_truth
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, People, Power, Seed
from simulator.teaching.claims.ledger.theorems.divergences import tail_and_delta
from simulator.teaching.claims.ledger.theorems.robustness import largest_loss
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import (
    hoeffding_radius,
    largest_loss_seen,
    simulated,
)
from simulator.teaching.mechanisms.published import NameAndShame
from simulator.theory import ApproxDP, PureDP
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw

Ones = Annotated[int, "people who hold a 1", Within(0, 10**5)]
Offset = Annotated[float, "what is taken off", Within(-1e6, 1e6)]
Assumed = Annotated[float, "the ε for which the estimate is made", Within(0.01, 50.0)]
Trials = Annotated[int, "plays of each experiment", Within(1, 1000)]
Level = Annotated[float, "the ε that the mechanism must have", Within(0.0, 50.0)]
Rows = Annotated[int, "rows of the database", Within(1, 30_000)]
Gap = Annotated[float, "by how much randomized response passes ε", Within(1e-9, 10.0)]
Tau = Annotated[float, "how far beyond ε the loss is looked at", Within(0.0, 10.0)]
Size = Annotated[int, "rows of the database (all combinations are listed)", Within(1, 6)]
Trusted = Annotated[bool, "whether the curator receives the true bits"]


@claim(
    "zhang2020-randomized-response",
    "part 1, Randomized Response",
    "Keeping a bit with probability e^ε/(1+e^ε) and flipping it otherwise is ε-DP.",
    Verdict.HOLDS,
    wrong={"exponent": 2.0},
)
def response_is_private(
    *, epsilon: Epsilon = 0.7, exponent: Power = 1.0, seed: Seed = 1
) -> Finding:
    """The loss by the printed probabilities; the same mechanism is played beside it."""
    p = chance_of_truth(exponent * epsilon)
    law = FiniteLaw.from_probabilities([p, 1 - p], [1 - p, p])
    response = RandomizedResponse(ALICE, exponent * epsilon)
    result = play(
        challenges((WITHOUT_ALICE, WITH_ALICE, response)), PureDP(2 * epsilon), 1, 1000, seed=seed
    )
    return upper_bound(
        law.support[1],
        epsilon,
        "largest privacy loss",
        note=f"largest loss in 2000 plays: {number(largest_loss_seen(result))}",
    )


@claim(
    "zhang2020-frequency-estimator",
    "part 1, Randomized Response",
    "If a share c of the answers is 1, then (c-1+p)/(2p-1) estimates the share of people who "
    "hold a 1, without bias.",
    Verdict.HOLDS,
    wrong={"offset": 0.5},
)
def estimator_is_unbiased(
    *, epsilon: Epsilon = 0.8, people: People = 60, ones: Ones = 21, offset: Offset = 1.0
) -> Finding:
    """The mean of the estimate over the exact law of the number of answers that are 1."""
    p = chance_of_truth(epsilon)
    answers = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, p),
        binom.pmf(np.arange(people - ones + 1), people - ones, 1 - p),
    )
    share = np.arange(people + 1) / people
    estimates = (share - offset + p) / (2 * p - 1)
    mean = float(answers @ estimates)
    deviation = math.sqrt(float(answers @ (estimates - mean) ** 2))
    return equal(
        mean,
        ones / people,
        "mean of the estimate",
        note=f"standard deviation {number(deviation)}",
    )


@claim(
    "zhang2020-survey-played",
    "part 1, Randomized Response",
    "A survey of many people by randomized response estimates how frequent 'yes' is, while the "
    "loss of any one of them stays at most ε.",
    Verdict.HOLDS,
    wrong={"assumed": 1.5},
)
def survey(
    *,
    epsilon: Epsilon = 1.0,
    assumed: Assumed = 1.0,
    people: People = 100,
    trials: Trials = 200,
    seed: Seed = 1,
) -> Finding:
    """Play one round a person; compare the mean estimate with the truth, by Hoeffding's inequality.

    ``assumed`` is the ε for which the estimate is made, ``epsilon`` what people use. Alice is the
    first person; the truth of every third person is yes.
    """
    yes = RandomizedResponse(ALICE, epsilon)
    rounds = [(WITHOUT_ALICE, WITH_ALICE, yes)]
    rounds += [
        (WITH_ALICE, WITH_ALICE, yes) if i % 3 == 0 else (WITHOUT_ALICE, WITHOUT_ALICE, yes)
        for i in range(1, people)
    ]
    result = play(
        challenges(*rounds), PureDP(epsilon), people, trials, keep_views=trials, seed=seed
    )
    held = sum(1 for i in range(people) if i % 3 == 0) / people
    answers = np.array([view.answers for view in result.views if view.experiment == 1])
    p = chance_of_truth(assumed)
    estimate = float((answers.mean() - 1 + p) / (2 * p - 1))
    radius = hoeffding_radius(answers.size) / (2 * p - 1)
    kept = largest_loss_seen(result) <= epsilon * (1 + 1e-12)
    return simulated(
        kept and abs(estimate - held) <= radius,
        f"estimate {number(estimate)} ± {number(radius)}, truth {number(held)}; "
        f"largest loss {number(largest_loss_seen(result))}",
        printed=f"estimate {number(held)}",
    )


@claim(
    "zhang2020-zero-delta-name",
    "part 1, definition of differential privacy",
    "With δ = 0 a mechanism is called δ-differentially private.",
    Verdict.FAILS,
    wrong={"level": 0.7},
    fault=Fault.TRANSCRIPT,
)
def zero_delta_name(*, epsilon: Epsilon = 0.7, level: Level = 0.0) -> Finding:
    """Randomized response has δ = 0; is it ``level``-DP? As printed the level is δ, that is 0."""
    leak = randomized_response(epsilon).delta(level)
    return statement(
        leak <= 1e-15,
        f"randomized response at ε = {number(epsilon)}: δ({number(level)}) = {number(leak)}",
        printed="δ-differentially private, that is 0-DP",
        right=f"ε-differentially private; its δ at 0 is {number(leak)}, at ε it is 0",
    )


@claim(
    "zhang2020-just-a-few",
    "part 1, values of δ",
    "A δ of the order of 1/n is dangerous: publishing a few random rows in the clear keeps it.",
    Verdict.HOLDS,
    wrong={"power": 2.0},
)
def just_a_few(*, rows: Rows = 1000, power: Power = 1.0, seed: Seed = 9) -> Finding:
    """Each row is published with probability n^-power: (0, n^-power)-DP, exactly.

    Dangerous means here that someone is exposed more often than not.
    """
    q = rows**-power
    law = FiniteLaw.from_probabilities([1.0, 0.0], [1.0 - q, q])
    delta = max(law.delta(0.0), law.reversed().delta(0.0))
    exposed = -math.expm1(rows * math.log1p(-q))
    people = Database(range(rows))
    game = challenges((people.remove(0), people, NameAndShame(q)))
    result = play(game, ApproxDP(0.0, q), 1, 300, seed=seed, keep_views=300)
    seen = np.mean([len(view.answers[0]) > 0 for view in result.views])
    return statement(
        math.isclose(delta, q) and exposed > 0.5,
        f"(0, {number(delta)})-DP with n = {rows}, and some row is published with probability "
        f"{number(exposed)}",
        note=f"seen in {100 * seen:.0f}% of {len(result.views)} plays",
    )


@claim(
    "zhang2020-loss-bounded-with-probability",
    "part 1, privacy loss",
    "(ε, δ)-DP makes the privacy loss at most ε in absolute value with probability at least 1-δ.",
    Verdict.FAILS,
    wrong={"tau": 0.005},
)
def loss_bounded(
    *, epsilon: Epsilon = 1.0, gap: Gap = 0.01, tau: Tau = 0.0, seed: Seed = 1
) -> Finding:
    """Randomized response a little above ε is a counterexample: its loss never is within ε.

    With ``tau`` > 0, the true form is judged: Pr[|L| > ε+τ] <= (1 + e^-(ε+τ)) δ/(1-e^-τ).
    """
    law = randomized_response(epsilon + gap)
    delta = law.delta(epsilon)
    outside = law.sf(epsilon + tau) + law.cdf(-epsilon - tau)
    one_sided = law.sf(epsilon + tau)
    claimed = delta if tau == 0.0 else delta * (1 + math.exp(-epsilon - tau)) / -math.expm1(-tau)
    response = RandomizedResponse(ALICE, epsilon + gap)
    result = play(
        challenges((WITHOUT_ALICE, WITH_ALICE, response)), PureDP(epsilon + gap), 1, 2000, seed=seed
    )
    seen = float(np.mean(np.abs(result.losses(0)) > epsilon))
    return upper_bound(
        outside,
        claimed,
        f"Pr[|L| > {number(epsilon + tau)}]",
        printed=f"Pr[|L| > ε] ≤ δ = {number(delta)} at ε = {number(epsilon)}",
        right=f"Pr[|L| > ε] = {number(outside)} and Pr[L > ε] = {number(one_sided)} with "
        f"δ = {number(delta)}; true is Pr[L > ε+τ] ≤ δ/(1-e^-τ)",
        note=f"seen in 2000 plays: {number(seen)}",
    )


claim(
    "zhang2020-bounded-loss-implies",
    "part 1, privacy loss",
    "The converse of what is printed: a loss that passes ε with probability at most δ gives "
    "(ε, δ)-DP. (ours)",
    Verdict.HOLDS,
    wrong={"share": 0.95},
)(tail_and_delta)


@claim(
    "zhang2020-pure-every-output",
    "part 1, (ε,0)- against (ε,δ)-DP",
    "Under (ε, 0)-DP every output is about as likely on every neighbour; under (ε, δ)-DP an "
    "output may be far more likely on one of them.",
    Verdict.HOLDS,
    wrong={"delta": 0.0},
)
def every_output(*, epsilon: Epsilon = 0.5, delta: Delta = 1e-9) -> Finding:
    """The leaky randomized response: largest ratio of probabilities at δ = 0 and above."""
    truthful, lie = (
        (1 - delta) * chance_of_truth(epsilon),
        (1 - delta) * chance_of_truth(-epsilon),
    )
    law = FiniteLaw.from_probabilities([delta, truthful, lie, 0.0], [0.0, lie, truthful, delta])
    largest = math.inf if law.infinite_mass > 0 else law.support[1]
    return statement(
        largest > epsilon * (1 + 1e-9) and law.delta(epsilon) <= delta + 1e-15,
        f"({number(epsilon)}, {number(delta)})-DP with a loss of {number(largest)}",
    )


@claim(
    "zhang2020-local-model",
    "part 1, Model of Computation, untrusted curator",
    "In the local model the curator need not be trusted: what it receives is ε-DP for every "
    "person.",
    Verdict.HOLDS,
    wrong={"trusted": True},
)
def local_model(*, epsilon: Epsilon = 0.7, n: Size = 4, trusted: Trusted = False) -> Finding:
    """Every view of a curator who receives each person's randomized response, or each true bit."""
    p, lie = (1.0, 0.0) if trusted else (chance_of_truth(epsilon), chance_of_truth(-epsilon))
    worst = 0.0
    for others in product((0, 1), repeat=n - 1):
        views = []
        for alice in (0, 1):
            laws = [(lie, p) if bit else (p, lie) for bit in (alice, *others)]
            views.append([math.prod(view) for view in product(*laws)])
        worst = max(worst, largest_loss(FiniteLaw.from_probabilities(*views)))
    return upper_bound(worst, epsilon, "largest loss of what the curator receives")
