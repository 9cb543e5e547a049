"""``make worst``: the results of the worst-case search in words, from the data of its figures.

The text is a function of the data alone: the same data give the same bytes.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from experiments.figures.worst_exponential import gaps_of
from experiments.stages import RESULTS, data_path, table_path, write_texts
from simulator.studies import Point, Study
from simulator.worst.menu_parsing import parse_family
from simulator.worst.non_adaptive import dominating_delta

FOLDER = "worst"
OTHER_MENU = {"unit": 0.007, "broken": 0.0549, "sound": 0.0545, "delta": 1.0302e-6}
"""A second menu for the budget of squares: another unit, and what its worst adversary gets."""


def data_of(name: str, results: Path = RESULTS) -> dict[str, Any]:
    """The data of one figure."""
    found: dict[str, Any] = json.loads(data_path(name, results).read_text(encoding="utf-8"))
    return found


def text(results: Path = RESULTS) -> str:
    """The whole text, in Markdown."""
    parts = "\n\n".join((_OPENING, *(part(results) for part in _PARTS)))
    return "\n\n".join(_filled(paragraph) for paragraph in parts.split("\n\n")) + "\n"


def _filled(paragraph: str) -> str:
    """Prose in lines of a hundred characters; headings, pictures and commands as they are."""
    if paragraph.startswith(("#", "!", "    ")):
        return paragraph
    words = " ".join(paragraph.split())
    return textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False)


_OPENING = """# Worst-case adaptive adversaries: what the search has found

Every number here is an end of a certified bracket of the largest δ(ε) of any adaptive adversary,
found by `simulator.worst` (its docstrings have the two recursions, and why each end is certain).
The lower end is the value of a policy that can be played. Where one number is given the two ends
agree to the digits shown. `make worst` writes this text from the data of the figures; the commands
below remake the data."""


def width_of(point: Point) -> float:
    """The range of each round of a family of bounded range."""
    return float(point.family.partition(":")[2])


def dominating(point: Point) -> float:
    """The delta of a family's dominating pair, composed, where a point has that of an adversary."""
    step = width_of(point) / 1000
    return dominating_delta(parse_family(point.family), point.rounds, point.at, step, experiment=0)


def _exponential(results: Path) -> str:
    found = gaps_of(Study.load(table_path("worst_exponential", results)))
    best = max(found, key=lambda gap: gap.lower)
    longest = max(gap.worst.rounds for gap in found)
    last = [gap for gap in found if gap.worst.rounds == longest]
    gaps = sorted(gap.lower for gap in last)
    pairs = max(dominating(gap.worst) / gap.worst.upper for gap in last)
    return f"""## What adaptivity is worth against the exponential mechanism

![The gap by rounds](../figures/worst_exponential.png)

Dong, Durfee and Rogers (2020) show that an adversary who picks the inner parameter t of the
exponential mechanism round by round beats every choice fixed in advance, for two rounds. By how
much for many rounds? At the ε where the best fixed choice has a given δ, the best adaptive one
has at most {best.lower:.1f}% more in the range that was searched (ε₀ = {width_of(best.worst):g}
a round, {best.worst.rounds} rounds, δ = {best.fixed:.3g}). With {longest} rounds the gaps lie
between {gaps[0]:.1f}% and {gaps[-1]:.1f}%. The family's dominating pair, composed, is above the
truth by a factor of up to {pairs:.3g}: most of the loss comes from one pair that stands for all of
them, not from adaptivity.

Not shown: whether the gap stays bounded for more rounds, and mechanisms of several ranges.

    python -m experiments simulate worst_exponential
    dpcompose worst-case --menu exponential:1 --rounds 2 --epsilon 0"""


