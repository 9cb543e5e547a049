"""Every adversary of the library does what its paragraph says, on views that were kept.

Behaviour is read off replays: the challenges that the coins and the answers of a view reproduce.
"""

import itertools
import math
import warnings

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.adversaries.contract import check_challenge
from simulator.adversaries.registry import _unloaded, entries, make, pure_budget
from simulator.analysis.simulate import simulate
from simulator.analysis.verification import library_adversaries
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.databases import ADD_REMOVE
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.compiled.programs import program_engine
from simulator.engine.sampling import Tilted
from simulator.engine.specification import (
    LARGE_BLOCK_ROUNDS,
    SMALL_BLOCK_ROUNDS,
    Specification,
)
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import Exponential
from simulator.theory import parse_guarantee
from tests.helpers.games import press_when_ahead

FAMILY = PureDP(0.4)
NAMES = [entry.name for entry in entries() if entry.plays_in(FAMILY)]
OF_ONE_KIND = {"dp-sgd": "subsampled-gaussian:1,0.1"}
"""Adversaries that play in families of one kind alone, with such a family."""
FAMILIES = ("pure:0.4", "approx:0.4,1e-3", "gdp:0.5", "zcdp:0.1", "range:0.5", "renyi:2,0.1")
BIG = 3.0
"""A budget at which one answer says much, so that every branch is taken within few rounds."""


def replayed(name, rounds=40, trials=6):
    """(answers, challenges, round losses) of every kept view; a rule is driven uncompiled."""
    family = PureDP(BIG)
    adversary = make(name, family, rounds)
    result = simulate(
        lambda coins: adversary(coins), family, rounds, trials, seed=2, jobs=1, keep_views=trials
    )
    for view in result.views:
        replay = result.replay(view)
        assert replay.loss == result.losses(view.experiment)[view.trial]
        yield view.answers, replay.challenges, replay.round_losses


def epsilons(challenges):
    return [challenge.mechanism.epsilon for challenge in challenges]


# --- all of them --------------------------------------------------------------------------------


def test_the_library_is_large_enough_and_of_generators_that_are_read():
    made = {name: make(name, FAMILY, 10) for name in NAMES}
    assert len(made) >= 10
    for name, adversary in made.items():
        assert adversary.name == name
        assert not isinstance(adversary, Rule)
        s = Specification(adversary, FAMILY, 10, 10)
        assert s.is_read, s.program
        assert s.program.name == name


def test_an_adversary_that_is_not_read_says_why():
    """The check above can fail. What depends on the machine is in no size of a block."""
    answers = []

    def unread(coins):
        while True:
            answers.append((yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)))

    s = Specification(unread, FAMILY, 1000, 10**6)
    assert "test_library.py" in s.program
    assert s.block_size == SMALL_BLOCK_ROUNDS // 1000
    users = Specification(press_when_ahead, FAMILY, 1000, 10**6)
    assert users.is_read
    assert users.block_size == SMALL_BLOCK_ROUNDS // 1000
    ours = Specification(make("press-when-ahead", FAMILY, 1000), FAMILY, 1000, 10**6)
    assert ours.block_size == LARGE_BLOCK_ROUNDS // 1000


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "tilted"])
@pytest.mark.parametrize("name", NAMES)
def test_each_plays_compiled_as_it_plays_interpreted(name, plain):
    sampling = None if plain else Tilted(0.5)
    s = Specification(
        make(name, FAMILY, 40), FAMILY, 40, 60, seed=4, keep_views=60, sampling=sampling
    )
    engine = program_engine(s)
    for b in (0, 1):
        compiled, interpreted = engine.play_block(s, b, 0), play_as_generator(s, b, 0)
        assert compiled.losses.tobytes() == interpreted.losses.tobytes()
        assert compiled.views == interpreted.views
        if not plain:
            assert compiled.log_weights.tobytes() == interpreted.log_weights.tobytes()


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_each_has_a_paragraph_that_opens_with_one_sentence(entry):
    assert entry.summary.endswith(".")
    assert len(entry.summary) <= 100
    assert len(entry.about.split()) >= 30


