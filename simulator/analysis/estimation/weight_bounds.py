"""Bounds on weighted variables that tilting gives in advance of any data.

Under the tilted law with parameter θ the weight is W = dP0/dQ = e^{-θL + Ψ}, with Ψ the sum of the
rounds' ψ_i(θ | history). If Ψ <= Ψ̄ whatever the adversary does, then W is at most e^{Ψ̄ - θL}.

In experiment 1 the same sample has weight e^{-(1+θ)L + Ψ}; with the signed loss -L that is again a
tilt, of parameter -(1 + θ): pass that as ``theta``, which must not be negative either.
"""

from __future__ import annotations

import math

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import finite


def tail_log_bound(theta: float, psi_bar: float, threshold: float) -> float:
    """Logarithm of the bound on W·1{L > threshold}: Ψ̄ - θ·threshold, for θ >= 0.

    -θL decreases in L, so its supremum over L > threshold is at the threshold. Raises
    NotApplicable for a negative θ, for which W is unbounded above the threshold.

    >>> from simulator.analysis.estimation import tail_log_bound
    >>> tail_log_bound(theta=2.0, psi_bar=0.5, threshold=3.0)
    -5.5
    """
    _check_theta(theta)
    return finite("psi_bar", psi_bar) - theta * finite("threshold", threshold)


def delta_log_bound(theta: float, psi_bar: float, epsilon: float) -> float:
    """Logarithm of the bound on W (1 - e^{ε-L})₊: Ψ̄ - θε + ln c_θ, for θ >= 0.

    With v = e^{ε-L} in (0, 1] the variable is at most e^{Ψ̄ - θε} v^θ (1 - v), and v^θ (1 - v) is
    largest at v = θ/(1+θ), where it is c_θ = θ^θ/(1+θ)^{1+θ}. Raises NotApplicable for θ < 0.

    >>> from simulator.analysis.estimation import delta_log_bound
    >>> round(delta_log_bound(theta=2.0, psi_bar=0.5, epsilon=3.0), 6)
    -7.409543
    """
    _check_theta(theta)
    # θ ln θ - (1+θ) ln(1+θ), written so that large θ does not cancel
    log_c = -math.log1p(theta) - (theta * math.log1p(1.0 / theta) if theta > 1e-300 else 0.0)
    return finite("psi_bar", psi_bar) - theta * finite("epsilon", epsilon) + log_c


def _check_theta(theta: float) -> None:
    if finite("theta", theta) < 0.0:
        raise NotApplicable(
            f"theta is {theta:g}: the weight has no bound above a threshold unless theta >= 0"
        )
