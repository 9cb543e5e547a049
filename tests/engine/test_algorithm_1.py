"""Algorithm 1 can be read in one go, and it is what plays a generator.

Broken variants of its text are put in its place; each makes a play of a generator wrong.
"""

import inspect
import math
import subprocess
import sys

import pytest

from simulator import Laplace, PureDP, estimate_rare, simulate
from simulator.analysis import Setting
from simulator.engine import algorithm_1
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach, InvalidInput
from simulator.theory.filters.sums import SumFilter
from tests.helpers.games import ALICE, WITH_ALICE, WITHOUT_ALICE, press_when_ahead
from tests.helpers.oracle import compose_block
from tests.helpers.small_games import ANYTHING, STEERED, survey
from tests.helpers.trees import assert_exact

TEXT = inspect.getsource(algorithm_1.compose)


def put_in_its_place(monkeypatch, *edits):
    """Put a variant of the function in its place, in which these parts of its text differ."""
    text = TEXT
    for part, other in edits:
        assert part in text
        text = text.replace(part, other)
    names = dict(vars(algorithm_1))
    exec(compile(f"from __future__ import annotations\n{text}", "variant", "exec"), names)
    monkeypatch.setattr(algorithm_1, "compose", names["compose"])


def test_it_has_at_most_25_lines():
    assert len(TEXT.splitlines()) <= 25


# --- plain play against the oracle ---------------------------------------------------------------


def played():
    """The views and losses of both experiments of a generator, without and with a filter."""
    found = []
    for filter_ in (None, SumFilter(0.75)):
        result = simulate(
            press_when_ahead, PureDP(0.2), 12, 30, seed=4, keep_views=30, filter=filter_, jobs=1,
            progress=False,
        )  # fmt: skip
        found += [(b, filter_, result.views, result.losses(b)) for b in (0, 1)]
    return found


def refused(answers, limit=0.75):
    """Which rounds of the game a sum of epsilons refuses, by the answers."""
    spent, epsilon, found = 0.0, 0.1, []
    for answer in answers:
        found.append(spent + epsilon > limit + 1e-12)
        spent += 0.0 if found[-1] else epsilon
        epsilon = 0.2 if answer > 0.5 else 0.1
    return found


def assert_right(found):
    for b, filter_, views, losses in found:
        mine = [view for view in views if view.experiment == b]
        if filter_ is None:
            s = Specification(press_when_ahead, PureDP(0.2), 12, 30, 4, keep_views=30)
            plays = compose_block(s, b, 0)
            assert [view.answers for view in mine] == [tuple(play.answers) for play in plays]
            assert losses.tolist() == [play.loss for play in plays]
        else:
            for view in mine:
                assert len(view.answers) == 12
                assert [math.isnan(answer) for answer in view.answers] == refused(view.answers)


def test_a_generator_is_played_as_the_oracle_plays_it():
    assert_right(played())


@pytest.mark.parametrize(
    "edit",
    [
        ("trial.draw(pair, b)", "trial.draw(pair, 0)"),
        ("playing.send(answer)", "playing.send(None if answer is None else 0.0)"),
        ("pair.loss(answer)", "0.5 * pair.loss(answer)"),
        ("trial.account(pair.loss(answer))", "None"),
        ("range(k)", "range(k - 1)"),
        ("trial.admits(pair.price)", "True"),
        ("answer = nan", "answer = 0.0"),
        ("family.checked(challenge)", "pair if trial.round else family.checked(challenge)"),
        ("answer = trial.keep(answer)", "None"),
    ],
    ids=lambda edit: edit[1],
)
def test_a_broken_variant_makes_the_play_of_a_generator_wrong(monkeypatch, edit):
    put_in_its_place(monkeypatch, edit)
    with pytest.raises(AssertionError):
        assert_right(played())


def bold(coins):
    yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.3)


def test_it_checks_every_challenge_of_a_generator(monkeypatch):
    with pytest.raises(Breach, match=r"round 2, trial 0 of experiment 0: .*outside the family"):
        simulate(bold, PureDP(0.2), 3, 3, jobs=1, progress=False)
    once = "pair if trial.round else family.checked(challenge)"
    put_in_its_place(monkeypatch, ("family.checked(challenge)", once))
    simulate(bold, PureDP(0.2), 3, 3, jobs=1, progress=False)


# --- tilted play against every view, and rare events ---------------------------------------------


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("edit", [
    ("trial.account(pair.loss(answer))", "trial.account(-pair.loss(answer))"),
    ("trial.draw(pair, b)", "pair.sample(b, trial.noise)"),
    ("for trial.round in range(k)", "for _ in range(k)"),
], ids=lambda edit: edit[1])  # fmt: skip
def test_a_broken_variant_makes_tilted_play_wrong(monkeypatch, edit, b):
    s = Specification(survey, ANYTHING, 4, 100, seed=3, sampling=STEERED)
    assert_exact(s, b)
    put_in_its_place(monkeypatch, edit)
    with pytest.raises((AssertionError, InvalidInput, StopIteration, Breach)):
        assert_exact(s, b)


def unread(coins):
    """Press-when-ahead, which keeps its answer where the reader does not follow."""
    heard = [0.0]
    while True:
        heard[0] = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.2 if heard[0] > 0.5 else 0.1)


@pytest.mark.parametrize("method", ["plain", "tilted", "steered", "guarded", "splitting"])
def test_it_plays_all_trials_and_rehearsals_of_rare_events(monkeypatch, method):
    put_in_its_place(monkeypatch, ("    answer = None\n", "    raise Breach('played')\n"))
    with pytest.raises(Breach, match=r"round 1, trial \d+ of experiment 0: played"):
        estimate_rare(
            unread, PureDP(0.2), 5, trials=50, epsilon=0.5, method=method,
            setting=Setting(jobs=1),
        )  # fmt: skip


# --- the engines that a generator does not need --------------------------------------------------


@pytest.mark.nightly
def test_other_engines_are_imported_when_they_are_used():
    """Plain play of a generator loads no enumeration and no tilted kernel."""
    program = (
        "import sys; from simulator.analysis.simulate import simulate;"
        "from simulator import PureDP; from tests.helpers.games import press_when_ahead;"
        "simulate(press_when_ahead, PureDP(0.2), 3, 3, jobs=1, progress=False);"
        "print([name for name in sys.modules if name.startswith('simulator.engine.')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = run.stdout
    assert "simulator.engine.algorithm_1" in loaded
    assert "simulator.engine.enumerated" not in loaded
    assert "simulator.engine.compiled.tilted_kernel" not in loaded
