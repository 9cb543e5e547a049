"""Strata of an automaton: their moments, their plays and their measures against closed forms."""

import math

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.adversaries import rule
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.engine.enumerated.covering import CoveringEngine
from simulator.engine.enumerated.strata import Strata, decades, significance, thresholds
from simulator.engine.sampling import Covering, Stratum, parse_sampling
from simulator.errors import InvalidInput
from simulator.mechanisms import Laplace, RandomizedResponse
from tests.helpers.gates import GATES


def engine_of(gate, b=0):
    menu = Menu.of(gate.rule, PureDP(5.0), ADD_REMOVE, gate.filter_, exchanged=bool(b))
    return CoveringEngine(menu, gate.rounds)


def ranges(strata, most):
    firsts = thresholds(strata.law, most)
    return list(zip(firsts, [*firsts[1:], None]))


@pytest.mark.parametrize("name", GATES)
def test_the_moments_of_the_strata_add_up_to_those_of_all_plays(name):
    engine = engine_of(GATES[name])
    law = GATES[name].law()
    for most in (12, 2):
        parts = [engine.strata.of(*each) for each in ranges(engine.strata, most)]
        assert 1 < len(parts) <= most
        for theta in (0.0, 0.7, 3.0):
            expected = np.logaddexp.reduce([math.log(p) + theta * x for x, p in law.items()])
            found = [part.log_moment(theta, quick=False) for part in parts]
            assert np.logaddexp.reduce(found) == pytest.approx(expected, abs=1e-9)
            quick = [part.log_moment(theta) for part in parts]
            assert np.logaddexp.reduce(quick) == pytest.approx(expected, abs=1e-9)


def test_the_open_gate_is_a_stratum_of_its_own():
    for name in ("by an answer", "by a coin", "late", "36 heads"):
        gate = GATES[name]
        strata = engine_of(gate).strata
        rarest = ranges(strata, 12)[-1]
        opened = strata.of(*rarest).log_moment(0.0)
        # with an open gate come plays of some rare losses: at most ten times as probable in all
        assert opened == pytest.approx(math.log(gate.scenarios[-1][0]), abs=math.log(10.0)), name
        assert strata.law.sum() == pytest.approx(1.0, abs=1e-12)


def test_rarity_is_that_of_what_is_at_most_as_probable():
    masses = np.array([0.5, 1e-9, 1e-9, 0.0, 0.5 - 2e-9])
    assert significance(masses).tolist() == pytest.approx([1.0, 2e-9, 2e-9, 0.0, 0.5])
    assert decades(np.array([1.0, 0.5, 1e-9, 1e-3, 0.0])).tolist() == [0, 0, 9, 3, 16]


def test_a_game_without_rare_branches_has_one_stratum():
    def press(state, i, answer, coins):
        return state, 1 if answer > 0.5 else 0

    gate = GATES["by a coin"]
    menu = Menu.of(type(gate.rule)(press, gate.rule.menu, 0), PureDP(5.0), ADD_REMOVE)
    strata = Strata(CoveringEngine(menu, 30).moments)
    assert strata.law.tolist() == [1.0] + [0.0] * 16
    assert thresholds(strata.law, 12) == [0]


def test_ordinary_play_does_not_become_rare_with_time():
    """Streaks of answers come and go over 400 rounds; one of 30 has a probability of 1e-5."""

    def streak(state, i, answer, coins):
        if i > 0 and state < 30:
            state = state + 1 if answer > 0.5 else 0
        return state, 3 if state == 30 else 0

    gate = GATES["by a coin"]
    menu = Menu.of(type(gate.rule)(streak, gate.rule.menu, 0), PureDP(5.0), ADD_REMOVE)
    law = Strata(CoveringEngine(menu, 400).moments).law
    assert law[:4].sum() > 0.9
    assert 0.0 < law[-8:].sum() < 1e-3


def test_the_weights_of_a_stratified_measure_are_those_of_the_experiment():
    """Means of W and W 1{L > 10} within 6 standard errors, and no weight beyond its bound."""
    gate = GATES["two in sequence"]
    engine = engine_of(gate)
    firsts = thresholds(engine.strata.law, 12)
    strata = tuple(Stratum(least, 0.2, 1.0 / len(firsts)) for least in firsts)
    signed, log_weights = engine.play(Covering.stratified(strata), np.random.default_rng(1), 60_000)
    for threshold in (-math.inf, 10.0, 30.0):
        weights = np.exp(log_weights) * (signed > threshold)
        error = weights.std() / math.sqrt(len(weights))
        truth = gate.tail(threshold)
        assert abs(weights.mean() - truth) < 6.0 * error, threshold
        assert error < 0.05 * truth or threshold == 30.0
    shares_left_out = (strata[0]._replace(share=1.0),)
    alone, log_w = engine.play(Covering(0.2, shares_left_out), np.random.default_rng(1), 60_000)
    assert np.array_equal(alone, engine.play(Covering(0.2), np.random.default_rng(1), 60_000)[0])
    assert np.exp(log_w).mean() == pytest.approx(1.0, abs=0.1)


