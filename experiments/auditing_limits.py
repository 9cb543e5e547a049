"""``python -m experiments.auditing_limits``: how good an auditor can be, into results/.

Writes auditing_limits.md and .json.
"""

from __future__ import annotations

import math
import statistics
import sys
from typing import Any

import numpy as np

from experiments.stages import write_report
from simulator.theory import GaussianLaw, LaplaceLaw, PrivacyLossLaw, events
from simulator.trials import audit
from simulator.trials.auditing.searching import FIRST
from simulator.trials.auditors.limits import (
    best_event,
    growth,
    interfering_counts,
    one_run_bound,
)
from simulator.trials.suite import STANDARD, StandardMechanism

LEVEL, DELTA = 0.05, 1e-5
DRAWS = (100, 1000, 10_000, 100_000)
CANARIES = 1000
LOOK, SEED, BUDGET, AUDITS = 200_000, 26, 1 << 20, 3


def known_events() -> list[dict[str, Any]]:
    """The median bound of the best tail of the loss, by mechanism and draws."""
    laws: list[tuple[str, PrivacyLossLaw, events.EventTree, np.ndarray]] = [
        ("Laplace, scale 1", LaplaceLaw(1.0), events.laplace(1.0), np.linspace(-0.99, 0.999, 200)),
        ("Gaussian, sigma 1", GaussianLaw(1.0), events.gaussian(1.0), np.linspace(-1.0, 5.0, 240)),
    ]
    rows = []
    for name, law, event, thresholds in laws:
        truth = events.Account(event).epsilon(DELTA).value
        p0 = np.array([law.sf(t, 0) for t in thresholds])
        p1 = np.array([law.sf(t, 1) for t in thresholds])
        for n in DRAWS:
            which, bound = best_event(p0, p1, n, delta=DELTA, level=LEVEL)
            rows.append(
                {
                    "mechanism": name,
                    "draws": n,
                    "bound": bound,
                    "efficacy": bound / truth,
                    "threshold": float(thresholds[which]),
                }
            )
    return rows


