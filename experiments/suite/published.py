"""The lower bounds that DP-Sniper and StatDP published, and how many draws they took."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("published.json")


@dataclass(frozen=True)
class Published:
    """Bounds at 90% of one mechanism, None where none was published.

    Attributes
    ----------
    logistic, network : DP-Sniper with a logistic regression, and with a neural network.
    statdp : of two runs.
    draws : DP-Sniper's, in all: over both inputs, all ordered pairs, search and certification.
    """

    logistic: float | None
    network: float | None
    statdp: tuple[float | None, float | None]
    draws: int

    @property
    def dp_sniper(self) -> float | None:
        """The larger of the two."""
        return max((x for x in (self.logistic, self.network) if x is not None), default=None)


@cache
def table() -> dict[str, Any]:
    """The data file, with its source."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def published(name: str, pairs: int) -> Published:
    """What was published on a mechanism with so many unordered pairs of inputs."""
    row, spent = table()["rows"][name], table()["dp_sniper"]
    each = sum(spent[f"{part}_per_ordered_pair"] for part in ("train", "threshold", "check"))
    first, second = row["statdp"]
    return Published(
        row["dp_sniper_logistic"],
        row["dp_sniper_network"],
        (first, second),
        2 * pairs * each + spent["certify"],
    )
