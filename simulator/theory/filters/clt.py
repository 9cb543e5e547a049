"""The filter of sampled Gaussians that trusts the central limit theorem; not sound."""

from __future__ import annotations

import math

from simulator.foundations.errors import NotApplicable
from simulator.theory.filters.gaussian import GaussianFilter
from simulator.theory.filters.interface import Price
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP


class CLTFilter(GaussianFilter):
    """Charge Gaussian noise sigma on a Poisson sample of rate q as mu^2 = q^2 (e^(1/sigma^2) - 1).

    That is the mu of the limit of many such rounds with small q (Bu, Dong, Long and Su 2020), and
    an approximation: few rounds lose more, and the filter breaks its promise by orders of
    magnitude. So ``proved`` is False. It stands here for the approximate filter of "f-Differential
    Privacy Filters: Validity and Approximate Solutions" (Tran, Koskela, Raisa and Honkela, arXiv
    2602.06756), which proves the limit for adaptive choices; its own closed form was not available
    to us. Gaussian noise without sampling is charged its mu^2, which is exact.

    >>> from simulator.theory import CLTFilter, SubsampledGaussianDP
    >>> running = CLTFilter(1.0, 1e-6).fresh()
    >>> running.admits(SubsampledGaussianDP(1.0, 0.01)), CLTFilter.proved
    (True, False)
    """

    name = "clt"
    source = "Bu, Dong, Long and Su 2020, an approximation; after arXiv 2602.06756, 2026"
    proved = False

    def price(self, guarantee: Guarantee) -> Price:
        """The mu of the limit; raises NotApplicable for other mechanisms."""
        core = guarantee.core
        if not isinstance(core, SubsampledGaussianDP):
            return super().price(guarantee)
        if core.rate in (0.0, 1.0):
            return core.rate / core.sigma, guarantee.leak
        if core.sigma < 0.04:
            raise NotApplicable(f"the {self.name} filter has no mu for {guarantee}")
        return core.rate * math.sqrt(math.expm1(core.sigma**-2)), guarantee.leak
