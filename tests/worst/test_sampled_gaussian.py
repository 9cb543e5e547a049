"""The family of a Gaussian on a Poisson sample: both directions in one menu."""

import math

import numpy as np
import pytest

from simulator.data.databases import REPLACE_ONE
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.bounds.menu_recursion import menu_delta
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.worst.menu_parsing import parse_family, parse_menu
from simulator.worst.played import agrees, played
from simulator.worst.policy import Policy
from simulator.worst.search import worst_case

SIGMA, RATE, ROUNDS, EPSILON = 1.0, 0.1, 6, 0.6


@pytest.fixture(scope="module")
def found():
    family = parse_family(f"subsampled-gaussian:{SIGMA},{RATE}")
    return worst_case(family, epsilon=EPSILON, rounds=ROUNDS, tolerance=5e-3, seconds=20)


def test_the_ends_are_those_of_the_theory(found):
    law = PoissonSubsampledLaw(GaussianLaw(1.0 / SIGMA), RATE)
    theory = menu_delta((((law, law.reversed()), ROUNDS),), EPSILON, work=1e6)
    assert found.delta.lower <= theory.upper
    assert theory.lower <= found.delta.upper
    for alone in (law, law.reversed()):  # a fixed direction is seen to fall short
        assert menu_delta((((alone,), ROUNDS),), EPSILON, work=1e6).upper < found.delta.lower


def test_the_policy_has_the_lower_end(found):
    assert found.policy.value == pytest.approx(found.delta.lower, rel=1e-9)


@pytest.mark.nightly
def test_the_policy_plays_to_the_lower_end(found):
    measured = played(found.policy, 40_000, seed=3)  # the interval misses once in twenty seeds
    assert agrees(measured, found.delta)


def test_the_policy_removes_until_the_loss_has_passed_epsilon(found):
    """And adds from then on."""
    policy = found.policy
    assert policy.labels[0].startswith("subsampled-gaussian:")
    assert policy.labels[1].startswith("subsampled-gaussian-exchanged:")
    middle, z = policy.table[ROUNDS // 2], policy.grid.z
    near = (np.abs(z) < 0.3) & (np.abs(z) > 0.05)
    assert (middle[near & (z < 0)] == 1).all()
    assert (middle[near & (z > 0)] == 0).all()


def test_the_policy_moves_by_the_loss_of_each_answer(found):
    policy = found.policy
    for option, (database_0, database_1, mechanism) in enumerate(policy.menu):
        pair = mechanism.pair(database_0, database_1, policy.relation)
        moves = policy.moves_of(option)
        for answer in (-30.0, -2.0, 0.3, 1.7, 6.0, 40.0):
            inside = min(max(answer, moves.low), moves.high)
            own = moves.at_low + (inside - moves.low) * moves.slope
            steps = moves.scale * math.log1p(moves.rate * math.expm1(own))
            assert steps * policy.grid.step == pytest.approx(pair.loss(answer), abs=1e-9)


def test_the_policy_is_saved_and_read(found, tmp_path):
    path = found.policy.save(tmp_path / "worst.py")
    values = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), values)  # our own file
    again = values["policy"]
    assert isinstance(again, Policy)
    assert again.menu == found.policy.menu
    assert np.array_equal(again.table, found.policy.table)


def test_a_sample_needs_its_relation_and_two_numbers():
    with pytest.raises(NotApplicable, match="replace-one"):
        worst_case("subsampled-gaussian:1,0.1", epsilon=0.5, rounds=2, relation=REPLACE_ONE)
    with pytest.raises(InvalidInput, match="needs rate: write subsampled-gaussian:SIGMA,RATE"):
        parse_menu("subsampled-gaussian:1")
    with pytest.raises(InvalidInput, match="rate"):
        parse_menu("subsampled-gaussian:1,2")
