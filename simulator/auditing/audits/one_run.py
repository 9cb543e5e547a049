"""An audit of one run: canaries included by coins, and what the answer tells of each coin.

A mechanism runs once. Each of m canaries is in its data if a fair coin says so, and its answer
gives each canary a score, which should be larger for those included. A guess is made for each coin:
"in" above the middle rank, "out" below it; the farthest from the middle are the surest.

For a set of results that more right guesses do not leave, such as "at least v of the first n right,
for one of several n", the probability is bounded by prices on what each guess uses of the claimed
curve, and a backward recursion. Proved in simulator/theory/lemmas/one-run.md. Nothing is assumed of
how canaries interfere.

With one e this sharpens Steinke, Nasr and Jagielski, "Privacy Auditing with One (1) Training Run",
2023, Theorem 5.2, whose second term has 2 m delta; several thresholds are tested together.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import open_probability, probability_below_one
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

Floats = NDArray[np.float64]

SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Shares of the canaries, the surest first, of which right guesses are counted. The last is all of
them: the budget m delta is of all canaries, and a leak may choose the surest."""
MOST_CANARIES = 10_000
_COINS = 1e-9  # fewer canaries in, or out, than fair coins give with this probability
_UP = 1.0 + 1e-9  # above the rounding of a recursion over MOST_CANARIES guesses
_LARGEST = 20.0
_PRICES = np.geomspace(1e-3, 1.0, 13)[:, None]
_KINKS = 6
_TURNS = 30


@dataclass(frozen=True, repr=False)
class OneRunAudit(ShownByFacts):
    """What one run shows.

    Attributes
    ----------
    epsilon : lower bound on epsilon at ``delta``, for every canary's worst case, with probability
        ``confidence`` over the coins and the run; 0 if nothing is shown.
    counted : pairs (guesses, right ones) of the surest guesses.
    claimed : the claim that was tested, or None.
    p_value : the probability, at most, of so many right guesses if the claim holds; None without.

    >>> import numpy as np
    >>> from simulator.auditing import audit_one_run
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(1000) < 0.5
    >>> found = audit_one_run(included + rng.laplace(0, 1, 1000), included, claimed="pure:0.5")
    >>> found.epsilon < 1.0, found.violated
    (True, True)
    """

    epsilon: float
    _: KW_ONLY
    delta: float
    confidence: float
    canaries: int
    counted: tuple[tuple[int, int], ...]
    claimed: Guarantee | None = None
    p_value: float | None = None

    def __post_init__(self) -> None:
        if not self.counted:
            raise InvalidInput("counted must hold a pair (guesses, right ones)")

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted at the confidence."""
        return self.p_value is not None and self.p_value <= 1.0 - self.confidence

    def facts(self) -> Mapping[str, str]:
        """The bound, the claim and the counts, as text."""
        guesses, right = max(self.counted, key=lambda pair: _surprises(pair[0], 0.5)[pair[1]])
        found = {
            "epsilon": f"at least {self.epsilon:.4g} at delta = {self.delta:g}",
            "confidence": f"{self.confidence:.10g}",
            "canaries": str(self.canaries),
            "guesses": f"{right} of the {guesses} surest are right",
        }
        if self.p_value is not None:
            verdict = "violated" if self.violated else "not violated"
            found["claim"] = f"{self.claimed}: {verdict}, p = {self.p_value:.3g}"
        return found


def audit_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    *,
    delta: float = 0.0,
    claimed: Guarantee | str | None = None,
    confidence: float = 0.95,
) -> OneRunAudit:
    """Lower bound on epsilon from the scores of canaries in one run of a mechanism.

    Parameters
    ----------
    scores : shape (m,), larger for canaries that seem to be included; any real numbers.
    included : shape (m,), whether each was. Each by a fair coin of its own, flipped before the run.
    delta : at which epsilon is bounded, in [0, 1); with m canaries little is shown above 0.01 / m.
    claimed : a guarantee to be tested, also Gaussian, Renyi or one of your own; or its text.
    confidence : of the bound, and of the test, each alone.

    Neighbours add or remove one canary. The run may do with canaries together what it likes.

    Raises
    ------
    InvalidInput : shapes or values that are not as above, or coins that were not fair.

    Source: the proof stands in this module; see Steinke, Nasr and Jagielski 2023.

    >>> from simulator.auditing import audit_one_run
    >>> audit_one_run(range(40), [n >= 20 for n in range(40)]).epsilon
    2.535
    """
    coins = np.asarray(included)
    numbers = np.asarray(scores)
    if numbers.ndim != 1 or coins.shape != numbers.shape or not numbers.size:
        raise InvalidInput(
            "scores and included have one entry for each canary, not shapes "
            f"{numbers.shape} and {coins.shape}",
            argument="included",
        )
    if numbers.dtype.kind not in "biuf" or np.isnan(numbers.astype(np.float64)).any():
        raise InvalidInput("scores must be real numbers, none of them NaN", argument="scores")
    if coins.dtype.kind not in "biu" or not np.isin(coins, (0, 1)).all():
        raise InvalidInput("included must be True or False for each canary", argument="included")
    many, inside = len(coins), int(coins.sum())
    if many > MOST_CANARIES:
        raise InvalidInput(f"at most {MOST_CANARIES} canaries are audited, not {many}")
    if scipy.stats.binomtest(inside, many).pvalue < _COINS:
        raise InvalidInput(
            f"each canary must be included by a fair coin, and {inside} of {many} were",
            argument="included",
        )
    level = 1.0 - open_probability("confidence", confidence)
    delta = probability_below_one("delta", delta)
    if isinstance(claimed, str):
        claimed = parse_guarantee(claimed)
    counted = _counted(numbers.astype(np.float64), coins.astype(bool))
    return OneRunAudit(
        _largest_refuted(counted, delta, level),
        delta=delta,
        confidence=1.0 - level,
        canaries=many,
        counted=counted,
        claimed=claimed,
        p_value=None if claimed is None else _p_value(counted, claimed),
    )


def _counted(scores: Floats, included: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The numbers of the surest guesses, and how many of them are right."""
    from_middle = scipy.stats.rankdata(scores) - (len(scores) + 1) / 2.0
    surest = np.argsort(-np.abs(from_middle), kind="stable")
    right = np.cumsum(((from_middle > 0.0) == included)[surest])
    places = sorted({math.ceil(share * len(scores)) for share in SHARES})
    return tuple((place, int(right[place - 1])) for place in places)


