"""Whatever the workers, and whatever happens to them, a result is the same."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest

import simulator.runner.worker
from simulator import Laplace, PureDP, counting_query, simulate
from simulator.engine.outcomes.tally import PairwiseSum
from simulator.engine.sampling import Tilted
from simulator.engine.views import replay
from simulator.errors import Breach, InvalidInput
from simulator.runner.lost import WorkerLost
from simulator.runner.pool import workers
from simulator.theory import ApproxDP
from tests.helpers.games import PRESS, TOSS, WITH_ALICE, WITHOUT_ALICE, press_when_ahead, wander
from tests.helpers.same_runs import assert_same

ALICE = counting_query("alice")
WIDE = PureDP(0.9)


def play(adversary, family=WIDE, **others):
    settings = {"rounds": 20, "trials": 50, "seed": 5, "block_size": 8, "jobs": 1}
    return simulate(adversary, family, **(settings | others))


# --- workers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("adversary", [PRESS, press_when_ahead])
def test_the_number_of_jobs_changes_no_bit(adversary):
    alone = play(adversary, trace=True, keep_views=11)
    assert_same(alone, play(adversary, trace=True, keep_views=11, jobs=3))


def test_another_seed_or_experiment_gives_other_losses():
    result = play(PRESS)
    assert (result.losses(0) != play(PRESS, seed=6).losses(0)).all()
    assert (result.losses(0) != result.losses(1)).all()


@pytest.mark.nightly
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_backend_named_by_parallel_config_plays_the_same(backend):
    alone = play(PRESS, trials=24)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert_same(alone, play(PRESS, trials=24, jobs=None))


@pytest.mark.parametrize("adversary", [PRESS, press_when_ahead])
@pytest.mark.parametrize(
    ("config", "jobs"),
    [({"backend": "multiprocessing"}, 1), ({"backend": "multiprocessing"}, None),
     ({"require": "sharedmem"}, 2)],
)  # fmt: skip
def test_a_backend_that_no_block_needs_is_no_obstacle(adversary, config, jobs):
    alone = play(adversary, trials=24)
    with joblib.parallel_config(**config):
        assert_same(alone, play(adversary, trials=24, jobs=jobs))


def test_a_backend_that_cannot_hand_over_blocks_is_refused():
    with (
        joblib.parallel_config(backend="multiprocessing"),
        pytest.raises(InvalidInput, match="MultiprocessingBackend does not return blocks"),
    ):
        play(press_when_ahead, jobs=2)


@pytest.mark.nightly
def test_a_rule_is_unpickled_and_so_compiled_once_in_each_worker():
    player = simulator.runner.worker.Player(play(TOSS, trials=8).specification)
    received, arguments = player.__reduce__()
    first, again = received(*arguments), received(bytes(bytearray(arguments[0])))
    unpickled = simulator.runner.worker.unpickled
    assert unpickled(first.pickled).adversary is unpickled(again.pickled).adversary
    assert first(1, 0).losses.tobytes() == player(1, 0).losses.tobytes()


def test_the_number_of_workers_is_asked_for_configured_or_every_core():
    assert workers(3, 10**9) == 3
    assert workers(-1, 10**9) == joblib.cpu_count()
    assert workers(None, 10**9) == joblib.cpu_count()
    assert workers(None, 10) == 1
    for n_jobs in (1, 3):
        with joblib.parallel_config(n_jobs=n_jobs):
            assert workers(None, 10**9) == n_jobs


def test_experiments_are_played_alone_as_they_are_together():
    both = play(PRESS)
    only = play(PRESS, experiments=(1,))
    assert only.losses(1).tobytes() == both.losses(1).tobytes()
    with pytest.raises(InvalidInput, match="experiment 0 was not played"):
        only.losses(0)


@pytest.mark.parametrize("rounds", [1, 300])
def test_rounds_played_count_every_round_of_both_experiments(rounds):
    result = play(PRESS, rounds=rounds)
    assert result.rounds_played == 2 * 50 * rounds
    assert result.rounds_per_second == result.rounds_played / result.seconds


# --- views --------------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("adversary", [TOSS, wander])
@pytest.mark.parametrize("stored", [False, True])
def test_kept_views_replay_to_their_losses_bit_for_bit(adversary, stored, tmp_path):
    family = ApproxDP(2.0, 0.3)
    out = tmp_path / "run" if stored else None
    result = play(adversary, family, keep_views=13, out=out)
    if stored:
        result = play(adversary, family, keep_views=13, out=out)
        assert result.rounds_played == 0
    assert [(view.experiment, view.trial) for view in result.views] == [
        (b, trial) for b in (0, 1) for trial in range(13)
    ]
    for view in result.views:
        replayed = result.replay(view)
        assert replayed.loss == result.losses(view.experiment)[view.trial]
        assert len(replayed.challenges) == len(replayed.round_losses) == 20


@pytest.mark.sampled
@pytest.mark.parametrize("adversary", [TOSS, press_when_ahead])
def test_a_view_that_was_tampered_with_replays_to_another_loss(adversary):
    result = play(adversary, keep_views=1)
    view = result.views[0]
    answers = list(view.answers)
    answers[3] = 0.5 + (0.6 if answers[3] < 0.5 else -0.6)
    tampered = type(view)(view.experiment, view.trial, view.coins, tuple(answers))
    s, recorded = result.specification, float(result.losses(0)[0])
    assert replay(tampered, s.adversary, s.family, s.relation).loss != recorded
    with pytest.raises(Breach, match="the recorded loss is"):
        replay(tampered, s.adversary, s.family, s.relation, recorded)
    with pytest.raises(InvalidInput, match="one of the result's own views"):
        result.replay(tampered)


def test_a_view_with_other_coins_replays_to_other_challenges():
    result = play(wander, ApproxDP(2.0, 0.3), keep_views=2)
    first, second = result.views[:2]
    mixed = type(first)(first.experiment, first.trial, second.coins, first.answers)
    s = result.specification
    replayed = replay(mixed, s.adversary, s.family, s.relation)
    assert replayed.challenges != result.replay(first).challenges


def stops_later(coins):
    """As ``press_when_ahead`` for five rounds."""
    playing = press_when_ahead(coins)
    answer = None
    for _ in range(5):
        answer = yield playing.send(answer)


def raises_later(coins):
    yield from stops_later(coins)
    raise OSError("gone")


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (stops_later, "round 6 of the replay: the adversary stopped before it"),
        (raises_later, r"round 6 of the replay raised OSError: gone \(test_runner\.py, line \d+\)"),
    ],
)
def test_a_view_replayed_with_another_adversary_is_told_in_one_line(other, line):
    view = play(press_when_ahead, keep_views=1).views[0]
    with pytest.raises(Breach, match=f"^{line}$"):
        replay(view, other, WIDE)
    with pytest.raises(Breach, match=r"^round \d of the replay: .*outside the family"):
        replay(view, press_when_ahead, PureDP(0.15))


def test_a_weighted_sample_gives_no_plain_estimate():
    tilted = play(PRESS, sampling=Tilted(1.0))
    for ask in (tilted.trade_off, lambda: tilted.tail_band([0.0, 1.0])):
        with pytest.raises(InvalidInput, match="weighted"):
            ask()


# --- resuming -----------------------------------------------------------------------------------


def stop_after(blocks, monkeypatch):
    """Interrupt a run when so many blocks were played, as Ctrl-C does."""
    played = []
    whole = simulator.runner.worker.play_block

    def play_block(specification, b, block):
        if len(played) == blocks:
            raise KeyboardInterrupt
        played.append((b, block))
        return whole(specification, b, block)

    monkeypatch.setattr(simulator.runner.worker, "play_block", play_block)
    return played


@pytest.mark.parametrize("adversary", [PRESS, press_when_ahead])
def test_an_interrupted_run_goes_on_where_it_stopped(adversary, tmp_path, monkeypatch):
    whole = play(adversary, trace=True, keep_views=11)
    with monkeypatch.context() as interrupted:
        stop_after(5, interrupted)
        with pytest.raises(KeyboardInterrupt):
            play(adversary, trace=True, keep_views=11, out=tmp_path / "run")
    with monkeypatch.context() as counted:
        rest = stop_after(100, counted)
        resumed = play(adversary, trace=True, keep_views=11, out=tmp_path / "run")
    assert len(rest) == 14 - 5
    assert resumed.rounds_played == sum(20 * min(8, 50 - 8 * block) for _, block in rest)
    assert_same(whole, resumed)


def test_a_torn_log_keeps_every_whole_block_and_says_so(tmp_path, monkeypatch, capsys):
    whole = play(PRESS, out=tmp_path)
    log = tmp_path / "blocks.log"
    log.write_bytes(log.read_bytes()[:-100])
    rest = stop_after(100, monkeypatch)
    assert_same(whole, play(PRESS, out=tmp_path))
    assert len(rest) == 1
    told = capsys.readouterr().err.strip()
    assert "dropped" in told
    assert "kept 13 whole blocks" in told
    assert "\n" not in told


def test_a_run_that_another_version_goes_on_with_says_so(tmp_path, capsys):
    play(PRESS, out=tmp_path)
    manifest = tmp_path / "specification.json"
    manifest.write_text(manifest.read_text().replace(f'"{np.__version__}"', '"1.0"'))
    whole = play(PRESS, trials=58)
    assert_same(whole, play(PRESS, trials=58, out=tmp_path))
    line = f"{tmp_path} is played by different versions, on which draws depend: numpy 1.0 and "
    assert line in capsys.readouterr().err
    play(PRESS, trials=58, out=tmp_path)
    assert capsys.readouterr().err == ""  # nothing was played


@pytest.mark.parametrize("other", [{"seed": 6}, {"rounds": 21}, {"adversary": TOSS}])
def test_a_folder_of_another_specification_is_refused_and_left_alone(other, tmp_path):
    play(PRESS, out=tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(InvalidInput, match="another specification") as refusal:
        play(other.pop("adversary", PRESS), out=tmp_path, **other)
    assert "\n" not in str(refusal.value)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_moments_are_added_in_pairs_of_neighbours_whatever_order_blocks_come_in():
    numbers = np.random.default_rng(5).normal(size=(11, 2)) * 10.0 ** np.arange(11)[:, None]
    a = dict(enumerate(numbers))
    eight = a[8] + a[9]
    expected = a[0] + a[1] + (a[2] + a[3]) + ((a[4] + a[5]) + (a[6] + a[7])) + eight + a[10]
    for seed in range(20):
        sums = PairwiseSum()
        for block in np.random.default_rng(seed).permutation(11).tolist():
            sums.add(block, 1, a[block])
        assert sums.total().tobytes() == expected.tobytes()
    stretches = PairwiseSum()
    for block, blocks, array in [(8, 2, eight), (10, 1, a[10]), (0, 1, a[0]), (2, 2, a[2] + a[3])]:
        stretches.add(block, blocks, array)
    for block in (7, 1, 5, 4, 6):
        stretches.add(block, 1, a[block])
    assert stretches.total().tobytes() == expected.tobytes()


# --- lost workers -------------------------------------------------------------------------------


def killer(folder, times):
    """An adversary whose worker is killed the first so many times that it meets fatal coins.

    The two experiments share their coins, so there is one such trial in each.
    """

    def press_and_die(coins):
        state = coins.bit_generator.state["state"]["state"][0]
        answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)
        marker = folder / "deaths"
        fatal = folder / "fatal"
        if fatal.exists() and int(state) == int(fatal.read_text()):
            deaths = int(marker.read_text()) if marker.exists() else 0
            if deaths < times:
                marker.write_text(str(deaths + 1))
                os.kill(os.getpid(), signal.SIGKILL)
        while True:
            answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1 if answer < 0 else 0.2)

    return press_and_die


@pytest.mark.nightly
def test_a_killed_worker_costs_its_block_one_retry(tmp_path):
    adversary = killer(tmp_path, times=1)
    whole = play(adversary, PureDP(0.2), keep_views=50)
    (tmp_path / "fatal").write_text(str(whole.views[17].coins[0]))
    assert_same(whole, play(adversary, PureDP(0.2), keep_views=50, jobs=2))
    assert (tmp_path / "deaths").read_text() == "1"


@pytest.mark.nightly
def test_a_worker_killed_twice_ends_the_run_with_the_name_of_its_block(tmp_path):
    adversary = killer(tmp_path, times=4)
    whole = play(adversary, PureDP(0.2), keep_views=50)
    (tmp_path / "fatal").write_text(str(whole.views[17].coins[0]))
    start = time.monotonic()
    with pytest.raises(WorkerLost, match="died twice while playing experiment 0, block 2;") as lost:
        play(adversary, PureDP(0.2), jobs=2, out=tmp_path / "run")
    assert "\n" not in str(lost.value)
    assert time.monotonic() - start < 60
    (tmp_path / "fatal").unlink()
    assert_same(play(adversary, PureDP(0.2)), play(adversary, PureDP(0.2), out=tmp_path / "run"))


def test_an_adversary_that_no_process_can_be_sent_is_named_before_anything_is_played():
    lock = threading.Lock()

    def locked(coins):
        with lock:
            while True:
                yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)

    with pytest.raises(InvalidInput, match="locked cannot be sent to a worker process") as refusal:
        play(locked, jobs=2)
    assert "with one job" in str(refusal.value)
    assert "\n" not in str(refusal.value)


class Homesick:
    """Can be pickled, and not unpickled."""

    def __reduce__(self):
        return int, ("home",)


@pytest.mark.nightly
def test_an_adversary_that_a_worker_cannot_load_is_told_in_one_line():
    away = Homesick()

    def homesick(coins):
        while away:
            yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)

    with pytest.raises(InvalidInput, match="worker process cannot load the adversary") as refusal:
        play(homesick, jobs=2)
    assert "invalid literal" in str(refusal.value)
    assert "\n" not in str(refusal.value)
