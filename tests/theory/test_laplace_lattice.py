"""Laplace rounds on a lattice in closed form: against multiprecision, and against the line."""

import dataclasses
import math
from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.theory import GaussianLaw, LaplaceLaw, compose_laws
from simulator.theory.pld.composition_query import CompositionQuery
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.laplace_lattice import LaplaceLatticeTail
from tests.helpers.exploring import examples


def rounds_of(epsilons):
    return CountedLaws.of([(LaplaceLaw(epsilon), 1) for epsilon in epsilons])


def exact_delta(epsilons, target):
    """Delta in fifty digits: 2^-k exp((l - sum)/2) times atoms and steps, multiplied out."""
    with mpmath.workdps(50):
        terms = {(Fraction(0), 0): mpmath.mpf(1)}
        for epsilon in map(Fraction, epsilons):
            longer = defaultdict(lambda: mpmath.mpf(0))
            for (shift, steps), factor in terms.items():
                for sign in (1, -1):
                    longer[shift + sign * epsilon, steps] += factor
                    longer[shift + sign * epsilon, steps + 1] -= sign * factor / 2
            terms = longer

        def real(number):
            return mpmath.mpf(number.numerator) / number.denominator

        top, total = real(sum(map(Fraction, epsilons))), mpmath.mpf(0)
        target = mpmath.mpf(target)

        def gain(loss):
            return mpmath.exp(loss / 2) - mpmath.exp(target - loss / 2)

        for (shift, steps), factor in terms.items():
            start = real(shift)
            if steps == 0:
                total += factor * gain(start) if start > target else 0
            elif max(start, target) < top:
                total += factor * mpmath.quad(
                    lambda loss, start=start, steps=steps: (
                        (loss - start) ** (steps - 1) / mpmath.factorial(steps - 1) * gain(loss)
                    ),
                    [max(start, target), top],
                )
        return total * mpmath.exp(-top / 2) / 2 ** len(epsilons)


CASES = [
    [0.1, 0.2],
    [0.1, 0.2, 0.3, 0.2],
    [0.05, 0.07, 0.11, 0.13, 0.06],
    [1.0, 0.5, 0.25, 0.25, 1.0],
    [1e-9, 3e-9, 2e-9],
]


@pytest.mark.sampled
@pytest.mark.parametrize("epsilons", CASES)
@pytest.mark.parametrize("share", [-0.9, -0.31, 0.0, 0.25, 0.5, 0.7001, 0.9, 0.999])
def test_its_delta_is_what_fifty_digits_say(epsilons, share):
    tail = LaplaceLatticeTail.of(rounds_of(epsilons))
    target = share * sum(epsilons)
    found, exact = tail.at(target), exact_delta(epsilons, target)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 1e-12 * float(exact) / (1 - share) ** 2 + 1e-15
    assert found.slope < 0


@pytest.mark.sampled
@pytest.mark.parametrize("epsilons", CASES[1:4])
def test_a_term_left_out_or_a_step_too_short_is_caught(epsilons):
    tail = LaplaceLatticeTail.of(rounds_of(epsilons))
    target = 0.25 * sum(epsilons)
    exact = exact_delta(epsilons, target)
    fewer = tail.upper.coefficients.copy()
    fewer[2] = 0.0
    assert dataclasses.replace(tail.upper, coefficients=fewer).at(target).upper < exact
    shorter = dataclasses.replace(tail.upper, step=tail.upper.step * (1 - 1e-9))
    assert shorter.at(target).upper < exact


@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=24),
    st.floats(1e-3, 0.04),
    st.sampled_from([0.2, 1e-3, 1e-9, 1e-30]),
)
@examples(15)
def test_the_line_says_the_same(multiples, unit, delta):
    parts = rounds_of([unit * multiple for multiple in multiples])
    found = CompositionQuery(parts, 1e-10).epsilon(delta)
    query = CompositionQuery(parts, 1e-5)
    query.__dict__["_direct"] = None
    wide = query.epsilon(delta)
    assert wide.lower <= found.upper
    assert found.lower <= wide.upper


def test_far_tails_keep_their_digits():
    laws = [(LaplaceLaw(round(0.05 + 0.01 * i, 12)), 1) for i in range(20)]
    for delta in (0.1, 1e-6, 1e-40, 1e-200):
        found = compose_laws(laws, 1e-12).epsilon(delta)
        assert found.width <= 2e-12 * found.upper
        assert compose_laws(laws, 1e-12).delta(found.upper).lower <= delta


def test_masses_sum_to_one():
    curve = LaplaceLatticeTail.of(rounds_of(CASES[2])).upper
    _, masses = curve._masses
    assert math.fsum(masses.ravel()) == pytest.approx(1.0, rel=1e-14)
    assert (masses >= 0.0).all()


def test_there_is_none_of_other_rounds():
    assert LaplaceLatticeTail.of(CountedLaws.of([(LaplaceLaw(0.1), 3)])) is None
    assert LaplaceLatticeTail.of(rounds_of([0.1, 0.1 * math.pi])) is None
    assert LaplaceLatticeTail.of(rounds_of([0.1 * i for i in range(1, 66)])) is None
    assert LaplaceLatticeTail.of(rounds_of([2.5, 5.0])) is None
    mixed = CountedLaws.of([(LaplaceLaw(0.1), 3), (LaplaceLaw(0.2), 1), (GaussianLaw(0.1), 3)])
    assert LaplaceLatticeTail.of(mixed) is None
    assert LaplaceLatticeTail.of(rounds_of(np.array([0.1, 0.2]))) is not None
