"""The losses of gathered cells are within their stated errors, by arithmetic of many digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw

CASES = (
    (1 / 2750, 1.691e-6),
    (1 / 11.69, 1.136e-6),
    (0.05, 3e-6),
    (2.64, 3.3e-6),
    (1.0, 0.3),
    (0.01, 0.9),
)


def off(law: PoissonSubsampledLaw, edges: np.ndarray, of: PrivacyLossLaw) -> float:
    """The largest error of a loss, over what the law ``of`` states for it."""
    assert isinstance(law.base, GaussianLaw)
    *_, losses, errors = of.gathered_cells(edges)
    shares = []
    with mpmath.workdps(60):
        mu, q = mpmath.mpf(law.base.mu), mpmath.mpf(law.rate)
        sign = 1 if law.exchanged else -1
        x = [(mpmath.log((mpmath.exp(sign * mpmath.mpf(e)) - 1 + q) / q) + mu**2 / 2) / mu
             for e in edges.tolist()]  # fmt: skip
        for place, (loss, error) in enumerate(zip(losses.tolist(), errors.tolist())):
            low, high = sorted(x[place : place + 2])
            without = mpmath.ncdf(high) - mpmath.ncdf(low)
            chosen = mpmath.ncdf(high - mu) - mpmath.ncdf(low - mu)
            exact = sign * mpmath.log(1 - q + q * chosen / without)
            shares.append(float(abs(loss - exact)) / error)
    return max(shares)


def cells(law: PoissonSubsampledLaw, count: int, seed: int) -> np.ndarray:
    """Edges of neighbouring thin cells within six deviations."""
    assert isinstance(law.base, GaussianLaw)
    mu = law.base.mu
    x = np.random.default_rng(seed).uniform(-6, 6 + mu) + 1e-3 * np.arange(count)
    m = np.log1p(law.rate * np.expm1(mu * x - mu**2 / 2))
    return np.unique(m if law.exchanged else -m)


@pytest.mark.parametrize("exchanged", [False, True], ids=["adding", "removing"])
@pytest.mark.parametrize(("mu", "rate"), CASES)
def test_losses_within_errors(mu: float, rate: float, exchanged: bool) -> None:
    law = PoissonSubsampledLaw(GaussianLaw(mu), rate, exchanged)
    for seed in range(4):
        edges = cells(law, 5, seed)
        assert off(law, edges, law) <= 1.0
        *_, errors = law.gathered_cells(edges)
        *_, usual = PrivacyLossLaw.gathered_cells(law, edges)
        if rate < 1e-5 and mu < 0.1:  # posteriors and losses are tiny: so are the errors
            assert errors.max() < 0.02 * usual.max()


def test_a_smaller_error_is_refuted() -> None:
    """The check would see errors that are stated ten thousand times too small."""

    class TooSure(PoissonSubsampledLaw):
        def gathered_cells(
            self, edges: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
            under0, under1, losses, errors = super().gathered_cells(edges)
            return under0, under1, losses, errors / 1e4

    law = PoissonSubsampledLaw(GaussianLaw(1.0), 0.3, True)
    wrong = TooSure(GaussianLaw(1.0), 0.3, True)
    assert max(off(law, cells(law, 5, seed), wrong) for seed in range(8)) > 1.0