def interference() -> list[dict[str, Any]]:
    """The median bound of one run of canaries in groups that share one noisy count."""
    rows = []
    for group in (1, 2, 4, 8, 20):
        found = []
        for margin in np.linspace(0.0, group / 2.0, 11):
            guessed, correct = interfering_counts(1.0, group, float(margin))
            bound = one_run_bound(CANARIES // group, group, guessed, correct, level=LEVEL)
            found.append((bound, float(margin), guessed))
        bound, margin, guessed = max(found)
        rows.append({"group": group, "bound": bound, "margin": margin, "guessed": guessed})
    return rows


def losses_of(entry: StandardMechanism, pair: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses of draws from both laws in equal parts, and the masses that they stand for."""
    rng = np.random.default_rng(SEED)
    first, second = pair
    losses = np.concatenate(
        [entry.law.loss(first, second, entry.sample(given, LOOK, rng)) for given in pair]
    )
    share = 1.0 / (1.0 + np.exp(-np.clip(losses, -700.0, 700.0)))
    share = np.where(np.isposinf(losses), 1.0, np.where(np.isneginf(losses), 0.0, share))
    return losses, share / share.sum(), (1.0 - share) / (1.0 - share).sum()


def sequential() -> list[dict[str, Any]]:
    """The audit's draws to a violation, beside the least expected number of any test."""
    rows = []
    for name, entry in STANDARD.items():
        if entry.private or name == "laplace-floats":  # its likelihood is not known
            continue
        claim = entry.claimed.epsilon
        rates = [growth(*losses_of(entry, pair), claim) for pair in entry.pairs]
        place = int(np.argmax(rates))
        least = math.log(1.0 / LEVEL) / rates[place] if rates[place] > 0.0 else math.inf
        taken = []
        first, second = entry.pairs[place]
        for seed in range(AUDITS):
            found = audit(
                entry.sample,
                first,
                second,
                claimed=entry.claimed,
                samples=BUDGET,
                confidence=1.0 - LEVEL,
                seed=seed,
            )
            taken.append(found.samples if found.violated else math.inf)
        rows.append(
            {
                "mechanism": name,
                "least": least,
                "draws": statistics.median(taken),
                "ratio": statistics.median(taken) / least,
                "bet_on": statistics.median(taken) - FIRST,
                "bet_on_ratio": (statistics.median(taken) - FIRST) / least,
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def number(value: float) -> str:
    """A number of the page."""
    return "none" if not math.isfinite(value) else f"{value:.3g}" if value < 1e3 else f"{value:.0f}"


def page(whole: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# How good an auditor can be",
        "",
        "`make auditors` writes this page and `auditing_limits.json`. All bounds are at level "
        f"{LEVEL:g}.",
        "",
        "## The best event, known beforehand",
        "",
        f"The exact median of the Clopper-Pearson bound on epsilon at delta = {DELTA:g} from n "
        "draws on each input, of the best tail of the privacy loss; efficacy is that over the true "
        "epsilon.",
        "",
        "| mechanism | n | loss above | median bound | efficacy |",
        "|---|---|---|---|---|",
    ]
    for row in whole["events"]:
        lines.append(
            f"| {row['mechanism']} | {row['draws']} | {row['threshold']:.3f} "
            f"| {row['bound']:.4f} | {row['efficacy']:.3f} |"
        )
    lines += [
        "",
        "## One run: what interference costs",
        "",
        f"{CANARIES} canaries, epsilon = 1; those of a group share one count with Laplace noise of "
        "scale 1. The guesses are the best ones by the posterior of each canary, made only where "
        "the count is at least the margin from half of the group. Exact medians of the bound; with "
        "epsilon = 1 they are the efficacy (arXiv 2503.07199 defines it by expectations).",
        "",
        "| group | margin | share of canaries guessed | median bound |",
        "|---|---|---|---|",
    ]
    for row in whole["one_run"]:
        lines.append(
            f"| {row['group']} | {row['margin']:.2f} | {row['guessed']:.3f} | {row['bound']:.4f} |"
        )
    lines += [
        "",
        "## Draws to a violation",
        "",
        "On the broken mechanisms of the suite, on the pair of inputs that is easiest to tell from "
        "the claim. *least*: no test of this level that ends with a violation for sure needs fewer "
        "draws per input on average: ln(1/level) over the least Kullback-Leibler divergence from a "
        f"pair that keeps the claim (Wald); an estimate from {2 * LOOK} exact losses, which may "
        "err by some tens of percent at 100,000 draws. *draws*: the "
        f"median of {AUDITS} audits of this package, learning included, {BUDGET} at most. "
        f"*bet on*: those after the first {FIRST}, which it only learns from.",
        "",
        "| mechanism | least | draws | ratio | bet on | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for row in whole["sequential"]:
        cells = [number(row[key]) for key in ("least", "draws", "ratio", "bet_on")]
        cells.append(number(row["bet_on_ratio"]))
        lines.append(f"| {row['mechanism']} | " + " | ".join(cells) + " |")
    within = sum(row["ratio"] <= 10.0 for row in whole["sequential"])
    near = sum(row["bet_on_ratio"] <= 2.0 for row in whole["sequential"])
    total = len(whole["sequential"])
    lines += [
        "",
        f"In total within 10 times the least on {within} of {total} mechanisms; without the "
        f"first batch, within twice on {near} of {total}. That batch, and the doubling of later "
        "ones, are most of the total where few draws would do.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Compute, and write."""
    whole = {"events": known_events(), "one_run": interference(), "sequential": sequential()}
    text = page(whole)
    for row in whole["sequential"]:
        row.update({k: None for k, v in row.items() if isinstance(v, float) and math.isinf(v)})
    write_report("auditing_limits", whole, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
