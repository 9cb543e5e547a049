"""Laws by few points, for estimates: where a line runs, and how long it is."""

from __future__ import annotations

import math

import numpy as np

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw, merge_losses
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw

_FEW, _MANY = 512, 1 << 13
"""Points of a law, and losses of a discrete one from which it is not kept."""

Range = tuple[float, float]
CLOSED = (GaussianLaw, LaplaceLaw)
"""Laws whose transform is a formula."""


def few_points(law: PrivacyLossLaw) -> PrivacyLossLaw:
    """A discrete law of many losses by few of them, for estimates; any other law as it is."""
    many = law.is_discrete and law.atom_losses.size > _MANY
    return points_within(law, (-math.inf, math.inf), True) if many else law


def points_within(law: PrivacyLossLaw, inside: Range, whole: bool) -> FiniteLaw:
    """Points of a law within a range; of a part of a continuous law, the middles of its cells."""
    losses, logs = law.points
    if not (whole or law.is_discrete or isinstance(law, CLOSED)):
        ends = np.r_[inside, losses]
        edges = np.unique(np.clip(ends, *inside))
        finer = -(-_FEW // edges.size)
        parts = np.arange(finer) / finer
        inner = (edges[:-1, None] + np.diff(edges)[:, None] * parts).ravel()
        edges = np.unique(np.append(inner, edges[-1]))
        masses = law.continuous_masses(edges)[0]
        losses, logs = (edges[:-1] + edges[1:])[masses > 0] / 2, np.log(masses[masses > 0])
        losses, logs = np.r_[losses, law.atom_losses], np.r_[logs, law.atom_log_masses]
    here = (losses > inside[0]) & (losses <= inside[1])
    losses, logs = merge_losses(losses[here], logs[here], within=0.0)
    if losses.size > 2 * _FEW:
        starts = np.unique(np.linspace(0, losses.size, _FEW, endpoint=False).astype(int))
        masses = np.exp(logs - logs.max())
        totals = np.add.reduceat(masses, starts)
        means = np.add.reduceat(masses * losses, starts) / np.maximum(totals, 1e-300)
        kept = totals > 0.0
        losses, logs = merge_losses(means[kept], np.log(totals[kept]) + logs.max(), within=0.0)
    if not losses.size:
        losses, logs = np.array([inside[1]]), np.array([-690.0])
    return FiniteLaw(losses, logs)
