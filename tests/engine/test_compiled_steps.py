"""A compiled step computes as Python does, or the trials are played again in Python.

The witness is the same rule uncompiled, to the bit; for rules without coins also the sum over every
play, by the step on numbers.
"""

import math
import re

import numpy as np
import pytest

from simulator import PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.adversaries.program import assembly
from simulator.adversaries.registry import entries
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.sampling import Tilted
from simulator.errors import Breach
from tests.helpers.every_play import hockey_stick, law_of_plays
from tests.helpers.small_games import ALICE, on_alice

pytestmark = pytest.mark.usefixtures("compiles")

EPSILONS = (0.3, 1.5)
MENU = on_alice(*(RandomizedResponse(ALICE, e) for e in EPSILONS))
FAMILY = PureDP(1.5)


def squares(state, i, answer, coins):
    """A whole number beyond 32 bits in one play of 512, whose square is beyond 64."""
    if i == 1 and coins.random() < 1.0 / 512.0:
        state = 4_000_000_001
    return state, 1 if state * state > 10**19 else 0


def powers(state, i, answer, coins):
    """2 ** -1 is a half."""
    if i > 0:
        state += 1 if answer > 0.5 else -1
    return state, 1 if 2 ** (state + 6) < 1 else 0


def shifts(state, i, answer, coins):
    state = (state << 3) + (1 if i > 0 and answer > 0.5 else 0)
    return state, 1 if state > 2**62 else 0


def congruences(state, i, answer, coins):
    """A linear congruential generator without a modulus, which the answers stir."""
    state = state * 6364136223846793005 + 1442695040888963407 + (1 if answer > 0.5 else 0)
    return state, 1 if state % 7 == 3 else 0


def doubles(state, i, answer, coins):
    state = state + state
    return state, 1 if state > 2**60 else 0


def fibonacci(state, i, answer, coins):
    state = (state[1], state[0] + state[1])
    return state, 1 if state[1] % 3 == 1 and state[1] > 0 else 0


def negated(state, i, answer, coins):
    """The smallest of the 64-bit numbers has no opposite."""
    return state, 1 if -(state - 8) > 0 else 0


def huge(state, i, answer, coins):
    """A float becomes a whole number beyond 64 bits."""
    return state, 1 if i > 0 and int((answer + 1.0) * 1e19) > 10**19 else 0


def quotients(state, i, answer, coins):
    """Two whole numbers beyond 53 bits have another quotient than their doubles."""
    return state, 1 if (state + i) / (state - i) == 1.0 + i * 2.0**-53 else 0


def compared(state, i, answer, coins):
    """A whole number beyond 53 bits is no double."""
    return state, 1 if state + i < float(2**53 + 2) else 0


def overflowing(state, i, answer, coins):
    """A loop that ends when a power of two is large enough, and never if it wraps."""
    size = 1
    while size <= state + i:
        size *= 2
    return state, 1 if size > 2**63 else 0


STEPS = {
    "squares": (squares, 0, 4), "powers": (powers, 0, 12), "shifts": (shifts, 1, 24),
    "congruences": (congruences, 1, 12), "doubles": (doubles, 1, 64),
    "fibonacci": (fibonacci, (0, 1), 94), "negated": (negated, -(2**63) + 8, 4),
    "huge": (huge, 0, 6), "quotients": (quotients, 2**54, 8), "compared": (compared, 2**53 - 3, 8),
    "a loop": (overflowing, 2**63 - 3, 6),
}  # fmt: skip


