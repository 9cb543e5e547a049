"""No bound overflows, warns, or answers nonsense, however extreme the question."""

import itertools
import math
import warnings

import pytest

from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    RenyiDP,
    bounds_for,
)

FAMILIES = {
    "pure": PureDP,
    "approx": lambda value: ApproxDP(value, 1e-9),
    "gaussian": GaussianDP,
    "zcdp": ZCDP,
    "range": BoundedRange,
    "renyi": lambda value: RenyiDP(3.0, value),
}
PARAMETERS = (0.0, 1e-100, 1e-9, 0.1, 50.0, 1e6, 1e100)


def asked_of(family, parameter):
    for rounds in (1, 1000, 10**9):
        for asked in bounds_for(Composition.repeat(FAMILIES[family](parameter), rounds)):
            if not asked.bound.costly and (rounds < 1000 or "non-adaptive" not in asked.name):
                yield asked


def ask(asked, delta):
    try:
        return asked.epsilon(delta), ""
    except DpcomposeError as refusal:
        return None, str(refusal)


@pytest.mark.sampled
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("parameter", PARAMETERS)
def test_every_answer_is_a_number_or_one_clear_line(family, parameter):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for asked in asked_of(family, parameter):
            for delta in (0.0, 1e-300, 1e-30, 0.3, 0.999):
                answer, refusal = ask(asked, delta)
                assert "\n" not in refusal
                if answer is not None:
                    assert 0.0 <= answer.lower <= answer.value <= answer.upper
                    assert math.isfinite(answer.value), asked.name
            for epsilon in (0.0, 1e-9, 1e3, 1e300, math.inf):
                answer = asked.delta(epsilon)
                assert 0.0 <= answer.lower <= answer.value <= answer.upper <= 1.0


def test_delta_zero_is_pure_privacy():
    for asked in bounds_for(Composition.repeat(PureDP(0.1), 10)):
        if asked.kind != "approximation":
            assert asked.epsilon(0.0).value == pytest.approx(1.0)


@pytest.mark.nightly
def test_curves_fall():
    grid = [10.0**e for e in range(-3, 4)]
    for kind, rounds in itertools.product((PureDP, GaussianDP, BoundedRange), (1, 30)):
        for asked in bounds_for(Composition.repeat(kind(0.3), rounds)):
            values = [asked.delta(epsilon).value for epsilon in grid]
            assert values == sorted(values, reverse=True), asked.name


def test_parameters_beyond_floats_are_refused():
    for kind in (PureDP, GaussianDP, ZCDP, BoundedRange):
        with pytest.raises(InvalidInput):
            kind(1e101)