def test_a_stratified_measure_reads_back_from_its_text():
    measure = Covering.stratified((Stratum(0, 1.5, 0.75), Stratum(9, 0.0, 0.25)))
    assert str(measure) == "covering:0,1.5,0.75,9,0.0,0.25"
    assert parse_sampling(str(measure)) == measure
    assert Covering.stratified((Stratum(0, 1.5, 1.0),)) == Covering(1.5)
    gate = GATES["by an answer"]
    result = simulate(
        gate.rule, PureDP(5.0), gate.rounds, 2000, sampling=measure, experiments=[0], jobs=1,
        progress=False,
    )  # fmt: skip
    assert result.delta(20.0).upper < 1e-8


@pytest.mark.parametrize(
    "text",
    ["covering:0,1", "covering:0,1,0.5,9,1", "covering:1,1,1,2,1,0", "covering:0,1,0.9,9,1,0.3",
     "covering:0.5,1,0.5,9,1,0.5", "covering:3,1,0.5,9,1,0.5", "covering:0,-1,0.5,9,1,0.5"],
)  # fmt: skip
def test_bad_strata_are_refused(text):
    with pytest.raises(InvalidInput):
        parse_sampling(text)


def test_a_stratum_without_plays_is_refused():
    gate = GATES["by an answer"]
    measure = parse_sampling("covering:0,1,0.5,3,1,0.25,5,1,0.25")
    with pytest.raises(InvalidInput, match="no play of this game"):
        simulate(gate.rule, PureDP(5.0), gate.rounds, 10, sampling=measure, progress=False)


def test_rounds_whose_states_grow_in_number_are_played():
    """Each round is a run of its own, which leads to nodes that its own round does not have."""

    @rule(menu=[(WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)),
                (WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.2))], state=0)  # fmt: skip
    def growing(state, i, answer, coins):
        count = state + (i * i % 3) * (1 if answer > 0.7 else 0)
        return count, 1 if count % 5 > 1 else 0

    engine = CoveringEngine(Menu.of(growing, PureDP(0.2), ADD_REMOVE), 12)
    assert len(engine.moments.automaton.segments) > 6
    assert engine.strata.law.sum() == pytest.approx(1.0, abs=1e-12)
    whole = engine.moments.log_moment(3.0)
    parts = [engine.strata.of(*each) for each in ranges(engine.strata, 16)]
    assert np.logaddexp.reduce(
        [part.log_moment(3.0, quick=False) for part in parts]
    ) == pytest.approx(whole, abs=1e-9)


def test_rounds_whose_states_fall_in_number_are_played():
    """A count is kept only up to one, after it was kept up to nine."""

    def forgetting(state, i, answer, coins):
        count = state + (i * i % 3) * (1 if answer > 0.5 else 0)
        if i > 12:
            count = min(count, 1)
        return count, 3 if count == 9 else 0

    gate = GATES["by a coin"]
    menu = Menu.of(type(gate.rule)(forgetting, gate.rule.menu, 0), PureDP(5.0), ADD_REMOVE)
    engine = CoveringEngine(menu, 16)
    nodes = [leaves.nodes for leaves in engine.moments.automaton.segments]
    assert nodes[12:14] == [9, 2]
    assert engine.strata.law.sum() == pytest.approx(1.0, abs=1e-12)


def test_pairs_that_a_run_of_rounds_adds_do_not_shift_those_that_lead_to_it():
    """A sum of 30 answers opens the gate; runs of equal rounds follow one another."""

    def by_a_sum(state, i, answer, coins):
        if 0 < i <= 30:
            state += 1 if answer > 0.5 else 0
        return state, 3 if i > 30 and state >= 28 else 0

    gate = GATES["by a coin"]
    menu = Menu.of(type(gate.rule)(by_a_sum, gate.rule.menu, 0), PureDP(5.0), ADD_REMOVE)
    engine = CoveringEngine(menu, 34)
    for theta in (0.0, 0.5, 2.0):
        whole = engine.moments.log_moment(theta)
        parts = [engine.strata.of(*each) for each in ranges(engine.strata, 12)]
        found = np.array([part.log_moment(theta, quick=False) for part in parts])
        assert np.logaddexp.reduce(found) == pytest.approx(whole, abs=1e-9)
    masses = np.exp([part.log_moment(0.0, quick=False) for part in parts])
    firsts = [first for first, _ in ranges(engine.strata, 12)]
    assert masses == pytest.approx(np.add.reduceat(engine.strata.law, firsts), rel=1e-9)
