"""Assertions on privacy for a test suite: they fail if a claim is violated, with the evidence.

The fixture ``dp`` of the pytest plugin has methods of the same names, which divide one false-alarm
budget. These functions are for other test runners; each has its own false-alarm probability.
"""

from simulator.auditing.testing.assertions import (
    PrivacyViolation,
    assert_accountant,
    assert_composition,
    assert_private,
)
from simulator.auditing.testing.pipelines import assert_pipeline

__all__ = [
    "PrivacyViolation",
    "assert_accountant",
    "assert_composition",
    "assert_pipeline",
    "assert_private",
]
