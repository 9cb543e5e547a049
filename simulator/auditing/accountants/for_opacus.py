"""An accountant for Opacus (Meta), with certified upper ends."""

from __future__ import annotations

from typing import Any

from opacus.accountants import IAccountant, register_accountant

from simulator.auditing.accountants.certified import epsilon_above
from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account, from_opacus

NAME = "dpcompose"
"""What ``PrivacyEngine(accountant=...)`` takes once this module is imported."""


class CertifiedOpacusAccountant(IAccountant):
    """An ``IAccountant`` whose epsilons are certified upper ends, for Poisson samples.

    Importing it registers it: ``PrivacyEngine(accountant="dpcompose")``; or assign
    ``engine.accountant = CertifiedOpacusAccountant()``. :meth:`bracket` has both ends.
    """

    def __init__(self) -> None:
        super().__init__()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Add one step; equal ones in a row are one entry of the history."""
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def get_epsilon(self, delta: float, *args: Any, **kwargs: Any) -> float:
        """An epsilon that certainly holds at ``delta`` in [0, 1]; infinite without noise.

        Options of other accountants, as ``alphas`` and ``eps_error``, are not needed. Raises
        NotApplicable for ``poisson=False``: that is no sampling that a theorem here covers.
        """
        if not kwargs.get("poisson", True):
            raise NotApplicable("the steps of the history are accounted for as Poisson samples")
        if any(noise == 0.0 and rate > 0.0 for noise, rate, _ in self.history):
            return float("inf")
        return epsilon_above(self._account, float(delta))

    def bracket(self, delta: float) -> Bracket:
        """Certified ends of epsilon at ``delta`` in [1e-300, 1)."""
        return self._account.epsilon(float(delta))

    @property
    def _account(self) -> Account:
        return from_opacus(tuple(each) for each in self.history)

    def __len__(self) -> int:
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name of this accountant in Opacus."""
        return NAME


register_accountant(NAME, CertifiedOpacusAccountant, force=True)