@pytest.mark.parametrize("text", FAMILIES)
@pytest.mark.parametrize("name", NAMES)
def test_each_keeps_to_every_family_that_it_accepts(name, text):
    """Hand it answers of every size: whatever it asks lies within the family."""
    family = parse_guarantee(text)
    adversary = make(name, family, 30)
    answers = np.random.default_rng(5)
    for trial in range(3):
        playing = adversary(np.random.default_rng(trial))
        challenge = next(playing)
        for _ in range(30):
            check_challenge(challenge, family, ADD_REMOVE)
            challenge = playing.send(float(answers.choice([0.0, 1.0, -7.0, 7.0, 23.5])))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_what_plays_in_families_of_one_kind_refuses_others_in_one_line(entry):
    if entry.name not in OF_ONE_KIND:
        assert entry.plays_in(FAMILY)
        return
    family = parse_guarantee(OF_ONE_KIND[entry.name])
    assert entry.plays_in(family)
    assert entry.make(family, 3).name == entry.name
    for text in FAMILIES:
        assert not entry.plays_in(parse_guarantee(text))
        with pytest.raises(InvalidInput, match=f"{entry.name} plays in families .* not in "):
            entry.make(parse_guarantee(text), 3)


@pytest.mark.sampled
@pytest.mark.usefixtures("compiles")
@pytest.mark.parametrize("name", NAMES)
def test_each_compiles_without_complaint(name, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = simulate(make(name, FAMILY, 20), FAMILY, 20, 50, jobs=1)
    assert capsys.readouterr().err == ""
    assert all(np.abs(result.losses(b)).max() <= 20 * 0.4 * (1 + 1e-12) for b in (0, 1))


@pytest.mark.parametrize("text", FAMILIES)
def test_the_pure_budget_is_what_the_family_states_or_else_all_that_it_allows(text):
    family = parse_guarantee(text)
    budget = pure_budget(family)
    assert PureDP(budget).implies(family)
    stated = family.core.pure_epsilon == budget
    assert stated or not PureDP(budget * (1 + 1e-6)).implies(family)


# --- each by itself -----------------------------------------------------------------------------


def test_fixed_worst_case_never_changes_its_question():
    for _, challenges, losses in replayed("fixed-worst-case"):
        assert set(challenges) == {(WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, BIG))}
        assert {abs(loss) for loss in losses} == {BIG}


def test_press_when_ahead_doubles_epsilon_after_an_answer_for_her_presence():
    for answers, challenges, _ in replayed("press-when-ahead"):
        stakes = epsilons(challenges)
        assert stakes[0] == BIG / 2
        for answer, stake in zip(answers, stakes[1:]):
            assert stake == (BIG if answer > 0.5 else BIG / 2)
        assert len(set(stakes)) == 2


def test_double_when_behind_doubles_while_the_evidence_stands_against_absence():
    levels = set()
    for answers, challenges, _ in replayed("double-when-behind"):
        evidence, before = 0, BIG / 16
        for answer, stake, following in zip(
            answers, epsilons(challenges), epsilons(challenges)[1:]
        ):
            assert stake == before
            evidence += (1 if answer == 0.0 else -1) * round(16 * stake / BIG)
            before = min(2 * stake, BIG) if evidence < 0 else BIG / 16
            assert following == before
            levels.add(following)
    assert levels == {BIG / 2**i for i in range(5)}


def test_stop_when_sure_asks_harmless_questions_from_then_on():
    stopped = 0
    for _, challenges, losses in replayed("stop-when-sure", rounds=60):
        harmless = [pair.database_0 == pair.database_1 for pair in challenges]
        first = harmless.index(True) if True in harmless else len(harmless)
        assert all(harmless[first:])
        assert not any(losses[first:])
        assert first > 0
        sure = 1.5 * BIG * math.sqrt(60)
        assert all(abs(total) < sure + 1e-9 for total in np.cumsum(losses[: first - 1]))
        if first < len(harmless):
            stopped += 1
            assert abs(sum(losses[:first])) >= sure * (1 - 1e-12)
    assert stopped > 5


def test_budget_splitter_spends_less_and_less():
    for _, challenges, _ in replayed("budget-splitter"):
        spent = epsilons(challenges)
        assert spent == pytest.approx([BIG / math.sqrt(i + 1) for i in range(40)])
        assert spent == sorted(spent, reverse=True)


def test_database_changer_asks_another_hospital_every_round():
    choices = set()
    for _, challenges, _ in replayed("database-changer"):
        for challenge, following in itertools.pairwise(challenges):
            assert challenge.database_0 != following.database_0
        for challenge in challenges:
            assert challenge.database_1 == challenge.database_0.add(("alice", "diabetes"))
            choices.add(challenge.database_0)
    assert len(choices) == 8
    overlaps = [
        any(first.count_of(record) for record, _ in second.records())
        for first in choices
        for second in choices
        if first != second
    ]
    assert any(overlaps)


