"""Assertions on privacy for a test suite: they fail when a claim is broken, and say how it shows.

The fixture ``dp`` of the pytest plugin has methods of the same names, which divide one false-alarm
budget; these functions are for other test runners, and state their own.
"""

from simulator.trials.testing.assertions import (
    PrivacyViolation,
    assert_accountant,
    assert_composition,
    assert_private,
)

__all__ = ["PrivacyViolation", "assert_accountant", "assert_composition", "assert_private"]
