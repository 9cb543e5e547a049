"""A helper that a user compiled before a global changed does not play on with the old value."""

import numba
import pytest

from simulator import PureDP, RandomizedResponse, simulate
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.identity.compiled_helpers import renew_compiled
from simulator.identity.fingerprint import Walk

BOLD = False


@numba.njit
def is_bold():
    return BOLD


@numba.njit
def chosen():
    return 1.0 if is_bold() else 0.1


def ask(coins):
    while True:
        yield WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, chosen())


@pytest.mark.parametrize("compiled_before", [True, False])
def test_a_changed_global_reaches_the_compiled_helper_of_a_helper(monkeypatch, compiled_before):
    for bold in (False, True, False):
        if compiled_before:
            chosen()  # by the user, with the value of the time before
        monkeypatch.setitem(globals(), "BOLD", bold)
        result = simulate(ask, PureDP(1.0), 3, 4, seed=1, jobs=1, progress=False)
        largest = max(abs(result.losses(0)))
        assert largest in ((1.0, 3.0) if bold else (pytest.approx(0.1), pytest.approx(0.3)))


def walked(value):
    walk = Walk()
    walk.digest(value)
    return walk


def test_what_has_not_changed_is_not_compiled_again():
    chosen()
    renew_compiled(walked(ask))
    assert renew_compiled(walked(ask)) == []
