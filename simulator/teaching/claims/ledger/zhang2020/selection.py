"""Zhang 2020, lecture 7, part 2: choosing an outcome privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Annotated

import numpy as np

from simulator.data.databases import Database
from simulator.data.queries import counting_scores
from simulator.foundations.knobs import Within
from simulator.mechanisms import Exponential, ReportNoisyMax
from simulator.mechanisms.noisy_max import largest_index_law
from simulator.teaching.claims.findings import equal, number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import challenges, play
from simulator.teaching.claims.ledger.shared.parameters import Constant, Epsilon, Seed
from simulator.teaching.claims.model import Fault, Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.claims.simulated_findings import largest_loss_seen
from simulator.theory import PureDP
from simulator.theory.laws.finite import FiniteLaw

Monotone = Annotated[bool, "whether counts move one way only"]
Farthest = Annotated[int, "the largest gap between two counts", Within(0, 600)]
Weight = Annotated[float, "weight of a score, in ε/Δu", Within(0.0, 100.0)]
Candidates = Annotated[int, "candidates to choose among", Within(2, 10**5)]
OfOutcome = Annotated[bool, "whether the weight is that of the outcome r"]
LogFailure = Annotated[float, "the bound allows a failure of e^-t", Within(1e-6, 500.0)]
Best = Annotated[int, "candidates of the highest score", Within(1, 10**5)]
Others = Annotated[int, "candidates of a lower score", Within(1, 10**5)]
Printed = Annotated[str, "what the source says"]
HighBid = Annotated[float, "the bid of the fourth bidder", Within(0.0, 1e6)]
LowBid = Annotated[float, "the bid of the first three bidders", Within(0.0, 1e6)]
FromBids = Annotated[bool, "whether the prices offered are the bids"]
TimesAsCommon = Annotated[
    float, "how much more common the second condition is", Within(0.0, 1000.0)
]

FLU_WINS = Database({"flu": 5, "none": 2})


def chosen(scores: Sequence[float], weight: float) -> np.ndarray:
    """Probabilities proportional to e^{weight score}."""
    powers = np.exp(weight * (np.asarray(scores, dtype=float) - max(scores)))
    return powers / powers.sum()


def noisy_max_loss(epsilon: float, counts: Sequence[int], changes: Sequence[int]) -> float:
    """Largest |loss| of report noisy max with Lap(1/ε), when the counts change so."""
    after = [count + change for count, change in zip(counts, changes)]
    laws = [largest_index_law(tuple(epsilon * c for c in each)) for each in (counts, after)]
    return float(np.abs(np.log(laws[0]) - np.log(laws[1])).max())


@claim(
    "zhang2020-report-noisy-max",
    "part 2, Report Noisy Max",
    "Adding Lap(1/ε) to each count and returning only the index of the largest is (ε, 0)-DP.",
    Verdict.HOLDS,
    wrong={"monotone": False},
)
def report_noisy_max(
    *, epsilon: Epsilon = 1.0, monotone: Monotone = True, farthest: Farthest = 400, seed: Seed = 1
) -> Finding:
    """The outcome's law by quadrature, for two counts up to ``farthest`` apart, and for three.

    One record raises counts (``monotone``); replaced, it would raise one and lower another.
    """
    databases: list[tuple[int, ...]] = [(0, gap) for gap in (*range(12), 30, 100, farthest)]
    databases += list(product((0,), (0, 1, 5), (0, 2, 30)))

    def largest(changes: tuple[int, int]) -> float:
        return max(
            noisy_max_loss(epsilon, counts, change)
            for counts in databases
            for change in product(changes, repeat=len(counts))
        )

    noisy = ReportNoisyMax(counting_scores(["flu", "none"]), epsilon)
    with_alice = FLU_WINS.add("flu")
    seen = largest_loss_seen(
        play(challenges((FLU_WINS, with_alice, noisy)), PureDP(epsilon), 1, 500, seed=seed)
    )
    return upper_bound(
        largest((0, 1) if monotone else (-1, 1)),
        epsilon,
        "largest privacy loss",
        note="for counts that move one way; if one may rise as another falls (replace-one) it is "
        f"{number(largest((-1, 1)))}, near 2ε, and the noise must be doubled. "
        f"Largest loss in 1000 plays with counts 5 and 2: {number(seen)}",
    )


def worst_selection(weight: float, candidates: int) -> float:
    """Largest loss when the score of one candidate falls by 1 and all others rise by 1."""
    before = chosen([1.0] + [0.0] * (candidates - 1), weight)
    after = chosen([0.0] + [1.0] * (candidates - 1), weight)
    return float(np.abs(np.log(before) - np.log(after)).max())


def worst_of_all_changes(weight: float, seed: int) -> float:
    """Largest loss when each of five random scores rises by 1, falls by 1 or stays, all ways."""
    changes = np.array(list(product((-1.0, 0.0, 1.0), repeat=5)))
    worst = 0.0
    for scores in np.random.default_rng(seed).normal(scale=3.0, size=(20, 5)):
        before, after = np.log(chosen(scores.tolist(), weight)), weight * (scores + changes)
        after = after - np.log(np.exp(after).sum(axis=1, keepdims=True))
        worst = max(worst, float(np.abs(after - before).max()))
    return worst


def weights_of_definition(*, epsilon: Epsilon = 0.8, of_outcome: OfOutcome = False) -> Finding:
    """Whether outcomes of scores 4, 3 and 3 get different weights; of y alone they cannot."""
    scores = [4.0, 3.0, 3.0] if of_outcome else [4.0] * 3
    law = chosen(scores, epsilon / 2)
    return statement(
        float(np.ptp(law)) > 0.0,
        "probabilities " + ", ".join(f"{p:.3f}" for p in law),
        printed="exp(εu(x, y)/(2Δu)), y being no outcome: the same weight for every r",
        right="exp(εu(x, r)/(2Δu)), as on the slide before",
    )


@claim(
    "zhang2020-exponential-mechanism",
    "part 2, theorem on the exponential mechanism",
    "Choosing r with probability proportional to e^{εu(x,r)/(2Δu)} is (ε, 0)-DP.",
    Verdict.HOLDS,
    wrong={"weight": 1.0},
)
def exponential_mechanism(
    *, epsilon: Epsilon = 0.8, weight: Weight = 0.5, candidates: Candidates = 2000, seed: Seed = 1
) -> Finding:
    """The worst pair of score vectors, exactly; the library's mechanism is played beside it."""
    mechanism = Exponential(counting_scores(["flu", "none", "asthma"]), 2 * weight * epsilon)
    game = challenges((FLU_WINS, FLU_WINS.add("none"), mechanism))
    seen = largest_loss_seen(play(game, PureDP(2 * weight * epsilon), 1, 500, seed=seed))
    random = worst_of_all_changes(weight * epsilon, seed + 13)
    worst = max(worst_selection(weight * epsilon, candidates), random, seen)
    return upper_bound(
        worst,
        epsilon,
        "largest privacy loss",
        printed=f"loss at most ε = {number(epsilon)} with weights e^(wεu/Δu), w = {weight:g}",
        right=f"loss up to {number(worst)}, for the normaliser moves too; weights e^(εu/(2Δu)), as "
        f"in the definition, reach {number(worst_selection(epsilon / 2, candidates))}",
        note=f"{candidates} candidates; {number(random)} for random scores of five, each raised, "
        f"lowered or kept; with counts 5, 2 and 0 played 1000 times {number(seen)}",
    )


