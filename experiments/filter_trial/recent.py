"""Filters after papers of 2026 against the worst adversary of a menu, as rows and as a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.filter_trial.variants import EachWithin, ShareEach, SquaresOfCurve, Threshold
from simulator.analysis.simulate import simulate
from simulator.foundations.errors import NotApplicable, Refusal
from simulator.theory.filters.clt import CLTFilter
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.natural import NaturalFilter
from simulator.theory.filters.realised import RealisedFilter, coarse_state
from simulator.theory.filters.residue import OneNumber, ResidueFilter
from simulator.theory.guarantees.pure import PureDP
from simulator.worst.menu_parsing import parse_family, parse_menu
from simulator.worst.played import played
from simulator.worst.realised import worst_realised
from simulator.worst.search import worst_case

TRIALS = 20_000
FEWER = 2_000
"""Trials of adversaries of realised losses, which are played by a generator."""
SECONDS = 30.0


def response(*epsilons: float) -> str:
    """A menu of randomized responses."""
    return ",".join(f"randomized-response:{each!r}" for each in epsilons)


def searched(
    name: str, filter_: Any, promise: tuple[float, float], menu: str, claim: str
) -> dict[str, Any]:
    """The row of a filter that depends on guarantees alone."""
    game = parse_family(menu) if menu.startswith("subsampled") else parse_menu(menu)
    found = worst_case(game, epsilon=promise[0], filter=filter_, tolerance=0.02, seconds=SECONDS)
    ends = found.delta.lower, found.delta.upper
    return _row(name, promise, menu, claim, ends) | {"play": _play(found, promise[1])}


def _play(found: Any, delta: float) -> list[float] | None:
    """The interval of delta over the promised one, where a play of some trials can tell."""
    if found.delta.lower < 2e-4:
        return None
    try:
        measured = played(found.policy, TRIALS, seed=1, confidence=0.999)
    except (NotApplicable, Refusal):
        return None
    return [measured.lower / delta, measured.upper / delta]


def realised(
    kind: type[Filter], promise: tuple[float, float], menu: tuple[float, ...], rounds: int,
    claim: str, steps: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The row of a filter that depends on the realised losses."""
    filter_ = kind(*promise)
    coarse = None if steps is None else partial(coarse_state, steps=steps)
    found = worst_realised(response(*menu), filter_, rounds, epsilon=promise[0], coarse=coarse)
    result = simulate(
        found.adversary, PureDP(max(menu)), rounds, FEWER, filter=filter_, seed=1, progress=False
    )
    gains = np.maximum(0.0, -np.expm1(promise[0] - result.losses(0)))
    # Hoeffding's inequality, of 0.999
    width = math.sqrt(math.log(2 / 1e-3) / (2 * FEWER))
    ends = found.delta.lower, found.delta.upper
    interval = [max(gains.mean() - width, 0.0) / promise[1], (gains.mean() + width) / promise[1]]
    words = f"{response(*menu)} ({rounds} rounds)"
    return _row(filter_.name, promise, words, claim, ends) | {"play": interval}


def _row(
    name: str, promise: tuple[float, float], menu: str, claim: str, ends: tuple[float, float]
) -> dict[str, Any]:
    ratio = [end / promise[1] for end in ends]
    verdict = "sound" if ratio[1] <= 1.0 else "broken" if ratio[0] > 1.0 else "undecided"
    return {
        "filter": name, "promise": list(promise), "menu": menu, "claim": claim, "ratio": ratio,
        "verdict": verdict,
    }  # fmt: skip


RESIDUE = "all pure and Gaussian rounds"
NOTHING = "nothing"


