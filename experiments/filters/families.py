"""Rounds of Laplace noise and of bounded range under filters of their own laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from experiments.filters.limits import most_of_one
from simulator.theory.filters.gaussian import GaussianFilter
from simulator.theory.filters.renyi import ZCDPFilter
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.worst.filters.plans import certified_filter
from simulator.worst.filters.schedules import planned_rounds

ORDERS = [1.0 + 1.05**k / 10 for k in range(200)]
SHARES = {"laplace": 20, "range": 20, "gaussian": 20}
"""The promised epsilon over a round's parameter."""


def renyi_rounds(promise: tuple[float, float], kind: str, size: float) -> int:
    """The rounds that adding up Renyi divergences of the best order admits, for one kind and size.

    The conversion is that of Canonne, Kamath and Steinke 2020, Proposition 12.
    """
    epsilon, delta = promise
    best = 0
    for order in ORDERS:
        budget = epsilon + math.log(order * delta) / (order - 1.0) - math.log1p(-1.0 / order)
        if budget > 0.0:
            best = max(best, math.floor(budget / renyi(kind, size, order)))
    return best


def renyi(kind: str, size: float, order: float) -> float:
    """The Renyi divergence of a round."""
    if kind == "range":
        return BoundedRange(size).renyi(order)
    if kind == "gaussian":
        return order * size * size / 2.0
    return float(np.real(LaplaceLaw(size).log_mgf(order - 1.0))) / (order - 1.0)


def families(promise: tuple[float, float]) -> dict[str, dict[str, int]]:
    """The rounds of each kind that its filters admit, and that any sound filter can."""
    found = {}
    for kind, share in SHARES.items():
        size = promise[0] / share
        name = "gdp" if kind == "gaussian" else kind
        own = certified_filter(f"{name}:{size!r}", *promise, plan=f"{name}:{size!r}")
        planned = planned_rounds(own, name, size)
        cell = {"renyi": renyi_rounds(promise, kind, size), "planned": planned}
        round_: Guarantee | PrivacyLossLaw = LaplaceLaw(size)
        if kind != "laplace":
            round_ = core = BoundedRange(size) if kind == "range" else GaussianDP(size)
            cell["zcdp"] = by_filter(ZCDPFilter(*promise).rho / core.zcdp_rho)
            cell["gaussian"] = by_filter((GaussianFilter(*promise).mu / core.gdp_mu) ** 2)
        cell["basic"] = 0 if kind == "gaussian" else share
        cell["limit of any"] = most_of_one(promise, round_, planned)
        found[kind] = cell
    return found


def by_filter(quotient: float) -> int:
    """The rounds of a sum of costs."""
    return math.floor(quotient * (1.0 + 1e-12))


def family_table(rows: list[dict[str, Any]]) -> str:
    """The table, as Markdown."""
    lines = [
        "## Laplace noise, bounded range and Gaussian noise, each by its own law",
        "",
        "Constant rounds of ε/20 (shift over scale; range; μ). *Renyi*, *zcdp* and *gaussian* add "
        "up what the law itself costs; *planned* is `dpcompose filter --family laplace:SIZE --plan "
        "laplace:SIZE`, and so on. The limit of bounded range is that of its adaptive optimum. The "
        "budget of Gaussian noise is exact without a recursion.",
        "",
        "| ε | δ | kind | basic | renyi | zcdp | gaussian | planned | limit of any | "
        "planned / best other |",
        "|---" * 10 + "|",
    ]
    for each in rows:
        for kind, cell in each["families"].items():
            others = [cell[name] for name in ("basic", "renyi", "zcdp") if name in cell]
            if kind == "range":
                others.append(cell["gaussian"])
            numbers = [
                str(cell.get(name, ""))
                for name in ("basic", "renyi", "zcdp", "gaussian", "planned", "limit of any")
            ]
            ratio = cell["planned"] / max(others)
            lines.append(
                f"| {each['epsilon']:g} | {each['delta']:g} | {kind} | {' | '.join(numbers)} | "
                f"{ratio:.3f} |"
            )
    return "\n".join(lines)
