"""Zhang 2020, lecture 7, part 3: reconstruction attacks."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.foundations.knobs import Within
from simulator.foundations.seeds import Stream, generator
from simulator.mechanisms import Laplace
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import Adversary, Playing, play
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, Seed
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import FALSE_ALARM, mostly, simulated
from simulator.teaching.reconstruction import (
    consistent_databases,
    random_subsets,
    reconstruct_by_linear_program,
    reconstruct_exhaustively,
    subset_sums,
)
from simulator.theory import PureDP

ErrorInRows = Annotated[float, "how far an answer is from the truth, in rows", Within(1e-6, 1e6)]
Alpha = Annotated[float, "error of an answer, as a fraction of the rows", Within(0.0, 1.0)]
Denominator = Annotated[int, "the number below the line", Within(1, 10**9)]
Percent = Annotated[float, "claimed percentage of the entries", Within(0.0, 100.0)]
ErrorFactor = Annotated[float, "error of an answer, in √n rows", Within(0.0, 100.0)]
Databases = Annotated[int, "databases that are tried, or distinguished", Within(2, 200)]
Low = Annotated[float, "error of an answer at the lower end, in √n rows", Within(0.0, 100.0)]
High = Annotated[float, "the upper of two levels, or what counts as high", Within(0.0, 100.0)]
Trials = Annotated[int, "plays of each experiment", Within(1, 150)]


def furthest_apart(n: int, error: float) -> int:
    """The largest distance between two databases that the same answers can be consistent with.

    Both are consistent with the answers half-way between theirs, if with any. The truth holds
    as many ones as zeros, which leaves most room to hide mistakes of both kinds.
    """
    truth = np.arange(n) % 2
    sums = subset_sums(truth)
    most = 0
    for code in range(1 << n):
        other = (code >> np.arange(n)) & 1
        far = int(np.abs(truth - other).sum())
        if far > most and np.abs(sums - subset_sums(other)).max() / 2 <= error + 1e-9:
            most = far
    return most


@claim(
    "zhang2020-reconstruction-theorem-1",
    "part 3, Theorem 1 (exponentially many queries)",
    "Answers to all subset queries within αn give a database that differs from the true one in "
    "at most a fraction 4α of the rows.",
    Verdict.HOLDS,
    wrong={"factor": 3.0},
)
def theorem_1(
    *,
    n: Annotated[int, "rows of the database (all combinations are listed)", Within(1, 12)] = 10,
    error: ErrorInRows = 1.0,
    factor: Factor = 4.0,
    seed: Seed = 22,
) -> Finding:
    """The worst answers, by trying all databases, and the attack run on answers with noise.

    α = error/n; the bound is attained, since both kinds of mistakes can be hidden at once.
    """
    worst = furthest_apart(n, error) / n
    coins = generator(seed, 0, Stream.COINS, 0)
    secret = coins.integers(0, 2, n)
    answers = subset_sums(secret) + coins.uniform(-error, error, 1 << n)
    found = reconstruct_exhaustively(answers, error)
    return upper_bound(
        max(worst, float(np.mean(found != secret))),
        factor * error / n,
        "largest fraction of rows that differ",
        note=f"n = {n}, error {number(error)} rows; with random errors the attack missed "
        f"{int(np.sum(found != secret))} rows",
    )


@claim(
    "zhang2020-reconstruction-corollary-1",
    "part 3, Corollary 1",
    "A mechanism whose answers (fractions of the rows) err by α ≤ o(n) is blatantly non-private.",
    Verdict.FAILS,
    wrong={"alpha": 0.05},
    fault=Fault.SLIP,
)
def corollary_1(
    *,
    n: Annotated[int, "rows of the database (all combinations are listed)", Within(1, 10)] = 8,
    alpha: Alpha = 0.5,
    seed: Seed = 22,
) -> Finding:
    """Always answering one half has α = 1/2, below any growing o(n), and says nothing at all.

    α is a fraction, so the corollary needs α = o(1), that is an error of o(n) rows. Blatant
    non-privacy at this n: every consistent database agrees with the truth in most rows.
    """
    coins = generator(seed, 1, Stream.COINS, 0)
    secret = coins.integers(0, 2, n)
    sizes = subset_sums(np.ones(n, dtype=int))
    truth = subset_sums(secret)
    answers = np.clip(sizes / 2, truth - alpha * n, truth + alpha * n)
    candidates = consistent_databases(answers, alpha * n)
    worst = float(np.abs(candidates - secret).mean(axis=1).max())
    return statement(
        worst < 0.5,
        f"{len(candidates)} of {2**n} databases are consistent, at most {100 * worst:.0f}% of the "
        "rows apart from the true one",
        printed="α ≤ o(n) suffices, so α = 1/2 would",
        right=f"at α = 1/2 all {2**n} databases remain; α = o(1) is needed (an error of o(n) rows)",
    )


@claim(
    "zhang2020-n-over-401",
    "part 3, Reconstruction Attack, example",
    "Noise always within n/401 lets an adversary reconstruct X% of the entries; the missing X is "
    "99 (our answer).",
    Verdict.HOLDS,
    wrong={"denominator": 301},
)
def n_over_401(*, denominator: Denominator = 401, percent: Percent = 99.0) -> Finding:
    """The worst over n of the rows that errors of n/401 hide: two of each kind an error of one.

    An error of E rows hides floor(2E) mistakes of each kind; trying all databases confirms it.
    """
    confirmed = all(
        furthest_apart(n, error) == 2 * math.floor(2 * error)
        for n, error in ((8, 0.4), (8, 0.5), (8, 0.9), (9, 1.0), (9, 1.6))
    )
    # the least n at which errors of n/denominator hide j rows of each kind, and so 2j of n
    hidden = max(2 * j / -(-j * denominator // 2) for j in range(1, 41))
    return statement(
        confirmed and 100 * (1 - hidden) >= percent,
        f"at least {100 * (1 - hidden):.4f}% of the entries, 1 - 4/{denominator}",
        printed="X%",
        right=f"{100 * (1 - hidden):.4f}%",
    )


def share_recovered(n: int, error: float, coins: np.random.Generator) -> float:
    """Fraction of rows that the linear program gets right, from n (log n)² bent answers.

    The answers are as near to those of a random decoy database as the error allows.
    """
    secret, decoy = coins.integers(0, 2, (2, n))
    subsets = random_subsets(n, round(n * math.log2(n) ** 2), coins)
    exact = subsets @ secret
    answers = np.clip(subsets @ decoy, exact - error, exact + error)
    return float(np.mean(reconstruct_by_linear_program(subsets, answers, error) == secret))


@claim(
    "zhang2020-reconstruction-theorem-2",
    "part 3, Theorem 2 (fewer queries)",
    "Answers to n (log n)² random subset queries within o(√n) let a linear program recover all "
    "but few rows: here 9 in 10 rows at least, mostly.",
    Verdict.HOLDS,
    wrong={"error_factor": 1.5},
)
def theorem_2(
    *,
    n: Annotated[int, "rows of the database", Within(1, 64)] = 40,
    error_factor: ErrorFactor = 0.15,
    databases: Databases = 24,
    seed: Seed = 23,
) -> Finding:
    """Run the attack on answers bent towards a decoy database as far as the error allows.

    Mostly means with probability above one half, by Clopper and Pearson over the databases.
    """
    coins = generator(seed, 0, Stream.COINS, 0)
    error = error_factor * math.sqrt(n)
    rates = [share_recovered(n, error, coins) for _ in range(databases)]
    hits = sum(rate >= 0.9 for rate in rates)
    return simulated(
        mostly(hits, databases),
        f"n = {n}, error {number(error_factor)}√n: {hits} of {databases} databases, "
        f"{100 * float(np.mean(rates)):.1f}% of the rows",
    )


@claim(
    "zhang2020-reconstruction-against-error",
    "part 3, reconstruction attacks, goal",
    "How inaccurate answers must be to be private: the linear program recovers less and less as "
    "the error passes √n.",
    Verdict.HOLDS,
    wrong={"low": 2.0},
)
def against_error(
    *,
    n: Annotated[int, "rows of the database", Within(1, 64)] = 24,
    low: Low = 0.1,
    high: High = 4.0,
    databases: Databases = 24,
    seed: Seed = 23,
) -> Finding:
    """How often 9 in 10 rows are recovered at either end, by Clopper and Pearson; and between."""
    coins = generator(seed, 1, Stream.COINS, 0)
    rates = {
        factor: [share_recovered(n, factor * math.sqrt(n), coins) for _ in range(repeats)]
        for factor, repeats in ((low, databases), (0.5, 4), (1.0, 4), (high, databases))
    }
    hits = {factor: sum(rate >= 0.9 for rate in found) for factor, found in rates.items()}
    shown = ", ".join(f"{f:g}√n: {100 * float(np.mean(r)):.0f}%" for f, r in rates.items())
    at_low, at_high = (mostly(hits[end], databases, FALSE_ALARM / 2) for end in (low, high))
    verdict = Verdict.UNDECIDED
    if Verdict.UNDECIDED not in (at_low, at_high):
        verdict = Verdict.HOLDS if at_low.is_true and not at_high.is_true else Verdict.FAILS
    return simulated(
        verdict,
        f"rows recovered at error {shown}",
        note=f"n = {n}, {databases} databases at either end",
    )


def ask_subsets(n: int, epsilon: float, others: tuple[int, ...]) -> Adversary:
    """Ask for the size of each non-empty subset of n rows by Laplace; Alice's is row 0."""
    without = Database([i for i, bit in enumerate(others, start=1) if bit])
    with_alice = without.add(0)

    def adversary(coins: np.random.Generator) -> Playing:
        for code in range(1, 1 << n):
            rows = frozenset(i for i in range(n) if code >> i & 1)
            yield without, with_alice, Laplace(counting_query(rows.__contains__), epsilon)

    return adversary


