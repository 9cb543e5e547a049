"""Generators that spend a large share of what their family allows, and their valid ends.

Four habits with each of five mechanisms, all with their state in closures. The interval is that of
delta at the epsilon at which the truth is RARE, by the method "auto".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from experiments.coverage.entries import Entry, gaussian, geometric, laplace, rr, table
from experiments.coverage.subject import Subject
from experiments.coverage.truth import CELLS, Bracket, law_of
from simulator import Account, PureDP
from simulator.analysis.rare import Setting, estimate_rare

# steps and generators of a suite: their arguments are those of the contract
# mypy: disallow-untyped-defs=False

ROUNDS = 20
TRIALS = 100_000
RARE = 1e-4
SEED = 20_260_801
ROUNDING = 1e-7
"""The relative distance up to which an end is not a miss."""
FLOOR = 1.2
"""The largest upper over lower end that is wanted."""


@dataclass(frozen=True)
class Width:
    """The interval of one adversary.

    Attributes
    ----------
    share : the truth over the largest delta of any adversary of the family.
    """

    adversary: str
    epsilon: float
    truth: Bracket
    share: float
    lower: float
    upper: float

    @property
    def ratio(self) -> float:
        """Upper over lower end."""
        return self.upper / self.lower

    @property
    def missed(self) -> bool:
        """Whether the truth is outside."""
        low, high = self.truth
        return self.lower > high * (1.0 + ROUNDING) or self.upper < low * (1.0 - ROUNDING)

    def as_dict(self) -> dict[str, Any]:
        """The fields, the ratio and whether the truth is missed, as plain JSON."""
        return asdict(self) | {"ratio": self.ratio, "missed": self.missed}


def steady_step(state, i, answer, coins):
    return state, 0


def steady(strong, weak):
    """The strong challenge in every round."""

    def adversary(coins):
        while True:
            yield strong

    return adversary


def lottery_step(state, i, answer, coins):
    return state, 0 if coins.random() < 0.9 else 1


def lottery(strong, weak):
    """The weak challenge in one round of ten, by lot."""

    def adversary(coins):
        while True:
            yield strong if coins.random() < 0.9 else weak

    return adversary


def caution_step(state, i, answer, coins):
    if i > 0:
        state = state + 1 if answer > 0.5 else 0
    return min(state, 3), 1 if state >= 3 else 0


def caution(strong, weak):
    """The weak challenge while the last three answers, kept in a list, are for Alice."""

    def adversary(coins):
        heard = []
        while True:
            careful = len(heard) >= 3 and min(heard[-3:]) > 0.5
            heard.append((yield weak if careful else strong))

    return adversary


def doubt_step(state, i, answer, coins):
    if i > 0:
        state += 1 if answer > 0.5 else -1
    return state, 1 if state >= 2 else 0


def doubt(strong, weak):
    """The weak challenge while the answers, added up, are for Alice by two or more."""

    def adversary(coins):
        total = 0
        while True:
            answer = yield weak if total >= 2 else strong
            total += 1 if answer > 0.5 else -1

    return adversary


HABITS: tuple[tuple[Callable[..., Any], Callable[..., Any], tuple[float, ...]], ...] = (
    (steady, steady_step, ()),
    (lottery, lottery_step, (0.9,)),
    (caution, caution_step, ()),
    (doubt, doubt_step, ()),
)
"""What plays, the same as a step, and the numbers that the step compares a coin with."""

MECHANISMS: dict[str, tuple[Entry, Entry]] = {
    "responses": (rr(0.4), rr(0.3)),
    "laplace": (laplace(0.4, 0.5), laplace(0.3, 0.5)),
    "gaussian": (gaussian(2.5, 0.5), gaussian(3.5, 0.5)),
    "geometric": (geometric(0.4, 1), geometric(0.3, 1)),
    "table": (table((0.4, 0.4, 0.2), (0.3, 0.4, 0.3)), table((0.35, 0.4, 0.25), (0.3, 0.4, 0.3))),
}
"""A strong and a weak challenge."""


def spenders() -> list[Subject]:
    """The twenty adversaries."""
    found = []
    for mechanism, entries in MECHANISMS.items():
        promises = [entry.challenge.mechanism.guarantee() for entry in entries]
        family = promises[0] if mechanism == "gaussian" else PureDP(promises[0].core.pure_epsilon)
        for habit, step, cuts in HABITS:
            strong, weak = (entry.challenge for entry in entries)
            found.append(
                Subject(
                    f"{habit.__name__}-{mechanism}", "spender", ROUNDS, family,
                    entries[:1] if habit is steady else entries, step,
                    coin_cuts=cuts, generator=habit(strong, weak),
                )
            )  # fmt: skip
    return found


def width(number: int, trials: int = TRIALS) -> Width:
    """Play one of the adversaries."""
    subject = spenders()[number]
    law = law_of(subject, 0, CELLS)
    epsilon = law.epsilon(RARE).upper
    truth = law.delta(epsilon)
    allowed = Account().then(str(subject.family), ROUNDS).delta(epsilon).upper
    event = estimate_rare(
        subject.player, subject.family, ROUNDS, trials, epsilon=epsilon, method="auto",
        seed=SEED, setting=Setting(jobs=1, progress=False),
    )  # fmt: skip
    found = event.delta
    return Width(subject.name, epsilon, truth, truth.upper / allowed, found.lower, found.upper)


def widths(workers: int, trials: int = TRIALS) -> list[Width]:
    """Play all, on so many processes."""
    numbers = range(len(spenders()))
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(width, numbers, [trials] * len(numbers)))


def markdown(found: Iterable[Width], trials: int = TRIALS) -> str:
    """The widths as a table in Markdown."""
    lines = [
        f"Generators that spend a share of what their family allows, {ROUNDS} rounds, {trials} "
        f"trials, method auto: delta where it is {RARE:g}. Wanted: upper/lower of {FLOOR} at "
        "most.",
        "",
        "| adversary | epsilon | of the family's delta | truth | lower | upper | upper/lower |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        missed = " (missed)" if one.missed else ""
        lines.append(
            f"| {one.adversary} | {one.epsilon:.4g} | {one.share:.2g} | {one.truth.upper:.5g} | "
            f"{one.lower:.5g} | {one.upper:.5g}{missed} | {one.ratio:.3g} |"
        )
    return "\n".join(lines) + "\n"
