"""The report in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.suite.published import table as published_table
from experiments.suite.running import CONFIDENCE, VERDICT, Row

HEAD = (
    "| mechanism | claimed | exact ε | on the pairs | **our bound** | limit | verdict | draws | s "
    "| DP-Sniper | StatDP | draws, DP-Sniper's to ours | reached |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
)


def markdown(rows: Sequence[Row], seconds: float) -> str:
    """The whole report."""
    flagged = [row for row in rows if row.violated]
    wrong = [row.task.name for row in rows if not row.right]
    reached = [row for row in rows if row.reached]
    out_of_reach = [row for row in rows if beyond(row)]
    text = [
        "# The standard suite\n",
        "The mechanisms on which StatDP, DP-Finder and DP-Sniper were evaluated; "
        "`make suite` writes this file.\n",
        f"{len(flagged)} of {len(rows)} rows violate their claim, at {VERDICT:.1%} each; "
        + (f"wrong verdicts: {', '.join(wrong)}." if wrong else "every verdict is right.")
        + f" {len(reached)} of {len(rows)} bounds are at least DP-Sniper's, with a fiftieth of its "
        "draws. What the best event would prove with so many is less than DP-Sniper's bound on "
        f"{len(out_of_reach)} rows"
        + (f" ({', '.join(row.task.name for row in out_of_reach)})" if out_of_reach else "")
        + f". Made in {seconds / 60:.0f} minutes.\n",
        lines(rows),
        "\n## What the columns say\n",
        notes(),
        "\n## Why the exact values hold\n",
        reasons(rows),
    ]
    return "\n".join(text)


def lines(rows: Sequence[Row]) -> str:
    """One line per row."""
    return HEAD + "".join(line(row) for row in rows)


def line(row: Row) -> str:
    """One row."""
    entry, found, theirs = row.entry, row.found, row.published
    cells = [
        entry.name,
        number(entry.claimed.epsilon),
        number(entry.epsilon),
        number(row.pattern_epsilon),
        f"**{number(found.epsilon)}**",
        number(row.limit),
        ("violated" if row.violated else "not violated") + ("" if row.right else " (wrong)"),
        f"{row.draws / 1e6:.1f} M",
        f"{row.seconds:.0f}",
        f"{number(theirs.logistic)}, {number(theirs.network)}",
        ", ".join(number(x) for x in theirs.statdp),
        f"{theirs.draws / row.draws:.0f}",
        "yes" if row.reached else "no: out of reach" if beyond(row) else "no",
    ]
    return f"| {' | '.join(cells)} |\n"


def beyond(row: Row) -> bool:
    """Whether DP-Sniper's bound is above what these draws allow."""
    theirs = row.published.dp_sniper
    return row.limit is not None and theirs is not None and row.limit < theirs


def number(value: float | None) -> str:
    """Four decimals, or a dash."""
    if value is None:
        return "–"
    return "∞" if math.isinf(value) else f"{value:.4f}"


def notes() -> str:
    """What the columns are."""
    spent = published_table()["dp_sniper"]
    return (
        f"- **our bound**: a lower bound on ε at {CONFIDENCE:.0%}, valid at every number of draws, "
        "from `simulator.audit` without an early stop, of events that were learned on other draws. "
        "All draws are counted: search among pairs, learning, certification, both inputs.\n"
        f"- **verdict**: by the evidence of the same audit, at {VERDICT:.1%}.\n"
        "- **exact ε**: over all neighbouring inputs of that length; **on the pairs**: the largest "
        "over the standard pairs, which is all that an audit on them can reach. Report noisy max 1 "
        "and the sparse vectors reach the former only in a limit of far inputs.\n"
        "- **limit**: what the best event, known beforehand and with every draw spent to count it, "
        "would prove on average at the same confidence, from Fisher's information of two "
        "binomials. A single run may exceed it.\n"
        f"- **DP-Sniper**: with logistic regression, and with a network, at 90%; per ordered pair "
        f"{spent['train_per_ordered_pair'] / 1e6:.1f} million draws to train, "
        f"{spent['threshold_per_ordered_pair'] / 1e6:.1f} million for the threshold and "
        f"{spent['check_per_ordered_pair'] / 1e6:.1f} million to compare pairs, then "
        f"{spent['certify'] / 1e6:.0f} million to certify. **StatDP**: two runs, "
        "400 million to certify, after a search. Both are bounds at 90% too: of those published, "
        "DP-Sniper's 0.3008 for rappor and StatDP's 10.0022 for noisy-histogram-2 lie above the "
        "exact values 0.3001 and 10.\n"
        f"- Source: {published_table()['source']}\n"
    )


def reasons(rows: Sequence[Row]) -> str:
    """One line per mechanism."""
    return "".join(
        f"- {row.entry.name}: {number(row.entry.epsilon)}, {row.entry.reason}. "
        f"{row.entry.source}.\n"
        for row in rows
    )
