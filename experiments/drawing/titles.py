"""The parameters of a figure as its title."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.theory import parse_guarantee


def each_of(epsilon: float, rounds: int) -> str:
    """So many rounds of a pure family, as ``k = 100 rounds of ε0 = 0.2``."""
    shown = f"{epsilon:g}" if epsilon > 0.01 else f"1/{1.0 / epsilon:g}"
    count = f"{rounds:,}".replace(",", "{,}")
    return rf"$k = {count}$ rounds of $\varepsilon_0 = {shown}$"


def game_with_bands(specification: Mapping[str, Any], kind: str, panel: str = "") -> str:
    """What was played, and what is shaded: bands of that kind, in that panel."""
    epsilon = parse_guarantee(specification["family"]).pure_epsilon
    share = f"{100.0 * specification['confidence']:g}%"
    shaded = f"shaded {panel}: " if panel else "shaded: "
    return f"{each_of(epsilon, specification['rounds'])}; {shaded}{kind} {share} bands"