claim(
    "zhang2020-exponential-loss-display",
    "part 2, Exponential Mechanism, privacy loss display",
    "With weights e^{εu/Δu} the privacy loss is ε[u(x,r)-u(y,r)]/Δu, at most ε.",
    Verdict.FAILS,
    wrong={"weight": 0.5},
    given={"weight": 1.0},
)(exponential_mechanism)

claim(
    "zhang2020-exponential-definition",
    "part 2, Exponential Mechanism, definition",
    "The outcome r is chosen with probability proportional to exp(εu(x, y)/(2Δu)), y and not r.",
    Verdict.FAILS,
    wrong={"of_outcome": True},
    fault=Fault.TRANSCRIPT,
)(weights_of_definition)


def shortfall(scores: np.ndarray, epsilon: float, margin: float) -> float:
    """Probability that the exponential mechanism's choice scores OPT - margin or less (Δu = 1)."""
    law = chosen(scores.tolist(), epsilon / 2)
    return float(law[scores <= scores.max() - margin + 1e-12].sum())


@claim(
    "zhang2020-exponential-accuracy",
    "part 2, accuracy of the exponential mechanism, first form",
    "The chosen score falls short of the best by (2Δu/ε)(ln(|R|/|R_OPT|)+t) or more with "
    "probability at most e^-t.",
    Verdict.NOT_TIGHT,
    wrong={"constant": 1.0},
)
def exponential_accuracy(
    *,
    epsilon: Epsilon = 0.5,
    t: LogFailure = 1.5,
    best: Best = 3,
    others: Others = 900,
    constant: Constant = 2.0,
    seed: Seed = 15,
) -> Finding:
    """All other candidates just at the margin, which is the worst case; and at random scores."""
    margin = constant / epsilon * (math.log((best + others) / best) + t)
    below = np.random.default_rng(seed).exponential(2.0 * margin, size=(20, others))
    worst = max(
        shortfall(np.concatenate([np.zeros(best), -depth]), epsilon, margin)
        for depth in (np.full(others, margin), *below)
    )
    return upper_bound(worst, math.exp(-t), "Pr[short by the margin]")


