"""Zhang 2020, lecture 7, part 3: global and local sensitivity of the median."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Annotated

from simulator.data.databases import REPLACE_ONE, Database
from simulator.data.queries import function_query
from simulator.foundations.knobs import Within
from simulator.foundations.seeds import Stream, generator
from simulator.mechanisms import Laplace, Mechanism
from simulator.teaching.claims.findings import equal, number, statement
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor, Seed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.mechanisms.median import LocalSensitivityMedian

Values = tuple[int, ...]
Ascending = Annotated[Values, "the values of the database, ascending"]
Pick = Annotated[str, "which gap next to the median counts: max or min"]
Reduce = Annotated[str, "which of all local sensitivities counts: max or min"]
ScaledTo = Annotated[str, "the sensitivity that noise is scaled to: local, smooth or global"]
Trials = Annotated[int, "plays of each experiment", Within(1, 2500)]


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number the lower one, as the lecture's examples take it."""
    return sorted(values)[(len(values) - 1) // 2]


def all_values(n: int, top: int) -> list[Values]:
    """Every multiset of n whole numbers in [0, top], ascending."""
    return list(combinations_with_replacement(range(top + 1), n))


def replaced(values: Values, top: int) -> Iterator[Values]:
    """Every database in which one value is another."""
    for place in range(len(values)):
        for new in range(top + 1):
            yield tuple(sorted((*values[:place], new, *values[place + 1 :])))


def local_sensitivity(values: Values, top: int) -> float:
    """The largest change of the median when one value is replaced, by trying all."""
    return max(abs(median(values) - median(other)) for other in replaced(values, top))


@claim(
    "zhang2020-median-global-sensitivity",
    "part 3, Examples of High Global Sensitivity",
    "The median of values in [0, k] has global sensitivity k.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
)
def global_sensitivity(
    *,
    n: Annotated[int, "rows of the database (all combinations are listed)", Within(1, 7)] = 5,
    top: Annotated[int, "the largest value (all combinations are listed)", Within(1, 6)] = 4,
    share: Factor = 1.0,
) -> Finding:
    """The largest local sensitivity of all databases of n values."""
    largest = max(local_sensitivity(values, top) for values in all_values(n, top))
    half = (n - 1) // 2
    low, high = (median([0] * half + [middle] + [top] * half) for middle in (0, top))
    printed = high - low
    finding = equal(largest, share * top, "global sensitivity", note=f"printed pair: {printed}")
    return finding if printed == top else statement(False, "the printed pair has another distance")


@claim(
    "zhang2020-median-global-noise",
    "part 3, Examples of High Global Sensitivity",
    "The median with noise Lap(k/ε) is of no use at all.",
    Verdict.HOLDS,
    wrong={"epsilon": 5.0},
)
def global_noise(*, epsilon: Epsilon = 0.1) -> Finding:
    """The noise is more than half the range more often than not, unless ε is large."""
    misses = math.exp(-epsilon / 2)
    return statement(
        misses > 0.5,
        f"the error passes k/2 with probability {number(misses)} at ε = {epsilon:g}",
        note=f"more often than not for any ε below 2 ln 2 = {number(2 * math.log(2))}; above, the "
        "noise leaves some use",
    )


@claim(
    "zhang2020-median-typical",
    "part 3, Examples of High Global Sensitivity",
    "On most databases, such as the one shown, a neighbour's median is nearly the same.",
    Verdict.HOLDS,
    wrong={"values": (0, 0, 0, 0, 0, 10, 10, 10, 10)},
)
def typical(
    *,
    values: Ascending = (1, 2, 2, 5, 5, 5, 5, 6, 10, 10, 10),
    top: Annotated[int, "the largest value (all combinations are listed)", Within(1, 12)] = 10,
) -> Finding:
    """The shown database for k = 10, and the share of all small ones that move by k/2 or more."""
    shown = local_sensitivity(values, top)
    small = all_values(5, 6)
    large = sum(local_sensitivity(x, 6) >= 3 for x in small) / len(small)
    return statement(
        shown <= 1 and large < 0.5,
        f"local sensitivity {number(shown)} of the one shown; {100 * large:.0f}% of all databases "
        "of 5 values in 0..6 have 3 or more",
    )


COMBINE: dict[str, Callable[..., float]] = {"max": max, "min": min}


@claim(
    "zhang2020-median-local-sensitivity",
    "part 3, Local sensitivity of median",
    "The median x_m of n sorted values has local sensitivity max(x_m - x_{m-1}, x_{m+1} - x_m).",
    Verdict.HOLDS,
    wrong={"pick": "min"},
)
def local_formula(
    *,
    pick: Pick = "max",
    top: Annotated[int, "the largest value (all combinations are listed)", Within(1, 7)] = 5,
) -> Finding:
    """The formula against trying all replacements, for every database of 3, 4 and 5 values."""
    wrong, tried = 0, 0
    for n in (3, 4, 5):
        m = (n - 1) // 2
        for x in all_values(n, top):
            formula = COMBINE[pick](x[m] - x[m - 1], x[m + 1] - x[m])
            wrong += formula != local_sensitivity(x, top)
            tried += 1
    return statement(
        wrong == 0,
        f"{wrong} of {tried} databases differ",
        note="neighbours by replacing a value; for even n with the lower median, as in the picture",
    )


@claim(
    "zhang2020-global-is-largest-local",
    "part 3, Global Sensitivity vs. Local Sensitivity",
    "The global sensitivity is the largest local sensitivity.",
    Verdict.HOLDS,
    wrong={"reduce": "min"},
)
def global_is_largest(
    *,
    reduce: Reduce = "max",
    n: Annotated[int, "rows of the database (all combinations are listed)", Within(1, 6)] = 4,
    top: Annotated[int, "the largest value (all combinations are listed)", Within(1, 6)] = 4,
) -> Finding:
    """For the median, over all pairs of neighbours and over all databases."""
    databases = all_values(n, top)
    over_pairs = max(abs(median(x) - median(y)) for x in databases for y in replaced(x, top))
    locals_ = [local_sensitivity(x, top) for x in databases]
    over_databases = COMBINE[reduce](*locals_)
    return equal(float(over_databases), float(over_pairs), f"{reduce} of local sensitivities")


TOP = 100.0
D_1 = Database({0.0: 6, TOP: 4})
D_2 = Database({0.0: 5, TOP: 5})
"""The lecture's two neighbours: the median is 0 in both, the next value is 0 or TOP."""


@claim(
    "zhang2020-local-noise-leaks",
    "part 3, Noise proportional to Local Sensitivity",
    "Noise scaled to the local sensitivity of the median tells the two neighbours shown apart: "
    "a positive answer has probability 0 on one of them, and more on the other.",
    Verdict.HOLDS,
    wrong={"scaled_to": "global"},
)
def local_noise(
    *, scaled_to: ScaledTo = "local", epsilon: Epsilon = 0.5, trials: Trials = 500, seed: Seed = 5
) -> Finding:
    """Answers on the pair and their losses, drawn from the two laws.

    The experiment itself stops at the first of them: an infinite loss breaks a pure promise.
    """
    whole = function_query(lambda database: median(list(database)), TOP, name="median")  # type: ignore[arg-type]
    mechanisms: dict[str, Mechanism] = {
        "local": LocalSensitivityMedian(epsilon, 0.0, TOP),
        "global": Laplace(whole, epsilon),
    }
    pair = mechanisms[scaled_to].pair(D_1, D_2, REPLACE_ONE)
    draws = [generator(seed, 0, Stream.mechanism(b), 0) for b in (0, 1)]
    answers = [[pair.sample(b, draws[b]) for _ in range(trials)] for b in (0, 1)]
    positive = [sum(answer > 0 for answer in drawn) / trials for drawn in answers]
    losses = [max(abs(pair.loss(answer)) for answer in drawn) for drawn in answers]
    return statement(
        positive[0] == 0.0 and positive[1] > 0.0 and losses == [math.inf, math.inf],
        f"answers above 0: {100 * positive[0]:.0f}% on the first, {100 * positive[1]:.0f}% on the "
        f"second; largest losses {number(losses[0])} and {number(losses[1])}",
        note="local sensitivities 0 and Λ, between neighbours",
    )
