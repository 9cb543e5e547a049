"""Which games pay for a compiled kernel; the draws are the same either way."""

import pytest

from simulator import Laplace, PureDP, simulate
from simulator.adversaries import make
from simulator.engine import block
from simulator.engine.block import is_worth_compiling, prepared_engine
from simulator.engine.compiled import kernels, worth
from simulator.engine.compiled.stored_code import entry_name
from simulator.engine.sampling import Tilted
from simulator.engine.specification import Played, Specification
from tests.helpers.games import PRESS, press_when_ahead
from tests.helpers.natural_programs import ALICE, EVERYONE, WITHOUT

FAMILY = PureDP(0.2)


@pytest.fixture
def nothing_known(monkeypatch):
    """A process that has compiled and played nothing, and a folder without kernels."""
    monkeypatch.setattr(kernels, "_there", {})
    monkeypatch.setattr(worth, "_interpreted", {})
    monkeypatch.setenv("DPCOMPOSE_CACHE", "off")


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.parametrize("adversary", [PRESS, press_when_ahead], ids=["rule", "generator"])
@pytest.mark.parametrize("sampling", [None, Tilted(0.5)], ids=["plain", "tilted"])
def test_games_of_two_seconds_are_played_in_python(adversary, sampling):
    plain = sampling is None
    for rounds in (10, worth.WORTH_A_LOOK, worth.WORTH_COMPILING - 1):
        s = Specification(adversary, FAMILY, rounds - worth.BEGINNING, 1, sampling=sampling)
        assert not is_worth_compiling(s, rounds, plain)
        engine = prepared_engine(s)
        assert engine is None or not engine.compiled
    assert is_worth_compiling(s, worth.WORTH_COMPILING, plain)
    # of short trials the beginnings count
    for trials, compiled in ((worth.WORTH_COMPILING // 4, False), (worth.WORTH_COMPILING, True)):
        s = Specification(adversary, FAMILY, 1, trials, sampling=sampling)
        assert block.is_compiled_for(s) is compiled


@pytest.mark.usefixtures("nothing_known")
@pytest.mark.nightly
def test_small_games_that_add_up_to_a_large_one_pay_for_a_kernel(monkeypatch):
    """A study plays one kernel for many tasks."""
    monkeypatch.setattr(worth, "WORTH_COMPILING", 30_000)
    monkeypatch.setattr(worth, "WORTH_A_LOOK", 1)
    for seed, wanted in enumerate((False, False, True)):
        family = PureDP(0.2 + 0.1 * seed)  # the same kernel
        s = Specification(make("press-when-ahead", family, 10), family, 10, 2000, seed)
        assert is_worth_compiling(s, 20_000, plain=True) is wanted
        if not wanted:
            simulate(s.adversary, family, 10, 2000, seed=seed, jobs=1, progress=False)


@pytest.mark.usefixtures("nothing_known")
def test_a_kernel_that_is_there_is_played(monkeypatch):
    s = Specification(PRESS, FAMILY, 10, 5000)
    key = block._key(Played.of(s), True)
    assert not is_worth_compiling(s, 70_000, plain=True)
    monkeypatch.setattr(kernels, "_there", {key: None})
    assert is_worth_compiling(s, 70_000, plain=True)
    assert not is_worth_compiling(s, worth.WORTH_A_LOOK - 1, plain=True)


@pytest.mark.usefixtures("nothing_known")
def test_machine_code_on_disk_is_loaded_for_games_that_take_longer(monkeypatch, tmp_path):
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(tmp_path / "kernels"))
    s = Specification(PRESS, FAMILY, 10, 5000)
    key = block._key(Played.of(s), True)
    assert not is_worth_compiling(s, worth.WORTH_LOADING, plain=True)
    (tmp_path / "kernels" / "other.kernel").touch()
    assert not is_worth_compiling(s, worth.WORTH_LOADING, plain=True)
    (tmp_path / "kernels" / f"{entry_name(key.name(), '', key.step)}.kernel").touch()
    assert is_worth_compiling(s, worth.WORTH_LOADING, plain=True)
    assert not is_worth_compiling(s, worth.WORTH_LOADING - 1, plain=True)


@pytest.mark.usefixtures("nothing_known")
def test_a_filter_without_a_step_for_kernels_is_played_in_python(monkeypatch):
    """However large the game: the natural filter over a continuum of epsilons has no such step."""
    monkeypatch.setattr(worth, "WORTH_COMPILING", 400)
    monkeypatch.setattr(worth, "WORTH_A_LOOK", 1)
    small, large = (
        simulate(
            weaker_when_refused, PureDP(1.0), 40, trials, seed=3, filter="natural:3,1e-6",
            jobs=1, progress=False, block_size=5,
        ).losses(0).tolist()
        for trials in (5, 20)
    )  # fmt: skip
    assert large[:5] == small


def weaker_when_refused(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, epsilon)
        epsilon = 0.05 if answer != answer else 0.3 if answer > 0.5 else 0.15