claim(
    "zhang2020-exponential-accuracy-one",
    "part 2, accuracy of the exponential mechanism, second form",
    "With one best candidate at least, the same holds with ln|R| in place of ln(|R|/|R_OPT|).",
    Verdict.NOT_TIGHT,
    wrong={"constant": 1.0},
    given={"best": 1},
)(exponential_accuracy)


@claim(
    "zhang2020-ballot-table-5",
    "part 2, ballot table, column ε = 5",
    "With votes 4, 3, 3 and ε = 5 the candidates are chosen with probability 0.9, 0.045, 0.045.",
    Verdict.FAILS,
    wrong={"epsilon": 6.0},
)
def ballot(*, epsilon: Epsilon = 5.0, printed: Printed = "0.9, 0.045, 0.045") -> Finding:
    """A printed column against votes 4, 3, 3 at weights e^{εu/2}.

    A printed number stands for everything that rounds to it.
    """
    cells = printed.split(", ")

    def fits(law: np.ndarray) -> bool:
        ends = [0.5001 * 10.0 ** -len(cell.partition(".")[2]) for cell in cells]
        return all(abs(p - float(cell)) <= end for p, cell, end in zip(law, cells, ends))

    law, other = (chosen([4.0, 3.0, 3.0], weight) for weight in (epsilon / 2, epsilon))
    right, doubled = (", ".join(f"{p:.3f}" for p in each) for each in (law, other))
    near = [f"{e:g}" for e in np.arange(0.0, 10.1, 0.5) if fits(chosen([4.0, 3.0, 3.0], e / 2))]
    return statement(
        fits(law),
        f"probabilities {right}",
        printed=printed,
        right=right,
        note=f"with weights e^(εu) it would be {doubled}; the column is that of "
        f"ε = {' and '.join(near) or 'no half number'}",
    )


claim(
    "zhang2020-ballot-table-0.5",
    "part 2, ballot table, column ε = 0.5",
    "With votes 4, 3, 3 and ε = 0.5 the probabilities are 0.39, 0.3, 0.3.",
    Verdict.HOLDS,
    wrong={"epsilon": 1.0},
    given={"epsilon": 0.5, "printed": "0.39, 0.3, 0.3"},
)(ballot)

claim(
    "zhang2020-ballot-table-0",
    "part 2, ballot table, column ε = 0",
    "At ε = 0 all three candidates are equally likely.",
    Verdict.HOLDS,
    wrong={"epsilon": 0.2},
    given={"epsilon": 0.0, "printed": "0.33, 0.33, 0.33"},
)(ballot)


def revenue(price: float, bids: Sequence[float]) -> float:
    """What a price brings: everyone who bid as much buys."""
    return price * sum(1 for bid in bids if bid >= price)