@claim(
    "zhang2020-reconstruction-played",
    "part 3, Reconstruction Attack",
    "An adversary that asks too many counting queries of too accurate a mechanism reconstructs "
    "the database, Alice's bit included.",
    Verdict.HOLDS,
    wrong={"epsilon": 0.01},
)
def reconstruction_played(
    *,
    epsilon: Epsilon = 8.0,
    n: Annotated[int, "rows of the database (all combinations are listed)", Within(1, 8)] = 6,
    trials: Trials = 30,
    seed: Seed = 8,
) -> Finding:
    """All 63 subset counts by the Laplace mechanism, in both experiments, then the attack.

    The attack takes the error that the theorem on Laplace accuracy allows it, at 95%.
    """
    others = (1, 0, 1, 1, 0)
    queries = (1 << n) - 1
    adversary = ask_subsets(n, epsilon, others)
    result = play(adversary, PureDP(epsilon), queries, trials, seed, keep_views=trials)
    error = math.log(queries / 0.05) / epsilon
    right = 0
    for view in result.views:
        answers = np.concatenate([[0.0], view.answers])
        candidates = consistent_databases(answers, error)
        guess = candidates[0] if len(candidates) else np.zeros(n)
        right += int((guess == (view.experiment, *others)).all())
    plays = len(result.views)
    return simulated(
        mostly(right, plays),
        f"{right} of {plays} databases reconstructed whole at ε = {number(epsilon)} a query; mean "
        f"loss {number(float(result.losses(0).mean()))}",
    )