@lru_cache(maxsize=16)
def _surprises(guesses: int, chance: float) -> Floats:
    """Minus ln of the probability of at least 0, 1, ... right guesses by independent coins."""
    log = scipy.stats.binom.logsf(np.arange(-1, guesses), guesses, chance)
    return np.maximum.accumulate(-np.asarray(log))


def _as_surprising(counted: Sequence[tuple[int, int]], chance: float) -> dict[int, int]:
    """The least right guesses at each place that are as surprising as the most surprising ones."""
    all_of = {guesses: _surprises(guesses, chance) for guesses, _ in counted}
    most = max(all_of[guesses][right] for guesses, right in counted) * (1.0 - 1e-9)
    return {guesses: int(np.searchsorted(each, most)) for guesses, each in all_of.items()}


@dataclass(frozen=True)
class _Choices:
    """The probabilities of a right guess to choose from, and their prices.

    ``kinks`` are the e of the curve, in order; the first probability costs nothing.
    """

    kinks: Floats
    least: Mapping[int, int]

    @property
    def chances(self) -> Floats:
        """At the kinks, and certainty."""
        return np.append(scipy.special.expit(self.kinks), 1.0)

    @property
    def uses(self) -> Floats:
        """(r - exp(e) (1 - r))_+ for each r and e, shape (chances, kinks)."""
        r = self.chances[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.maximum(r - np.exp(self.kinks) * (1.0 - r), 0.0)
        found[-1] = 1.0
        return np.tril(found, -1)

    def at_most(self, curve: Floats, prices: Floats) -> float:
        """Bound on the probability of the results at these prices."""
        return self._bound(curve, prices, self._reached(prices, None))

    def with_slopes(self, curve: Floats, prices: Floats) -> tuple[float, Floats]:
        """The bound, and its slopes in the prices."""
        last = max(self.least)
        chosen = np.zeros((last, last), dtype=np.int8)
        reached = self._reached(prices, chosen)
        return self._bound(curve, prices, reached), last * curve - self._mean_uses(chosen)

    def _bound(self, curve: Floats, prices: Floats, reached: float) -> float:
        return min(1.0, (max(self.least) * float(curve @ prices) + reached) * _UP)

    def _reached(self, prices: Floats, chosen: NDArray[np.int8] | None) -> float:
        """The maximum of the recursion at these prices; who reaches it is written to ``chosen``."""
        (first, *chances), (_, *costs) = self.chances, self.uses @ prices
        last = max(self.least)
        value = np.zeros(last + 1)
        for made in range(last, -1, -1):
            if made < last:
                down, gain = value[: made + 1], np.diff(value[: made + 2])
                value = down + first * gain
                for number, (chance, cost) in enumerate(zip(chances, costs), 1):
                    other = down + chance * gain - cost
                    if chosen is not None:
                        chosen[made, : made + 1][other > value] = number
                    np.maximum(value, other, out=value)
            if made in self.least:
                value[self.least[made] :] = 1.0
        return float(value[0])

    def _mean_uses(self, chosen: NDArray[np.int8]) -> Floats:
        """The mean of the uses, over the guesses of who chooses so."""
        here, found = np.ones(1), np.zeros(len(self.kinks))
        for made in range(len(chosen)):
            if made in self.least:
                here[self.least[made] :] = 0.0
            taken = chosen[made, : made + 1]
            found += np.bincount(taken, here, len(self.chances)) @ self.uses
            chance = self.chances[taken]
            here = np.append(here * (1.0 - chance), 0.0) + np.append(0.0, here * chance)
        return found


def _largest_refuted(counted: Sequence[tuple[int, int]], delta: float, level: float) -> float:
    """The largest epsilon on a grid that does not depend on the data, with all below refuted."""
    found, price = 0.0, _PRICES[0] if delta > 0.0 else np.ones(1)
    for epsilon in _grid():
        chance = float(scipy.special.expit(epsilon))
        choices = _Choices(np.array([epsilon]), _as_surprising(counted, chance))
        curve = np.array([delta])
        bound = choices.at_most(curve, price)
        if bound > level and delta > 0.0:
            bound, price = min(
                ((choices.at_most(curve, each), each) for each in _PRICES), key=itemgetter(0)
            )
        if bound > level:
            break
        found = epsilon
    return found


def bounds_of_plays(
    plays: Sequence[tuple[ArrayLike, ArrayLike]], *, delta: float = 0.0, confidence: float = 0.95
) -> list[float]:
    """The epsilon of :func:`audit_one_run` for each pair (scores, included) of as many canaries.

    Whether an epsilon is refuted grows with the surprise of the guesses, so a few of many plays
    decide each epsilon for all. Pairs are not checked as :func:`audit_one_run` does.

    >>> from simulator.auditing.audits.one_run import bounds_of_plays
    >>> bounds_of_plays([(range(40), [n >= 20 for n in range(40)])])
    [2.535]
    """
    level = 1.0 - open_probability("confidence", confidence)
    all_counted = [
        _counted(np.asarray(scores, dtype=np.float64), np.asarray(included, dtype=bool))
        for scores, included in plays
    ]
    found = [0.0] * len(all_counted)
    left = list(range(len(all_counted)))
    prices = _PRICES if delta > 0.0 else (np.ones(1),)
    for epsilon in _grid():
        chance = float(scipy.special.expit(epsilon))
        least = {play: _as_surprising(all_counted[play], chance) for play in left}
        left.sort(key=lambda play: tuple(least[play].values()))

        def refuted(play: int, epsilon: float = epsilon, least: Any = least) -> bool:
            choices = _Choices(np.array([epsilon]), least[play])
            return any(choices.at_most(np.array([delta]), each) <= level for each in prices)

        left = left[bisect.bisect_left(left, True, key=refuted) :]
        for play in left:
            found[play] = epsilon
        if not left:
            break
    return found


def _grid() -> Iterator[float]:
    """Steps of 0.02 to 1, and of a fiftieth of the value above."""
    yield from (number / 50 for number in range(1, 51))
    epsilon = 1.0
    while epsilon < _LARGEST:
        epsilon = round(epsilon * 1.02, 3)
        yield epsilon


def _p_value(counted: Sequence[tuple[int, int]], claim: Guarantee) -> float:
    """Bound on the probability of right guesses as surprising as these, under the claim.

    Prices fall along the slopes of the bound, each by a factor: any prices give a bound.
    """
    guesses = max(place for place, _ in counted)
    kinks = _kinks(claim, guesses)
    curve = np.array([claim.hockey_stick(float(epsilon)) for epsilon in kinks]) * _UP
    middle = float(scipy.special.expit(kinks[len(kinks) // 2]))
    choices = _Choices(kinks, _as_surprising(counted, middle))
    prices, best = np.full(len(kinks), 0.01), 1.0
    for turn in range(_TURNS):
        bound, slopes = choices.with_slopes(curve, prices)
        best = min(best, bound)
        size = float(np.max(np.abs(slopes * prices)))
        if size == 0.0:
            break
        prices = np.clip(
            prices * np.exp(-slopes * prices / size / math.sqrt(1.0 + turn)), 1e-9, 1.0
        )
    return best


def _kinks(claim: Guarantee, guesses: int) -> Floats:
    """Some e at which the claim's curve is used: from where a guess is free to where none is."""
    low, high = 0.0, _LARGEST
    for _ in range(40):
        middle = 0.5 * (low + high)
        if guesses * claim.hockey_stick(middle) > 1e-3:
            low = middle
        else:
            high = middle
    return np.linspace(0.0, high, _KINKS)