def test_database_changer_decides_by_the_last_answer():
    paths = {tuple(pair.database_0 for pair in c) for _, c, _ in replayed("database-changer")}
    assert len(paths) > 6


def test_mechanism_switcher_moves_on_when_an_answer_speaks_for_her_presence():
    kinds = [Laplace, RandomizedResponse, Exponential]
    switches = 0
    for answers, challenges, _ in replayed("mechanism-switcher"):
        place = 0
        for answer, challenge in zip(answers, challenges):
            assert type(challenge.mechanism) is kinds[place]
            present = answer < 0.5 if place == 2 else answer > 0.5
            switches += present
            place = (place + present) % 3
    assert switches > 50


def test_random_pair_goes_by_its_coins_alone():
    by_experiment = {0: [], 1: []}
    experiments = [0] * 6 + [1] * 6
    for b, (_, challenges, losses) in zip(experiments, replayed("random-pair")):
        by_experiment[b].append(challenges)
        told = [bool(loss) for loss in losses]
        asked = [
            pair.mechanism.query(pair.database_0) != pair.mechanism.query(pair.database_1)
            for pair in challenges
        ]
        assert told == asked  # an answer tells something exactly when it counts who comes or goes
    assert by_experiment[0] == by_experiment[1]  # the experiments share their coins
    assert len({tuple(challenges) for challenges in by_experiment[0]}) == 6
    assert len({pair for challenges in by_experiment[0] for pair in challenges}) == 9


def test_feign_retreat_raises_its_stake_once_and_for_good():
    raised = 0
    for _, challenges, losses in replayed("feign-retreat", rounds=60):
        stakes = epsilons(challenges)
        assert stakes == sorted(stakes)
        assert set(stakes) <= {BIG / 8, BIG}
        if BIG in stakes:
            raised += 1
            fallen = sum(losses[: stakes.index(BIG)])  # behind: the evidence is for her presence
            assert fallen == pytest.approx(-round(0.5 * math.sqrt(60)) * BIG / 8)
    assert raised > 0


def interval(challenge):
    return challenge.mechanism.query.predicate


def test_patient_hunter_narrows_an_interval_around_one_real_patient():
    columns = set()
    for answers, challenges, _ in replayed("patient-hunter", rounds=80, trials=3):
        (patient,) = {
            record
            for record, count in challenges[0].database_1.records()
            if challenges[0].database_0.count_of(record) < count
        }
        assert challenges[0].database_1.size == 569
        for answer, challenge, following in zip(answers, challenges, challenges[1:]):
            here, there = interval(challenge), interval(following)
            assert here(patient)
            assert there(patient)
            columns.add(here.column)
            width = here.high - here.low
            if answer > 8.0 and there.column == here.column:
                assert there.high - there.low == pytest.approx(width / 2)
                assert here.low <= there.low < there.high <= here.high
            else:
                assert there.column != here.column
    assert len(columns) == 4


def test_patient_hunter_lets_the_next_predicate_depend_on_the_answers():
    """Scenario 2 of the chapter on properties of differential privacy."""
    playing = [make("patient-hunter", FAMILY, 10)(np.random.default_rng(1)) for _ in range(2)]
    first, second = (next(generator) for generator in playing)
    assert interval(first) == interval(second)
    crowd, nobody = playing[0].send(100.0), playing[1].send(0.0)
    assert interval(crowd).column == interval(first).column
    assert interval(nobody).column != interval(first).column


def test_in_a_family_without_pure_mechanisms_those_that_play_there_are_checked():
    names = set(library_adversaries(parse_guarantee("subsampled-gaussian:1,0.01"), 3))
    assert names - {"dp-sgd"} == {"fixed-worst-case"}  # dp-sgd is of a shelf
    with pytest.raises(InvalidInput, match="no adversary of the library plays in shuffled"):
        library_adversaries(parse_guarantee("shuffled:1,1000"), 3)


def test_an_adversary_that_cannot_be_loaded_is_refused_with_its_reason():
    with pytest.raises(InvalidInput, match=r"^it needs another package$"):
        _unloaded("other", "it needs another package").make(PureDP(0.2), 3)


def test_a_name_that_the_library_lacks_is_refused_with_those_near_it():
    with pytest.raises(InvalidInput, match="'press_when_ahed'; did you mean press-when-ahead"):
        make("press_when_ahed", FAMILY, 3)
    with pytest.raises(InvalidInput, match=r"'qqqqqqqq'; there are .*fixed-worst-case, "):
        make("qqqqqqqq", FAMILY, 3)
