"""Noise that is converted before it meets data: hidden by it is not proven, whatever it is for."""

import pytest

from simulator.auditing import record
from simulator.auditing.testing import PrivacyViolation, assert_pipeline
from tests.auditing.pipelines.escaped import HONEST


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("pipeline", HONEST, ids=lambda each: each.__name__)
@pytest.mark.parametrize("pair", [([1], [0, 1]), ([0, 1], [1])], ids=["less", "more"])
def test_what_converted_noise_hides_is_no_violation(pipeline, pair, seed):
    assert not record(pipeline, *pair, claimed="pure:1", seed=seed).violated


def test_converted_noise_elsewhere_hides_no_leak():
    def pipeline(rows, rng):
        small = float(rng.laplace()) > 100.0
        return small, min(float(5.0 + rng.laplace()), len(rows) - 11.5)

    assert record(pipeline, [1] * 12, [1] * 11, claimed="pure:1").violated


def test_an_answer_that_converted_noise_seldom_moves_is_not_proven():
    """It is one on most draws of either database, and on each as on the other on some."""

    def pipeline(rows, rng):
        return len(rows) if float(rng.laplace()) < 3.0 else 0

    assert record(pipeline, [1] * 2, [1], claimed="pure:1").violated
    assert not record(lambda rows, rng: len(rows) * (float(rng.laplace()) > 9.0), [1], [],
                      claimed="pure:1").violated  # fmt: skip


def test_what_is_raised_is_what_failed():
    """A failure that needs its seed is shown with it, and found again by the report's own."""

    def pipeline(rows, rng):
        total = sum(rows) + rng.laplace(scale=50.0)
        return total if float(total) < 40.0 else (total, len(rows))

    with pytest.raises(PrivacyViolation) as caught:
        assert_pipeline(pipeline, [1.0] * 20, claimed="pure:1")
    report = caught.value.result
    assert report.violated
    again = record(pipeline, *report.databases, claimed="pure:1", seed=report.seed, again=False)
    assert again.violated