@claim(
    "zhang2020-pricing-cliff",
    "part 2, What is the optimal price?",
    "With bids 1.00, 1.00, 1.00 and 3.01 the revenue is 3.00, then 3.01, then 0 a cent later: "
    "noise on the price itself would ruin it.",
    Verdict.HOLDS,
    wrong={"high_bid": 3.02},
)
def pricing_cliff(*, high_bid: HighBid = 3.01) -> Finding:
    """Revenue at 3.00, 3.01 and 3.02; the pictures that named the prices are lost."""
    bids = (1.0, 1.0, 1.0, high_bid)
    revenues = [round(revenue(price, bids), 2) for price in (3.0, 3.01, 3.02)]
    return statement(
        revenues == [3.0, 3.01, 0.0], "revenues " + ", ".join(f"{r:.2f}" for r in revenues)
    )


@claim(
    "zhang2020-pricing-optimum",
    "part 2, What is the optimal price?",
    "The best price for bids 1.00, 1.00, 1.00 and 3.01 is 1.00: it brings 4.00, more than any of "
    "the three revenues that are shown (our answer).",
    Verdict.HOLDS,
    wrong={"low_bid": 0.75},
)
def pricing_optimum(*, low_bid: LowBid = 1.0, high_bid: HighBid = 3.01) -> Finding:
    """The best price is one of the bids. The high bidder buys at the low price too."""
    bids = (low_bid, low_bid, low_bid, high_bid)
    best = max(bids, key=lambda price: revenue(price, bids))
    most = revenue(best, bids)
    return statement(
        (best, most) == (1.0, 4.0),
        f"the price {best:.2f} brings {most:.2f}, for {sum(bid >= best for bid in bids)} buy",
        note="revenues of 3.00, 3.01 and 0.00 are shown, their prices were in pictures; among "
        "three bidders 3.01 would be the best",
    )


@claim(
    "zhang2020-pricing-range",
    "part 2, Exponential Mechanism",
    "The range of potential prices must not depend on the bids.",
    Verdict.HOLDS,
    wrong={"from_bids": False},
)
def pricing_range(*, epsilon: Epsilon = 1.0, from_bids: FromBids = True) -> Finding:
    """Prices with and without Alice's bid of 3.01, chosen among the bids or among all prices."""
    prices, others, alice = (0.5, 1.0, 3.01), (1.0, 1.0, 1.0), 3.01
    laws = []
    for bids in (others, (*others, alice)):
        offered = np.array([price in bids or not from_bids for price in prices])
        scores = np.array([revenue(price, bids) for price in prices])
        laws.append(np.where(offered, np.exp(epsilon / (2 * alice) * scores), 0.0))
    law = FiniteLaw.from_probabilities(*(p / p.sum() for p in laws))
    impossible = max(law.infinite_mass, law.dual_infinite_mass)
    loss = math.inf if impossible > 0.0 else max(abs(end) for end in law.support)
    return statement(
        loss > epsilon * (1 + 1e-9), f"largest privacy loss {number(loss)} at ε = {number(epsilon)}"
    )


@claim(
    "zhang2020-best-of-two",
    "part 2, Best of Two",
    "With counts 0 and c the exponential mechanism names the wrong condition with probability "
    "at most 2e^{-cε/2}.",
    Verdict.NOT_TIGHT,
    wrong={"constant": 0.5},
)
def best_of_two(
    *, c: TimesAsCommon = 10.0, epsilon: Epsilon = 0.5, constant: Constant = 2.0
) -> Finding:
    """The exact probability 1/(1+e^{cε/2})."""
    wrong_one = float(chosen([0.0, c], epsilon / 2)[0])
    return upper_bound(
        wrong_one, constant * math.exp(-c * epsilon / 2), "Pr[wrong]", note=f"c = {number(c)}"
    )


@claim(
    "zhang2020-best-of-two-is-corollary",
    "part 2, Best of Two",
    "The bound 2e^{-cε/2} is the accuracy theorem with |R| = 2 and the margin c.",
    Verdict.HOLDS,
    wrong={"candidates": 3},
)
def best_of_two_is_corollary(
    *, c: TimesAsCommon = 10.0, epsilon: Epsilon = 0.5, candidates: Candidates = 2
) -> Finding:
    """Solve (2/ε)(ln|R| + t) = c for e^-t."""
    t = c * epsilon / 2 - math.log(candidates)
    return equal(math.exp(-t), 2 * math.exp(-c * epsilon / 2), "e^-t")
