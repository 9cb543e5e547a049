"""Quantiles of the tails of a law of the privacy loss."""

from __future__ import annotations

import math

import numpy as np

from simulator.theory.laws.base import Floats, PrivacyLossLaw

_LEAST = 1e-9
_OCTAVES, _MOST_OCTAVES = 50, 1000
"""Octaves from the least quantile on, looked at together, and all of them."""
_SHARES = np.geomspace(0.5, 1.0, 71)
"""Between the ends of an octave, a percent apart."""


def loss_range(
    law: PrivacyLossLaw, tail_mass: float, *, inside: bool = False
) -> tuple[float, float]:
    """The range of losses with at most ``tail_mass`` of P0 on either side, infinity excluded.

    Where the support ends, that is its end, or with ``inside`` the smaller of both.
    """
    low, high = law.support
    heavy = law.atom_losses[law.atom_log_masses > math.log(max(tail_mass, 5e-324))]
    if not math.isfinite(high) or (inside and high not in heavy):
        high = min(high, _quantile(law, tail_mass, +1))
    if not math.isfinite(low) or (inside and low not in heavy):
        low = max(low, -_quantile(law, tail_mass, -1))
    return low, high


def _quantile(law: PrivacyLossLaw, tail_mass: float, sign: int) -> float:
    """A positive x with at most ``tail_mass`` beyond sign x, at most a percent above the least."""
    for first in range(0, _MOST_OCTAVES, _OCTAVES):
        ladder = _LEAST * 2.0 ** np.arange(first, first + _OCTAVES, dtype=np.float64)
        small = _tails(law, ladder, sign) <= tail_mass
        if small.any():
            fine = float(ladder[np.argmax(small)]) * _SHARES
            small = _tails(law, fine, sign) <= tail_mass
            small[-1] = True
            return float(fine[np.argmax(small)])
    return math.inf


def _tails(law: PrivacyLossLaw, points: Floats, sign: int) -> Floats:
    """P0-masses of finite losses beyond sign x, for ascending positive x, (n,)."""
    edges = np.append(points, np.inf)
    atoms, logs = law.atom_losses, law.atom_log_masses
    if sign < 0:
        smooth = law.continuous_masses(-edges[::-1])[0][::-1]
        atoms, logs = -atoms[::-1], logs[::-1]
    else:
        smooth = law.continuous_masses(edges)[0]
    beyond = np.cumsum(smooth[::-1])[::-1]
    above = np.append(np.cumsum(np.exp(logs)[::-1])[::-1], 0.0)
    return np.asarray(beyond + above[np.searchsorted(atoms, points, side="right")])
