"""The draws under a measure, and its computed parameters, do not depend on last bits."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulator import simulate
from simulator.adversaries import make
from simulator.analysis.rare import choosing, covering, pilot, steering
from simulator.analysis.rare.choosing import choose
from simulator.analysis.rare.question import Question
from simulator.engine import specification
from simulator.engine.block import play_block
from simulator.engine.sampling import Covering, Guarded, Steered, Tilted, rounded
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.theory import PureDP

FAMILY = PureDP(0.2)
STEERED = Steered(np.array([0.0, 1.1, 2.3]), np.array([[0, 1, 2], [2, 1, 0]]), (-0.7, 1.3))
MEASURES = [Tilted(2.3), STEERED, Guarded(STEERED, 1.9, 0.2), Covering(1.7)]


def nudged(sampling):
    """The measure with each parameter an ulp larger."""
    if isinstance(sampling, Guarded):
        theta = math.nextafter(sampling.theta, math.inf)
        return Guarded(nudged(sampling.beside), theta, sampling.share)
    if isinstance(sampling, Steered):
        span = tuple(math.nextafter(end, math.inf) for end in sampling.span)
        return Steered(np.nextafter(sampling.levels, np.inf), sampling.grid, span)
    return replace(sampling, theta=math.nextafter(sampling.theta, math.inf))


def played(sampling, adversary="press-when-ahead"):
    s = Specification(
        make(adversary, FAMILY, 20), FAMILY, rounds=20, trials=300, seed=3, sampling=sampling
    )
    outcome = play_block(s, 0, 0)
    return outcome.losses, outcome.log_weights


@pytest.mark.parametrize("sampling", MEASURES, ids=lambda sampling: sampling.kind)
def test_a_measure_an_ulp_away_has_the_same_draws(sampling):
    adversary = "double-when-behind" if isinstance(sampling, Covering) else "press-when-ahead"
    other = nudged(sampling)
    assert str(other) != str(sampling)
    for one, two in zip(played(sampling, adversary), played(other, adversary)):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


def test_kinds_of_measures_have_draws_of_their_own():
    first = [played(sampling)[0][0] for sampling in (None, *MEASURES[:3])]
    assert len(set(first)) == 4


def test_rounded_numbers_have_twenty_bits_and_are_near():
    numbers = np.array([0.0, -0.1, 1e-300, 3.0, np.pi * 1e9, 2.0**20 + 0.49])
    kept = rounded(numbers, 20)
    mantissas = np.ldexp(np.frexp(kept)[0], 20)
    assert (mantissas == np.round(mantissas)).all()
    assert (np.abs(kept - numbers) <= 2.0**-20 * np.abs(numbers)).all()
    assert kept[3] == 3.0


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("method", ["tilted", "steered", "guarded", "covering"])
def test_computed_measures_do_not_move_with_the_last_bits_of_their_search(method, monkeypatch):
    adversary = "double-when-behind" if method == "covering" else "press-when-ahead"
    s = Specification(
        make(adversary, FAMILY, 20), FAMILY, rounds=20, trials=2000, seed=5,
        sampling=Tilted(0.0),
    )  # fmt: skip
    question = Question(s, 0, 1.2)

    def found():
        return choose(question, method).way.sampling

    before = found()

    def nudged_first(parameters, bits):
        return rounded(np.nextafter(parameters, np.inf), bits)

    for module in (choosing, steering, pilot, covering):
        monkeypatch.setattr(module, "rounded", nudged_first)
    assert found() == before
    # nor with the last bits of what the search minimises
    for module in (choosing, pilot, covering):
        bound = module.delta_log_bound
        monkeypatch.setattr(
            module, "delta_log_bound", lambda *at, bound=bound: bound(*at) * (1.0 + 2.0**-52)
        )
    assert found() == before
    # without the rounding the measure moves
    for module in (choosing, steering, pilot, covering):
        monkeypatch.setattr(module, "rounded", lambda number, bits: np.nextafter(number, np.inf))
    assert found() != before


def test_a_stored_run_with_draws_of_another_kind_is_refused(tmp_path, monkeypatch):
    def stored(name, sampling):
        adversary = make("press-when-ahead", FAMILY, 5)
        simulate(
            adversary, FAMILY, 5, 20, seed=1, sampling=sampling, jobs=1, progress=False,
            out=tmp_path / name,
        )  # fmt: skip

    with monkeypatch.context() as earlier:
        earlier.setattr(specification, "DRAWS", "seeded otherwise")
        stored("tilted", Tilted(1.0))
        stored("plain", None)
    stored("plain", None)  # plain draws are the same
    with pytest.raises(InvalidInput, match='draws: "seeded otherwise" there'):
        stored("tilted", Tilted(1.0))
