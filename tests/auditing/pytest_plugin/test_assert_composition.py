"""The assertion on an adaptive interaction: what it asks of the audit, and what a failure says."""

from types import SimpleNamespace

import pytest

from simulator import PureDP
from simulator.auditing import audits as auditing
from simulator.auditing.testing import PrivacyViolation, assert_composition
from simulator.errors import InvalidInput
from simulator.foundations.errors import BrokenPromise


def overspender(coins):
    """Never played here."""


def found(violated):
    event = SimpleNamespace(
        words="the sum of scores >= 2", favours=1, hits_0=3, hits_1=900, draws=1000,
        probability_0=0.003, probability_1=0.9,
    )  # fmt: skip
    return SimpleNamespace(
        violated=violated, claimed=PureDP(1.0), epsilon=5.0, at_delta=0.0, delta=0.8,
        at_epsilon=1.0, event=event, transcript=("round 1: asked", "round 2: asked again"),
        pair="experiments 0 and 1 of overspender", confidence=1.0 - 1e-6, reproducible=True,
        divergence="", advice=list, warnings=(), unaudited="",
        found=["epsilon >= 5 at delta = 0", "delta >= 0.8 at epsilon = 1"],
    )  # fmt: skip


@pytest.fixture
def asked(monkeypatch):
    """What the audit was asked, the answer that it gives, or the error that it raises."""
    call = SimpleNamespace(answer=found(False), error=None)

    def audit_composition(adversary, family, rounds, **options):
        call.arguments, call.options = (adversary, family, rounds), options
        if call.error is not None:
            raise call.error
        return call.answer

    monkeypatch.setattr(auditing, "audit_composition", audit_composition)
    return call


def test_everything_is_handed_on(asked):
    result = assert_composition(
        overspender, "pure:0.5", 2, claimed="approx:1.0,1e-6", samples=123, false_alarm=0.25,
        seed=7, filter="a filter",
    )  # fmt: skip
    assert result is asked.answer
    assert asked.arguments == (overspender, PureDP(0.5), 2)
    assert {**asked.options, "claimed": str(asked.options["claimed"])} == {
        "claimed": "approx:1.0,1e-06", "samples": 123, "confidence": 0.75, "seed": 7,
        "filter": "a filter",
    }  # fmt: skip


def test_a_violation_shows_a_view_round_by_round(asked):
    asked.answer = found(True)
    with pytest.raises(PrivacyViolation) as failed:
        assert_composition(overspender, "pure:0.5", 2, claimed="pure:1", replay=["again"])
    assert failed.value.result is asked.answer
    assert str(failed.value).splitlines() == [
        "overspender does not keep pure:1.0",
        "  played       experiments 0 and 1 of overspender",
        "  claimed      epsilon <= 1 at delta = 0",
        "  found        epsilon >= 5 at delta = 0",
        "               delta >= 0.8 at epsilon = 1",
        "  false alarm  with probability 1e-06 at most",
        "  event        the sum of scores >= 2",
        "  experiment 0 3 of 1,000 draws (0.003)",
        "  experiment 1 900 of 1,000 draws (0.9)",
        "  one view     of experiment 1",
        "               round 1: asked",
        "               round 2: asked again",
        "  replay       again",
    ]


def test_a_declared_loss_beyond_the_promise_is_a_failure(asked):
    asked.error = BrokenPromise("Laplace promised 0.2, a round lost 0.5")
    with pytest.raises(PrivacyViolation, match=r"a round lost 0\.5\n  replay +again$"):
        assert_composition(overspender, "pure:0.5", 2, claimed="pure:1", replay=["again"])


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"claimed": 1.0}, "claimed must be a guarantee"),
        ({"family": None}, "family must be a guarantee"),
        ({"false_alarm": 2.0}, "false_alarm must lie"),
    ],
)
def test_bad_input_gets_one_line(asked, changed, line):
    call = {"adversary": overspender, "family": "pure:0.5", "rounds": 2, "claimed": "pure:1"}
    with pytest.raises(InvalidInput, match=line) as refused:
        assert_composition(**call | changed)
    assert "\n" not in str(refused.value)