def cases() -> Iterator[Callable[[], dict[str, Any]]]:
    """Every row, to be called."""
    for promise, menu in (
        ((1.0, 1e-2), (0.1, 0.2, 0.3)),
        ((1.0, 1e-2), (0.07, 0.14, 0.28)),
        ((1.0, 1e-3), (0.05, 0.1, 0.2, 0.3)),
        ((1.0, 1e-3), (0.07, 0.11, 0.29)),
        ((4.0, 1e-3), (0.25, 0.5, 1.0)),
        ((1.0, 1e-5), (0.025, 0.2)),
    ):
        sound = OneNumber(ResidueFilter(*promise))
        yield partial(searched, "residue", sound, promise, response(*menu), RESIDUE)
        broken = SquaresOfCurve(*promise)
        yield partial(searched, "squares of the curve", broken, promise, response(*menu), NOTHING)
    for menu in ((0.025, 0.2), (0.025, 0.25)):
        natural = NaturalFilter(1.0, 1e-5)
        claim = "families ordered under composition"
        yield partial(searched, "natural", natural, (1.0, 1e-5), response(*menu), claim)
    for promise, sigma, rate in (
        ((1.0, 1e-5), 1.0, 0.05),
        ((1.0, 1e-5), 2.0, 0.1),
        ((1.0, 1e-5), 1.0, 0.2),
        ((2.0, 1e-6), 1.0, 0.05),
        ((2.0, 1e-6), 1.0, 0.2),
        ((4.0, 1e-6), 1.0, 0.05),
    ):
        family = f"subsampled-gaussian:{sigma:g},{rate:g}"
        clt = CLTFilter(*promise)
        yield partial(searched, "clt", clt, promise, family, "an approximation")
    pair = "all pure and Gaussian rounds, of a known pair"
    promise = 1.0, 0.05
    yield partial(realised, RealisedFilter, promise, (0.27,), 14, pair)
    yield partial(realised, RealisedFilter, promise, (0.09, 0.27), 30, pair, 100)
    yield partial(realised, RealisedFilter, promise, (0.07, 0.11, 0.29), 12, pair, 20)
    yield partial(realised, ShareEach, promise, (0.10015,), 60, pair)
    yield partial(realised, EachWithin, promise, (0.1,), 100, NOTHING)
    yield partial(realised, EachWithin, promise, (0.1,), 300, NOTHING)
    yield partial(realised, Threshold, promise, (0.25, 2.0), 12, NOTHING)


PAGE = """# Filters of recent papers on trial

Made by `make filter-trial`. Each filter is searched for its worst adversary over a menu: the ratio
has certified ends of the largest δ(ε) over the promised one. The last column is the same ratio in
a play of {trials} trials ({fewer} of those of realised losses) by the adversary that was found,
with confidence 99.9%, where δ is large enough to be seen. *Claim*: the rounds for which the promise
is proved; a menu within them must be sound.

Of the three papers of 2026 only abstracts and summaries could be had, no definition, theorem number
or code:

- arXiv 2602.15815v2 (Regehr et al.), residue filters. `residue` is built from its abstract's idea
  of a Gaussian residue filter, with a rule and a proof of our own; the general residue filter, and
  the bound on how badly the natural filter can fail, could not be had.
- arXiv 2604.08630 (Coon, Vippathalla, Taylor), a filter that stops on the realised loss, with a
  look-ahead and parameters δ̃, θ and N. `realised` and `delta / N each` are filters of that kind,
  with a proof of our own; its own rule, and what θ does, could not be had.
- arXiv 2602.06756v2 (Tran et al.), an approximate filter for sampled Gaussians by the central
  limit theorem. `clt` charges the limit's μ² = q²(exp(1/σ²) − 1) (Bu et al. 2020); the paper's
  closed form, which differs at q near 1, could not be had. Its abstract says that such
  approximations are optimistic at realistic rates.

`squares of the curve`, `each within delta` and `threshold` are broken on purpose.

| filter | claim | (ε, δ) | menu | worst δ over promised | verdict | played |
|---|---|---|---|---|---|---|
"""


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The page of the rows."""
    lines = []
    for each in rows:
        low, high = each["ratio"]
        ends = f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"
        play = each["play"]
        shown = "-" if play is None else f"{play[0]:.3g} to {play[1]:.3g}"
        menu = each["menu"].replace("randomized-response:", "")
        promise = "({:g}, {:g})".format(*each["promise"])
        cells = (each["filter"], each["claim"], promise, menu, ends, each["verdict"], shown)
        lines.append("| " + " | ".join(cells) + " |")
    last = "Menus without a name are of randomized responses."
    return PAGE.format(trials=TRIALS, fewer=FEWER) + "\n".join([*lines, "", last, ""])
