"""Checks on plain values: what is no number is refused in one line, wherever it is given."""

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.adversaries import make
from simulator.doors.cli.output import note
from simulator.errors import InvalidInput
from simulator.foundations import validation

CHECKS = ["finite", "positive", "nonnegative", "probability_below_one", "open_probability", "point"]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("value", [True, False, np.True_, np.False_, "0.5", b"0.5", None, [0.5]])
def test_what_is_no_number_is_refused(check, value):
    """True was taken for 1: as a duration, for a second."""
    with pytest.raises(InvalidInput) as refusal:
        getattr(validation, check)("it", value)
    assert str(refusal.value) == f"it must be a number, not {value!r}"


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5), np.array(0.5)])
def test_a_number_is_a_float_whatever_holds_it(check, value):
    number = getattr(validation, check)("it", value)
    assert (type(number), number) == (float, 0.5)


def test_a_boolean_is_no_duration_and_no_parameter():
    game = make("press-when-ahead", PureDP(0.2), 3), PureDP(0.2), 3
    with pytest.raises(InvalidInput, match="seconds must be a number, not True"):
        simulate(*game, seconds=True, jobs=1)
    with pytest.raises(InvalidInput, match="epsilon must be a number, not True"):
        PureDP(True)
    with pytest.raises(InvalidInput, match="confidence must be a number, not False"):
        simulate(*game, 10, jobs=1, progress=False).tail(0.1, confidence=False)


def test_a_probability_below_one_is_not_one():
    assert validation.probability_below_one("it", 0.0) == 0.0
    for value in (1.0, -1e-9, 1.0 + 1e-9):
        with pytest.raises(InvalidInput, match=r"it must lie in \[0, 1\)"):
            validation.probability_below_one("it", value)


def test_a_long_whole_number_in_a_refusal_is_cut_and_a_seed_is_not(capsys):
    with pytest.raises(InvalidInput) as refused:
        validation.whole("rounds", -(10**400))
    assert str(refused.value) == "rounds must be at least 1, not -100000... (401 digits)"
    note(f"seed {2**128 - 1}, or {'7' * 40}")
    assert capsys.readouterr().err == f"seed {2**128 - 1}, or 777777... (40 digits)\n"


@pytest.mark.parametrize("value", [5e-324, 9e-301])
def test_a_false_alarm_of_which_no_share_can_be_taken_is_refused(value):
    """``verify`` divided by a share of it, which was 0."""
    with pytest.raises(InvalidInput, match=r"false_alarm must be at least 1e-300, not "):
        validation.false_alarm_of(value)
    assert validation.false_alarm_of(1e-300) == 1e-300