def played(engine, rounds, trials=2000):
    """(losses, trace, answers) of experiment 0 on fixed draws."""
    coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
    losses, trace = np.empty(trials), np.zeros((3, rounds))
    for part in (slice(0, trials // 2), slice(trials // 2, trials)):
        engine.play(0, coins, noise, losses[part], rounds, trace=trace)
    return losses, trace, coins.random(), noise.random()


def both(rule):
    return [Engine.build(rule, FAMILY, ADD_REMOVE, compiled=compiled) for compiled in (True, False)]


@pytest.mark.sampled
@pytest.mark.parametrize("name", STEPS)
def test_beyond_64_bits_a_step_is_played_in_python(name):
    """Losses, sums over rounds and the draws that follow are those of the uncompiled rule."""
    step, state, rounds = STEPS[name]
    fast, slow = both(Rule(step, MENU, state))
    assert fast.complaint == ""
    for one, other in zip(played(fast, rounds), played(slow, rounds)):
        np.testing.assert_array_equal(one, other)
    assert fast.kernel.repeats > 0


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["powers", "congruences"])
def test_estimates_hold_what_every_play_adds_up_to(name):
    step, state, rounds = STEPS[name]
    rule = Rule(step, MENU, state)
    exact = hockey_stick(law_of_plays(rule, EPSILONS, rounds), 2.0)
    result = simulate(rule, FAMILY, rounds, 4000, seed=1, jobs=1, progress=False, experiments=(0,))
    found = result.delta(2.0, 0, 1 - 1e-6)
    assert 0.0 < found.lower <= exact <= found.upper


def test_a_rule_that_is_played_in_python_says_so(capsys):
    rule = Rule(squares, MENU, 4_000_000_001)
    simulate(rule, FAMILY, 4, 200, seed=1, jobs=1)
    assert "squares ran partly uncompiled" in capsys.readouterr().err


@pytest.mark.nightly
def test_without_the_conditions_the_losses_differ(monkeypatch):
    """So the tests above can fail."""

    for key, text in list(assembly.TEMPLATES.items()):
        lines = [line for line in text.splitlines() if not line.strip().startswith("stop ")]
        monkeypatch.setitem(assembly.TEMPLATES, key, "\n".join(lines))
    for name in ("squares", "shifts", "congruences", "doubles"):
        step, state, rounds = STEPS[name]
        fast, slow = both(Rule(step, MENU, state))
        losses = played(fast, rounds, trials=4000)[0]
        assert (losses != played(slow, rounds, trials=4000)[0]).any(), name


@pytest.mark.nightly
def test_tilted_play_is_repeated_too():
    step, state, rounds = STEPS["powers"]
    found = []
    for compiled in (True, False):
        engine = TiltedEngine.build(Rule(step, MENU, state), FAMILY, ADD_REMOVE, compiled=compiled)
        coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
        losses, log_weights = np.empty((2, 400))
        engine.play(
            0, Tilted(0.5), rounds, coins, noise, losses=losses, log_weights=log_weights
        )  # fmt: skip
        found.append((losses, log_weights))
    np.testing.assert_array_equal(*found)


def by_zero(state, i, answer, coins):
    return state, 1 if i > 0 and 1.0 / answer > 0.0 else 0


def root(state, i, answer, coins):
    return state, 1 if math.sqrt(0.5 - answer if i > 0 else 0.0) > 1.0 else 0


@pytest.mark.parametrize(("step", "error"), [
    (by_zero, "ZeroDivisionError"), (root, "ValueError"),
])  # fmt: skip
@pytest.mark.sampled
def test_what_raises_in_python_raises(step, error):
    with pytest.raises(Breach, match=f"round ., trial .*{error}"):
        simulate(Rule(step, MENU, 0), FAMILY, 4, 100, seed=1, jobs=1, progress=False)


NARROW, SHORT = np.array([0.1, 0.2], dtype=np.float32), np.array([100, 27], dtype=np.int8)


@pytest.mark.parametrize(("step", "why"), [
    (lambda s, i, a, c: (s, int(i > 0 and a + NARROW[0] > 0.1)), "an item of an array|float32|no"),
    (lambda s, i, a, c: (s, int(SHORT[i % 2] > 27)), "type int8"),
    (lambda s, i, a, c: (s, int(sum((0.1, 0.2, s)) > 0.3)), "a call of sum"),
    (lambda s, i, a, c: (s, int(round(0.35 + s, 1) < 0.35)), "a call of round"),
    (lambda s, i, a, c: (s, int(math.hypot(0.3, 0.5 + s) > i)), "a call of hypot"),
    (lambda s, i, a, c: (s, int(c.binomial(3, 0.5) > 1)), "coins.binomial"),
])  # fmt: skip
def test_what_is_not_in_the_closed_form_runs_uncompiled_and_says_why(step, why):
    engine = Engine.build(Rule(step, MENU, 0, "odd"), FAMILY, ADD_REMOVE)
    assert engine.complaint.startswith("odd runs uncompiled")
    assert re.search(rf"test_compiled_steps.py:\d+: .*({why})", engine.complaint)


def wide_draws(state, i, answer, coins):
    """numba draws otherwise than numpy from ranges beyond 32 bits, where a draw is rejected."""
    return state, 1 if int(coins.integers(0, 3 * 2**61)) % 7 == 3 else 0


def float_powers(state, i, answer, coins):
    """Powers whose compiled roundings once differed."""
    x = coins.random() * 40.0 - 20.0
    kept = 2.0**x + x**2.0
    return state, 1 if int(kept * 2.0**30) % 2 else 0


@pytest.mark.sampled
@pytest.mark.parametrize(("step", "alone"), [(wide_draws, False), (float_powers, True)])
def test_draws_and_powers_are_numpys_and_pythons(step, alone):
    fast, slow = both(Rule(step, MENU, 0))
    assert fast.complaint == ""
    for one, other in zip(played(fast, 20), played(slow, 20)):
        np.testing.assert_array_equal(one, other)
    assert (fast.kernel.repeats == 0) == alone


@pytest.mark.nightly
@pytest.mark.parametrize("name", [e.name for e in entries() if e.plays_in(PureDP(0.5))])
def test_the_library_stays_compiled(name):
    rule = next(e for e in entries() if e.name == name).make(PureDP(0.5), 200)
    if isinstance(rule, Rule):
        engine = Engine.build(rule, PureDP(0.5), ADD_REMOVE)
        coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
        engine.play(0, coins, noise, np.empty(2000), 200)
        assert engine.complaint == ""
        assert engine.kernel.repeats == 0
