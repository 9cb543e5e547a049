"""``python -m experiments.auditing_limits``: how good an auditor can be, into results/.

Writes auditing_limits.md and .json.
"""

from __future__ import annotations

import math
import statistics
import sys
from typing import Any

import numpy as np

from experiments.auditors_on_trial.limits import (
    best_event,
    growth,
    interfering_counts,
    one_run_bound,
)
from experiments.stages import write_report
from experiments.suite.mechanisms import STANDARD, StandardMechanism
from simulator.auditing.audits.audit import prepared, reader_for
from simulator.auditing.audits.searching import FIRST
from simulator.auditing.audits.sources import Sampler
from simulator.theory import GaussianLaw, LaplaceLaw, PrivacyLossLaw, events

LEVEL, DELTA = 0.05, 1e-5
DRAWS = (100, 1000, 10_000, 100_000)
CANARIES = 1000
LOOK, SEED, BUDGET, AUDITS = 200_000, 26, 1 << 20, 20
MANY = 50_000.0
"""A least number of draws from which there is one audit: they take minutes each."""
LEARNED = 6
"""Learning takes so many times the least number of draws, where draws after it are counted."""


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


def draws_of(entry: StandardMechanism, pair: Any, learn_first: int, seed: int) -> list[float]:
    """Draws per input to a violation, in all, and by evidence that begins after so many draws."""
    source = Sampler(entry.sample, [pair], seed, 60.0)
    try:
        search = prepared(
            source,
            entry.claimed,
            samples=BUDGET,
            confidence=1.0 - LEVEL,
            delta=None,
            epsilon=None,
            seconds=math.inf,
            reader_of=reader_for(True),
            stop_early=True,
            learn_first=learn_first,
        )
        found = search.run(seed)
    finally:
        source.close()
    total, after = search.first_violated or math.inf, math.inf
    if found.violated:
        after = found.samples - learn_first
    if learn_first and total > learn_first:  # its evidence was forgotten on the way
        total = draws_of(entry, pair, 0, seed)[0]
    return [total, after]


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
        learn_first = max(FIRST, round(LEARNED * least))
        audits = AUDITS if least < MANY else 1
        taken = [draws_of(entry, entry.pairs[place], learn_first, seed) for seed in range(audits)]
        draws, bet_on = (statistics.median(each) for each in zip(*taken))
        rows.append(
            {
                "mechanism": name,
                "least": least,
                "audits": audits,
                "draws": draws,
                "ratio": draws / least,
                "learned_from": learn_first,
                "bet_on": bet_on,
                "bet_on_ratio": bet_on / least,
                "taken": taken,
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


COLUMNS = ("least", "audits", "draws", "ratio", "bet_on", "bet_on_ratio")


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
        f"median of so many audits of this package, learning included, {BUDGET} at most. "
        f"*bet on*: the draws in the same audits by evidence that begins anew after {LEARNED} "
        f"times the least draws ({FIRST} or more), from which they have learned by then.",
        "",
        "| mechanism | least | audits | draws | ratio | bet on | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in whole["sequential"]:
        cells = [number(row[key]) for key in COLUMNS]
        lines.append(f"| {row['mechanism']} | " + " | ".join(cells) + " |")
    rows = whole["sequential"]
    within = sum(row["ratio"] <= 10.0 for row in rows)
    near = sum(row["bet_on_ratio"] <= 2.0 for row in rows)
    far = [
        f"{row['mechanism']} ({number(row['bet_on_ratio'])})"
        for row in rows
        if row["bet_on_ratio"] > 2.0
    ]
    lines += [
        "",
        f"In total within 10 times the least on {within} of {len(rows)} mechanisms; once it has "
        f"learned, within twice on {near} of {len(rows)}"
        + (f", and not on {', '.join(far)}." if far else "."),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Compute, and write."""
    whole = {"events": known_events(), "one_run": interference(), "sequential": sequential()}
    text = page(whole)
    for row in whole["sequential"]:
        row.update({k: None for k, v in row.items() if isinstance(v, float) and math.isinf(v)})
        row["taken"] = [[None if math.isinf(v) else v for v in pair] for pair in row["taken"]]
    write_report("auditing_limits", whole, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
