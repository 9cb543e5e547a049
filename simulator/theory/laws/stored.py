"""Laws of the privacy loss as JSON, see :mod:`simulator.theory.stored`."""

from __future__ import annotations

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import Added
from simulator.theory.laws.announced import AnnouncedLaw
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.replaced_sample import ReplacedSampleLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.laws.truncated import TruncatedNoiseLaw
from simulator.theory.stored import Vocabulary

_SLACK = 1e-9


def _check_masses(law: PrivacyLossLaw) -> None:
    """Raise InvalidInput unless the masses of a finite law sum to 1.

    The exchanged masses may sum to less, as those of a discretisation do.
    """
    if not isinstance(law, FiniteLaw):
        return
    if not (0.0 <= law.infinite_mass <= 1.0 and 0.0 <= law.dual_infinite_mass <= 1.0):
        raise InvalidInput("the infinite masses must lie in [0, 1]")
    if not 0.0 <= law.loss_error < np.inf:
        raise InvalidInput("loss_error must be a finite number >= 0")
    with np.errstate(over="ignore"):
        total = float(np.exp(law.log_masses).sum()) + law.infinite_mass
        dual = float(np.exp(law.log_masses - law.losses).sum()) + law.dual_infinite_mass
    if not (abs(total - 1.0) <= _SLACK and dual <= 1.0 + _SLACK):
        raise InvalidInput(f"the masses sum to {total!r} and, exchanged, to {dual!r}, not to 1")


LAWS = Vocabulary(
    PrivacyLossLaw,
    Added(
        "laws",
        {
            "announced": AnnouncedLaw,
            "finite": FiniteLaw,
            "gaussian": GaussianLaw,
            "gaussian-mixture": GaussianMixtureLaw,
            "laplace": LaplaceLaw,
            "poisson-subsampled": PoissonSubsampledLaw,
            "replaced-sample": ReplacedSampleLaw,
            "sampled-without-replacement": SampledWithoutReplacementLaw,
            "truncated-noise": TruncatedNoiseLaw,
        },
    ),
    check=_check_masses,
)
"""Every law of the privacy loss."""
