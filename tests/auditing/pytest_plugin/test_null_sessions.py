"""Ten thousand sessions of mechanisms that just keep their claims: as many alarms as stated.

The audit here is of exact size, so that alarms come as often as the division of the budget allows;
that the real audit's size is at most what is stated is a matter of its own tests.
"""

import numpy as np
import pytest
from scipy.stats import binom

from simulator import PureDP
from simulator.auditing.audits.spending import Spending, part
from simulator.auditing.testing import PrivacyViolation, assert_private
from tests.auditing.pytest_plugin import stub_audit

BUDGET = 0.05
SESSIONS = 10_000
CHANCE = 1e-9
"""Of either binomial limit below, were the sessions drawn anew."""


def on_the_edge(bit, n, rng):
    return rng.random(n) < 1.0 / (1.0 + np.exp(-1.0))


def alarms(processes, assertions, seed):
    """In how many of the sessions there was an alarm, in any process, at any assertion."""
    found = 0
    for session in range(SESSIONS):
        failed = False
        for process in range(processes):
            share = part(process, processes - 1) if processes > 1 else 1.0  # the last replaces one
            running = Spending(BUDGET * share)
            for number in range(assertions):
                try:
                    assert_private(
                        on_the_edge, 1, 0, claimed=PureDP(1.0), samples=20,
                        false_alarm=running.spend(),
                        seed=((seed * SESSIONS + session) * 8 + process) * 64 + number,
                    )  # fmt: skip
                except PrivacyViolation:
                    failed = True
        found += failed
    return found


@pytest.mark.nightly
def test_one_process_with_few_assertions(monkeypatch):
    stub_audit.install(monkeypatch)
    found = alarms(1, 3, seed=0)
    running = Spending(BUDGET)
    clean = np.prod([1.0 - running.spend() for _ in range(3)])
    assert binom.ppf(CHANCE, SESSIONS, 1.0 - clean) <= found
    assert found <= binom.isf(CHANCE, SESSIONS, 1.0 - clean)
    assert found <= binom.isf(CHANCE, SESSIONS, BUDGET)


@pytest.mark.nightly
def test_two_processes_one_of_which_replaces_the_other(monkeypatch):
    stub_audit.install(monkeypatch)
    found = alarms(2, 3, seed=1)
    assert 0 < found <= binom.isf(CHANCE, SESSIONS, BUDGET)


@pytest.mark.nightly
def test_the_count_would_see_a_budget_that_is_not_divided(monkeypatch):
    stub_audit.install(monkeypatch)
    monkeypatch.setattr(Spending, "spend", lambda self: self.budget)
    assert alarms(1, 3, seed=2) > binom.isf(CHANCE, SESSIONS, BUDGET)
