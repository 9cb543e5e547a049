"""A law that is known by two others only: Laplace laws of a little less and a little more."""

from dataclasses import dataclass

import pytest

from simulator.theory import LaplaceLaw, compose_laws
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.enclosed_query import EnclosedQuery


@dataclass(frozen=True)
class Between(LaplaceLaw):
    """Its ends differ by the square of a step."""

    least_tolerance = 1e-4
    least_step = 1e-4

    def enclosed(self, step, tail_mass):
        return tuple(LaplaceLaw(self.epsilon * (1.0 + sign * step**2)) for sign in (-1, 1))


@pytest.mark.parametrize(("rounds", "tolerance"), [(1, 1e-5), (3, 1e-3)])
def test_a_law_between_two_others_is_answered_to_the_tolerance(rounds, tolerance):
    query = EnclosedQuery(CountedLaws.of([(Between(0.5), rounds)]), tolerance)
    exact = compose_laws([(LaplaceLaw(0.5), rounds)], 1e-9)
    found, true = query.epsilon(1e-2), exact.epsilon(1e-2)
    assert found.lower <= true.upper
    assert true.lower <= found.upper
    assert found.width <= tolerance * found.upper
    found, true = query.delta(0.2), exact.delta(0.2)
    assert found.lower <= true.upper
    assert true.lower <= found.upper
    assert found.width <= tolerance * found.upper
