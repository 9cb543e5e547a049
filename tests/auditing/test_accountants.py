"""The accountants for dp_accounting and Opacus: their numbers are the certified upper ends."""

import math
import sys
from types import ModuleType

import pytest

from simulator.auditing.accountants.certified import delta_above, epsilon_above
from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.events import Account, gaussian, laplace, nothing, subsampled


def test_ends_at_every_delta_and_epsilon():
    pure = Account().then(laplace(2.0), 3)
    assert epsilon_above(pure, 0.0) == pytest.approx(1.5, rel=1e-12)
    assert epsilon_above(pure, 0.0) >= 1.5
    assert epsilon_above(pure, 1.0) == 0.0
    assert epsilon_above(pure, 1e-6) == pure.epsilon(1e-6).upper
    assert delta_above(pure, 1.0) == pure.delta(1.0).upper
    assert delta_above(pure, math.inf) == 0.0
    assert epsilon_above(Account().then(gaussian(1.0)), 0.0) == math.inf
    leaking = Account().then("approx:0.1,0.25", 2)
    assert delta_above(leaking, math.inf) == pytest.approx(1 - 0.75**2, rel=1e-9)
    for account in (Account(), Account().then(nothing(), 5)):
        assert epsilon_above(account, 0.0) == epsilon_above(account, 1e-12) == 0.0
        assert delta_above(account, 0.0) == delta_above(account, math.inf) == 0.0


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan])
def test_a_delta_outside_its_range_is_refused(delta):
    with pytest.raises(InvalidInput, match="delta must be in"):
        epsilon_above(Account(), delta)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan])
def test_an_epsilon_outside_its_range_is_refused(epsilon):
    with pytest.raises(InvalidInput, match="epsilon must be at least 0"):
        delta_above(Account(), epsilon)


@pytest.fixture
def opacus(monkeypatch):
    """Opacus' accountant: the library's class where it is installed, or what it has in common."""
    try:
        import opacus.accountants  # noqa: F401
    except ImportError:
        package, module = ModuleType("opacus"), ModuleType("opacus.accountants")

        class Base:
            def __init__(self):
                self.history = []

        registered = {}
        module.IAccountant = Base
        module.register_accountant = lambda name, cls, force=False: registered.update({name: cls})
        package.accountants = module
        monkeypatch.setitem(sys.modules, "opacus", package)
        monkeypatch.setitem(sys.modules, "opacus.accountants", module)
    monkeypatch.delitem(sys.modules, "simulator.auditing.accountants.for_opacus", raising=False)
    from simulator.auditing.accountants.for_opacus import CertifiedOpacusAccountant

    return CertifiedOpacusAccountant


def test_opacus_steps_cost_what_the_account_says(opacus):
    accountant = opacus()
    assert accountant.get_epsilon(1e-5) == 0.0
    for noise in (1.0, 1.0, 2.0):
        accountant.step(noise_multiplier=noise, sample_rate=0.1)
    assert accountant.history == [(1.0, 0.1, 2), (2.0, 0.1, 1)]
    assert len(accountant) == 3
    account = (
        Account()
        .then(subsampled(gaussian(1.0), 0.1), 2)
        .then(subsampled(gaussian(2.0), 0.1))
    )  # fmt: skip
    truth = account.epsilon(1e-5)
    assert accountant.get_epsilon(delta=1e-5, alphas=[2.0]) == pytest.approx(truth.upper, rel=1e-9)
    assert accountant.bracket(1e-5).upper == pytest.approx(truth.upper, rel=1e-9)
    with pytest.raises(NotApplicable, match="Poisson"):
        accountant.get_epsilon(1e-5, poisson=False)
    accountant.step(noise_multiplier=0.0, sample_rate=0.1)
    assert accountant.get_epsilon(1e-5) == math.inf


def test_dp_accountings_own_tests_pass():
    pytest.importorskip("dp_accounting")
    from absl.testing import absltest
    from dp_accounting import dp_event
    from dp_accounting import privacy_accountant_test as theirs
    from dp_accounting.privacy_accountant import NeighboringRelation

    from simulator.auditing.accountants import CertifiedDpAccountant

    class Ours(theirs.PrivacyAccountantTest):
        def _make_test_accountants(self):
            return [CertifiedDpAccountant(), CertifiedDpAccountant(NeighboringRelation.REPLACE_ONE)]

    result = absltest.unittest.TestResult()
    absltest.unittest.defaultTestLoader.loadTestsFromTestCase(Ours).run(result)
    assert result.testsRun >= 10
    assert not result.failures + result.errors
    event = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0))
    found = CertifiedDpAccountant().compose(event, 1000).bracket(1e-5)
    truth = Account().then(subsampled(gaussian(1.0), 0.01), 1000).epsilon(1e-5)
    assert (found.lower, found.upper) == (truth.lower, truth.upper)
    with pytest.raises(InvalidInput):
        CertifiedDpAccountant(NeighboringRelation.REPLACE_SPECIAL)