def _filters(results: Path) -> str:
    data = data_of("worst_filters", results)
    slack = data["data"]["slack"]
    specification = data["specification"]

    def at(name: str, power: int) -> float:
        found: float = next(
            row["upper"] for row in slack if (row["filter"], row["log10_delta"]) == (name, power)
        )
        return found

    over = max(data["data"]["budgets"]["overshoot"], key=lambda row: row["ratio"])
    rows = {row["log10_delta"]: row for row in data["data"]["budgets"]["rows"]}
    six = rows[-6]
    menu = ", ".join(f"{e:g}" for e in specification["menu"])
    return f"""## How much of their promise filters leave unused

![Slack and budgets](../figures/worst_filters.png)

Menu: randomized responses of {menu}; promise ε = {specification["epsilon"]:g}. The largest true δ
over the promised one, at δ = 1e-6: Rényi filter of one order {at("renyi", -6):.2f}, zCDP
{at("zcdp", -6):.3f}, Whitehouse et al. 2023 {at("whitehouse", -6):.2g}. With the filter of Rogers
et al. 2016 it is {at("rogers", -3):.1g} at δ = 1e-3. So the worst adversary of this menu is within
a factor of about two of a Rényi filter's promise, and the filters at the rate of advanced
composition could admit far more.

How much more? Take the menu of the randomized responses 0.01, 0.02, ..., 0.2. For this menu a
filter that admits while Σε² ≤ B is sound at (1, 1e-6) for B up to {six["sound"]:.4f}. That is a
property of the menu and no rule for other ones: among the multiples of 0.007 up to 0.196 the worst
adversary gets {OTHER_MENU["delta"]:.4e} at B = {OTHER_MENU["broken"]:g}, and
B = {OTHER_MENU["sound"]:g} is sound. Whitehouse et al. stop at {six["whitehouse"]:.4f}, zCDP at
{six["zcdp"]:.4f} (for small ε); both are proved for every menu. The Gaussian curve allows
{six["gaussian"]:.4f}: a filter for pure mechanisms that trusts it is unsound, for the worst
adversary of the first menu gets {over["ratio"]:.2f} times the promised δ at
δ = 1e{over["log10_delta"]}. The gap closes as δ falls, and at 1e-9 this menu does not pass
the promise.

Not shown: parameters that are really free (the search brackets them less tightly), and δ in the
rounds.

    python -m experiments simulate worst_filters
    dpcompose worst-case --filter renyi:2,1e-6 --epsilon 2 \\
      --menu {",".join(f"randomized-response:{e:g}" for e in specification["menu"])}"""


def _natural(results: Path) -> str:
    data = data_of("worst_natural", results)
    found = data["data"]
    menus = {menu["size"]: menu for menu in found["menus"]}
    best = ", ".join(
        f"{menu['ratio']:.2f} with {size} ({', '.join(f'{e:.3g}' for e in menu['menu'])})"
        for size, menu in sorted(menus.items())
        if size > 1
    )
    partner = max(row["partner"] for row in found["finer"])
    finer = "; ".join(
        f"{row['ratio']:.2f} at {row['unit']:g}"
        for row in found["finer"]
        if row["partner"] == partner
    )
    deltas = ", ".join(f"{row['ratio']:.2f} at 1e{row['log10_delta']}" for row in found["by_delta"])
    specification = data["specification"]
    unit, top = specification["unit"], specification["top"]
    promise = f"({specification['epsilon']:g}, {specification['delta']:g})"
    return f"""## How far the natural filter overshoots its promise

![Overshoot by menu](../figures/worst_natural.png)

The natural filter admits a mechanism while the exact δ of everything admitted, composed as if it
had been fixed in advance, stays within the budget. It is not free (arXiv 2602.15815, 2602.06756).
At {promise} the worst adversary of the best menu of randomized responses that was found gets
these multiples of the promised δ: {best}. All pairs of multiples of {unit:g} up to {unit * top:g}
were tried; larger menus were grown from the best smaller one by coordinate ascent, so their
multiples are lower bounds.

Is the overshoot bounded? It saturates as the small mechanism gets smaller (beside {partner:g}:
{finer}). The best pair's overshoot depends little on δ below 1e-4 ({deltas}). Each further
mechanism adds less. No bound is known to us, and no menu found so far exceeds six.

    python -m experiments simulate worst_natural
    dpcompose worst-case --filter natural:1,1e-5 --epsilon 1 \\
      --menu randomized-response:0.025,randomized-response:0.2"""


def _policy(results: Path) -> str:
    data = data_of("worst_policy", results)
    found = data["data"]
    return f"""## How it plays

![A policy](../figures/worst_policy.png)

Against a budget for Σε² of {data["specification"]["budget"]:g} at (1, 1e-6), over randomized
responses 0.01 to 0.2, the worst adversary gets {found["lower"]:.4g}, {found["ratio"]:.3f} times the
promise. It plays the smallest ε almost always. Only along a line that is nearly straight in (loss,
budget) it spends what is left on a few rounds of a large ε: bold play, while it can still win.
Among Gaussians there is no such move, because all ways to spend a budget are equivalent.

    python -m experiments simulate worst_policy"""


_PARTS = (_exponential, _filters, _natural, _policy)


def write(results: Path = RESULTS) -> Path:
    """Write ``worst/README.md`` below the results, and return its path."""
    return write_texts({"README.md": text(results)}, results / FOLDER)[0]


if __name__ == "__main__":
    print(f"written     {write()}", file=sys.stderr)
