"""Any two probability vectors, impossible outcomes among them, played as a table."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.mechanisms import FiniteMechanism
from simulator.theory.guarantees.pure import ApproxDP
from tests.helpers.exploring import examples
from tests.helpers.mechanism_cases import ALICE, EVERYONE, OTHERS, Discrete, chi_square, draws

relaxed = examples(150)


@dataclass(frozen=True)
class Table(FiniteMechanism):
    first: tuple
    second: tuple
    query: Any = ALICE
    epsilon: float = 1.0

    def guarantee(self, relation=None):
        return ApproxDP(0.0, 0.99)

    def probabilities(self, value_0, value_1, relation):
        return tuple(np.array((self.first, self.second)[int(v)]) for v in (value_0, value_1))

    def played(self):
        return self.pair(OTHERS, EVERYONE)


def vector(weights):
    return tuple((np.array(weights) / sum(weights)).tolist())


weights = st.one_of(st.just(0.0), st.floats(1e-6, 1.0))
tables = (
    st.integers(1, 7)
    .flatmap(lambda n: st.tuples(*[st.lists(weights, min_size=n, max_size=n)] * 2))
    .filter(lambda pair: min(map(sum, pair)) > 0)
    .map(lambda pair: Table(*map(vector, pair)))
)


@relaxed
@given(tables)
def test_losses_are_log_ratios(table):
    pair = table.played()
    for i, (p, q) in enumerate(zip(table.first, table.second, strict=True)):
        if p and q:
            assert pair.loss(i) == pytest.approx(math.log(p / q), abs=1e-13)
        elif p or q:
            assert pair.loss(i) == math.copysign(math.inf, p - q)


class Fixed:
    """A source of one number in [0, 1)."""

    def __init__(self, u):
        self.random = lambda: u


@relaxed
@given(tables, st.data())
def test_an_answer_is_the_first_outcome_whose_cumulated_probability_passes_the_draw(table, data):
    pair = table.played()
    for b, masses in enumerate((table.first, table.second)):
        cumulated = np.cumsum(masses)  # in the kernel's order: the very same floats
        ends = [0.0, 1.0, *cumulated]
        ends += [math.nextafter(end, 0.0) for end in ends[1:]]
        u = data.draw(st.sampled_from([end for end in ends if end < 1.0]))
        last = np.flatnonzero(masses)[-1]
        expected = min(np.searchsorted(cumulated, u, side="right"), last)
        assert pair.sample(b, Fixed(u)) == expected


@relaxed
@given(tables, st.sampled_from([-3.0, -1.0, -0.3, 0.0, 0.7, 20.0]))
def test_tilting_keeps_infinite_losses_and_tilts_the_rest(table, theta):
    with np.errstate(divide="ignore"):
        witness = Discrete(np.log(table.first), np.log(table.second))
    pair = table.played()
    finite, logs = witness.tilted(theta)
    psi, *cumulated = pair.tilted(theta)
    masses = np.diff([0.0, *cumulated])
    p0 = np.array(table.first)
    np.testing.assert_allclose(masses[~finite], p0[~finite], atol=1e-15)
    if finite.any():
        assert psi == pytest.approx(witness.psi(theta), rel=1e-12, abs=1e-12)
        share = np.exp(logs - logs.max())
        expected = p0[finite].sum() * share / share.sum()
        np.testing.assert_allclose(masses[finite], expected, atol=1e-14)


@relaxed
@given(tables, st.sampled_from([-0.5, 0.0, 0.4, 2.0]))
def test_the_law_has_the_same_hockey_stick(table, epsilon):
    law = table.law(OTHERS, EVERYONE)
    gains = np.array(table.first) - math.exp(epsilon) * np.array(table.second)
    assert law.delta(epsilon) == pytest.approx(np.maximum(gains, 0).sum(), abs=1e-13)
    assert law.reversed().delta(0.0) == pytest.approx(law.delta(0.0), abs=1e-13)


@examples(20)
@given(tables)
def test_draws_follow_the_table_and_never_the_impossible(table):
    # 40 tests of level 1e-6
    for b, p in enumerate((table.first, table.second)):
        seen = draws(table.played(), b, 1_000).astype(int)
        assert chi_square(np.bincount(seen, minlength=len(p)), np.array(p)) > 1e-6


class Extreme:
    """A source of uniforms at the ends of their range."""

    def __init__(self, u):
        self.u = u

    def random(self):
        return self.u


@relaxed
@given(tables)
def test_the_ends_of_the_uniforms_are_possible_answers(table):
    for b, p in enumerate((table.first, table.second)):
        for u in (0.0, np.nextafter(1.0, 0.0)):
            assert p[int(table.played().sample(b, Extreme(u)))] > 0
