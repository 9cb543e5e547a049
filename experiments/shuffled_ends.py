"""How far both ends of shuffled reports are apart, and how long they take, into results/.

``python -m experiments.shuffled_ends`` writes results/shuffled_ends.md and .json after each kind:
for every randomizer of an epsilon_0 the clones over the exact responses, and for Laplace and
Gaussian noise the blanket over equal others. Some ten minutes; ``--small``, which made the
committed table, has at most 10^4 reports and two deltas: some two minutes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from experiments.stages import write_report
from simulator.foundations.errors import NotApplicable
from simulator.theory import (
    Composition,
    GaussianLaw,
    LaplaceLaw,
    ShuffledBlanket,
    ShuffledDP,
    bound,
)

LOCALS = (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
REPORTS = (10**2, 10**3, 10**4, 10**6, 10**8)
DELTAS = (1e-4, 1e-6, 1e-9, 1e-12)
NOISES = (0.5, 1.0, 2.0, 4.0)
NOISE_REPORTS = (10**2, 10**3, 10**4, 10**6)
Ends = tuple[float, float]


def every_randomizer(local: float, reports: int, delta: float) -> Ends:
    """The lower and the upper end of the worst randomizer's epsilon."""
    rounds = Composition.repeat(ShuffledDP(local, reports), 1)
    lower = bound("shuffled-randomized-response").on(rounds).epsilon(delta).lower
    return lower, bound("clones-numerical").on(rounds).epsilon(delta).upper


def laplace(local: float, reports: int, delta: float) -> Ends:
    """Both ends for Laplace noise of scale 1/local."""
    found = ShuffledBlanket(LaplaceLaw(local), reports).epsilon_bracket(delta)
    return found.lower, found.upper


def gaussian(mu: float, reports: int, delta: float) -> Ends:
    """Both ends for Gaussian noise of deviation 1/mu."""
    found = ShuffledBlanket(GaussianLaw(mu), reports).epsilon_bracket(delta)
    return found.lower, found.upper


KINDS: dict[str, tuple[Callable[[float, int, float], Ends], tuple[float, ...], tuple[int, ...]]] = {
    "every randomizer": (every_randomizer, LOCALS, REPORTS),
    "Laplace noise": (laplace, NOISES, NOISE_REPORTS),
    "Gaussian noise": (gaussian, (1.0,), (10**2, 10**4)),
}


def measured(kind: str, local: float, reports: int, delta: float) -> dict[str, Any]:
    """A row: both ends, their ratio (None where the lower one is 0), and the processor time."""
    row: dict[str, Any] = {"kind": kind, "local": local, "reports": reports, "delta": delta}
    start = time.process_time()
    try:
        lower, upper = KINDS[kind][0](local, reports, delta)
    except NotApplicable as error:
        return {**row, "why not": str(error)}
    ratio = upper / lower if lower > 0.0 and math.isfinite(upper) else None
    seconds = round(time.process_time() - start, 2)
    return {**row, "lower": lower, "upper": upper, "ratio": ratio, "seconds": seconds}


def page(rows: Iterable[Mapping[str, Any]]) -> str:
    """A table for each kind: the ratio of the ends by epsilon_0 and n, a number for each delta."""
    found = {(r["kind"], r["local"], r["reports"], r["delta"]): r for r in rows}
    deltas = sorted({delta for *_, delta in found}, reverse=True)
    text = "# Both ends of shuffled reports\n\nUpper over lower end of epsilon, one round; "
    text += f"in a cell delta = {', '.join(f'{delta:g}' for delta in deltas)}. A dash: the lower "
    text += "end is 0, or no upper end is certified. In brackets the slowest, in seconds.\n"
    for kind, (_, locals_, every) in KINDS.items():
        many = [n for n in every if any(key[0] == kind and key[2] == n for key in found)]
        text += f"\n## {kind}\n\n| ε₀ or μ | " + " | ".join(f"n = {n:,}" for n in many) + " |\n"
        text += "|---|" + "---|" * len(many) + "\n"
        for local in locals_:
            cells = []
            for n in many:
                seen = [found[key] for d in deltas if (key := (kind, local, n, d)) in found]
                ratios = [r.get("ratio") for r in seen]
                slowest = max((r.get("seconds", 0.0) for r in seen), default=0.0)
                shown = " ".join(f"{ratio:.3f}" if ratio else "–" for ratio in ratios)
                cells.append(f"{shown} ({slowest:g})" if seen else "")
            text += f"| {local:g} | " + " | ".join(cells) + " |\n"
    return text


def main() -> None:
    """Measure all rows, and write them after each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="at most 10^4 reports, two deltas")
    small = parser.parse_args().small
    rows: list[dict[str, Any]] = []
    for kind, (_, locals_, many) in KINDS.items():
        for n, local in itertools.product(many, locals_):
            if not small or n <= 10**4:
                wanted = DELTAS[1::2] if small else DELTAS
                rows += [measured(kind, local, n, delta) for delta in wanted]
        write_report("shuffled_ends", {"rows": rows}, page(rows))


if __name__ == "__main__":
    main()
