"""Runs that count their losses: the same whatever order, jobs, folder or interruption."""

import contextlib

import numpy as np
import pytest

from experiments.benchmarks.measure import fresh
from simulator import PureDP, simulate
from simulator.adversaries import Rule
from simulator.analysis import Covering, Guarded, Tilted
from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.packing import packed, unpacked
from simulator.engine.outcomes.tally import Tally, digest
from simulator.engine.outcomes.weighted_bins import WeightedBins
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import LeakyRandomizedResponse
from simulator.runner import keeping, merge_folders, simulate_part
from simulator.runner.store import RunStore
from simulator.theory import ApproxDP
from tests.helpers.games import ALICE, PRESS, TOSS, always, on_alice, press_when_ahead

FAMILY = PureDP(0.9)
SETTINGS = {"rounds": 20, "trials": 400, "seed": 5, "block_size": 16, "trace": True}


def play(adversary=PRESS, **others):
    return simulate(adversary, FAMILY, **(SETTINGS | {"keep": "summary", "jobs": 1} | others))


def assert_same(one, other):
    for b in (0, 1):
        first, second = one.sample[b], other.sample[b]
        assert first.cuts == second.cuts
        for name in ("least", "largest", "low_means", "high_means", "counts"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
        assert one.traces[b].tobytes() == other.traces[b].tobytes()
    assert one.views == other.views


@pytest.fixture(autouse=True)
def small_log(monkeypatch):
    """Have the log written anew all the time."""
    monkeypatch.setattr("simulator.runner.store.folder.REWRITE_AFTER", 20_000)


@pytest.mark.parametrize("adversary", [PRESS, TOSS, press_when_ahead])
def test_it_is_the_summary_of_what_is_kept_else(adversary):
    summary, losses = play(adversary), play(adversary, keep="losses")
    for b in (0, 1):
        sample, every = summary.sample[b], losses.losses(b)
        assert sample.cuts[-1][0] == every.size
        assert sample.least[:16].tobytes() == every[:16].tobytes()
        start = 16
        points = 16
        for trials, stop in sample.cuts[1:]:
            bins = LossBins.of(every[start:trials])
            assert bins.least.tobytes() == sample.least[points:stop].tobytes()
            assert bins.counts.tobytes() == sample.counts[points:stop].tobytes()
            start, points = trials, stop
        assert [trials for trials, _ in sample.cuts] == [16, 32, 64, 128, 256, 400]
        assert summary.traces[b].tobytes() == losses.traces[b].tobytes()
        for epsilon in (0.5, 1.0):
            wide, exact = summary.delta(epsilon, b), losses.delta(epsilon, b)
            assert wide.lower <= exact.lower + 1e-9
            assert wide.upper >= exact.upper - 1e-9
            assert abs(wide.value - exact.value) <= wide.widened + 1e-9
            assert wide.upper - wide.lower <= 1.6 * (
                exact.upper - exact.lower
            )  # of samples in bins, bets move more rarely


def test_jobs_order_folders_and_pieces_make_no_difference(tmp_path):
    plain = play()
    assert_same(play(jobs=2), plain)
    assert_same(play(out=tmp_path / "whole"), plain)
    assert_same(play(out=tmp_path / "whole"), plain)
    for trials in (40, 41, 170, 400):
        pieces = play(trials=trials, out=tmp_path / "pieces")
    assert_same(pieces, plain)
    assert len(list(RunStore.load(tmp_path / "whole").read())) < 30  # of 50 blocks


def play_and_be_stopped(monkeypatch, **options):
    """Play three times, and stop each play when some records are stored."""
    append = RunStore.append

    def stopping(self, *arguments, **others):
        append(self, *arguments, **others)
        if len(list(self.read())) > 9:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RunStore, "append", stopping)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                play(**options)


def test_a_run_that_is_stopped_goes_on(tmp_path, monkeypatch):
    play_and_be_stopped(monkeypatch, out=tmp_path)
    assert_same(play(out=tmp_path), play())


def test_a_folder_of_losses_goes_on_as_a_summary_and_not_the_other_way(tmp_path):
    losses = play(keep="losses", trials=200, out=tmp_path)
    assert losses.losses().size == 200
    assert_same(play(out=tmp_path), play())
    before = (tmp_path / "blocks.log").read_bytes()
    for keep in ("losses", None):
        with pytest.raises(InvalidInput, match=r"the folder has summaries.*keep=") as caught:
            play(keep=keep, out=tmp_path)
        assert "\n" not in str(caught.value)
    assert (tmp_path / "blocks.log").read_bytes() == before


def test_views_are_kept_and_replayed(tmp_path):
    for out in (None, tmp_path, tmp_path):
        result = play(keep_views=40, out=out)
        assert [view.trial for view in result.views if view.experiment == 1] == list(range(40))
        for view in result.views:
            result.replay(view)
    more = play(keep_views=90, out=tmp_path)
    assert_same(more, play(keep_views=90))


def test_many_trials_are_counted_and_few_are_not(monkeypatch):
    def kept(**others):
        settings = {"trials": 10**7, "rounds": 1} | others
        return Specification(PRESS, FAMILY, **settings).summarises

    assert not kept()
    assert kept(trials=10**7 + 1)
    assert kept(keep="summary")
    assert not kept(trials=10**9, keep="losses")
    assert kept(trials=10**9, sampling=Tilted(1.0))


def test_keep_is_no_part_of_the_identity():
    one = Specification(PRESS, FAMILY, 20, 400, keep="losses")
    other = Specification(PRESS, FAMILY, 20, 400, keep="summary")
    assert one.identity() == other.identity()
    assert one.task == other.task


def test_what_cannot_be_is_refused_with_one_line(monkeypatch):
    result = play()
    with pytest.raises(InvalidInput, match='keep="losses"'):
        result.losses()
    with pytest.raises(InvalidInput, match='keep="losses"'):
        _ = result.samples
    with pytest.raises(InvalidInput, match="keep must be"):
        play(keep="everything")
    with pytest.raises(InvalidInput, match="a summary counts 274877906944 at most"):
        play(trials=2**38 + 1)
    monkeypatch.setattr(keeping, "available_bytes", lambda: 5000)
    with pytest.raises(InvalidInput, match="need 6400 bytes of the 5000 bytes that are free"):
        play(keep="losses")
    assert play(trials=100, keep="losses").losses().size == 100


def stored(folder, change):
    """A folder in which one tally was changed, as a hand would: its record proves itself whole."""
    specification = Specification(PRESS, FAMILY, 20, 400, 5, block_size=16, trace=True)
    outcome = Outcome(0, 1, np.linspace(-1.0, 1.0, 16), np.ones((3, 20)))
    named = Tally.of(outcome).arrays() | change
    with RunStore.open(folder, specification.identity(), specification.goal()) as store:
        store.append(0, 1, named, adds=True)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"bins": packed(LossBins.of(np.zeros(17)))}, "17 losses for 16 trials"),
        ({"bins": packed(LossBins.of(np.full(16, np.nan)))}, "not numbers"),
        ({"bins": np.zeros(3, np.uint8)}, "cannot be read"),
        ({"bins": np.full(20, 255, np.uint8)}, "cannot be read"),
        ({"bins": np.zeros(3)}, "bins of type float64"),
        ({"digests": np.zeros(2, np.uint64)}, "digests of type"),
        ({"digests": np.zeros(1)}, "digests of type"),
        ({"trace": np.full((3, 20), 99.0)}, "counts other than"),
        ({"other": np.zeros(1)}, "too many or too few"),
    ],
)
def test_a_tally_that_no_play_has_left_is_refused(tmp_path, change, complaint):
    stored(tmp_path, change)
    with pytest.raises(InvalidInput, match=complaint) as caught:
        play(out=tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_bins_are_packed_and_unpacked_to_the_bit():
    rng = np.random.default_rng(1)
    for values in (np.zeros(0), rng.normal(size=5000), np.array([np.inf, -np.inf, np.nan, 1e300])):
        bins = LossBins.of(values)
        again = unpacked(packed(bins))
        for name, column in bins.arrays().items():
            assert again.arrays()[name].tobytes() == column.tobytes()
            assert again.arrays()[name].dtype == column.dtype
    whole = packed(LossBins.of(rng.normal(size=5000)))
    assert whole.size < 16.5 * 4_800
    for place in range(0, whole.size, 997):
        broken = whole.copy()
        broken[place] ^= 0x55
        with contextlib.suppress(InvalidInput):  # no other error
            unpacked(broken)


def test_a_digest_tells_blocks_apart():
    losses = np.linspace(0.0, 1.0, 5)
    other = losses.copy()
    other[3] = np.nextafter(other[3], 2.0)
    outcomes = [
        Outcome(0, 0, losses),
        Outcome(0, 0, other),
        Outcome(0, 0, losses, log_weights=losses),
        Outcome(0, 0, losses, losses),
    ]
    assert len({digest(outcome) for outcome in outcomes}) == 4
    assert digest(Outcome(1, 7, losses.copy())) == digest(outcomes[0])


PEAK = """
import resource
from simulator import PureDP, simulate
from simulator.adversaries import make

family = PureDP(0.2)
adversary = make("press-when-ahead", family, 1)
simulate(adversary, family, 1, 100_000, keep="summary", jobs=1).delta(0.1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
simulate(adversary, family, 1, 4_000_000, keep="summary", jobs=1).delta(0.1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_trials():
    assert fresh(PEAK) < 40_000  # kilobytes; the losses would take 64 MB


# --- weighted play ------------------------------------------------------------------------------

MEASURES = [Tilted(1.0), Guarded(Tilted(1.0), 0.5, 0.2), Covering(1.0)]
WEIGHTED = {"trace": False, "rounds": 8, "sampling": Tilted(1.0)}


def assert_same_weights(one, other):
    for b in (0, 1):
        first, second = one.weights[b], other.weights[b]
        assert first.losses.cuts == second.losses.cuts
        assert first.losses.counts.tobytes() == second.losses.counts.tobytes()
        for name in ("least", "largest", "low_means", "high_means"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
            ours, theirs = getattr(first.losses, name), getattr(second.losses, name)
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.sampled
@pytest.mark.parametrize("sampling", MEASURES, ids=str)
def test_a_weighted_summary_agrees_with_what_is_kept_else(sampling):
    settings = WEIGHTED | {"sampling": sampling, "trials": 4000, "block_size": 256}
    summary, losses = play(**settings), play(**settings, keep="losses")
    tried = 0
    for b in (0, 1):
        for question, points in (("tail", (0.2, 0.7)), ("delta", (0.1, 0.7)), ("epsilon", (0.05,))):
            for at in points:
                wide = getattr(summary, question)(at, b)
                exact = getattr(losses, question)(at, b)
                slack = 1e-6 * exact.value  # bets from cells differ in their last digits
                assert wide.lower <= exact.value <= wide.upper
                # bets on a summary move more rarely
                assert 0.9 < (wide.upper - wide.lower) / (exact.upper - exact.lower) < 2.0
                assert abs(wide.value - exact.value) <= wide.widened + slack
                assert wide.widened <= 1e-3 * exact.value
                assert wide.effective_sample_size == pytest.approx(
                    exact.effective_sample_size, rel=0.01
                )
                tried += 1
    assert tried == 10


def test_weighted_jobs_folders_pieces_and_merges_make_no_difference(tmp_path):
    plain = play(**WEIGHTED)
    assert_same_weights(play(**WEIGHTED, jobs=2), plain)
    for trials in (40, 41, 170, 400, 400):
        pieces = play(**WEIGHTED | {"trials": trials}, out=tmp_path / "pieces")
    assert_same_weights(pieces, plain)
    parts = [tmp_path / "one", tmp_path / "two"]
    for index, out in enumerate(parts, start=1):
        settings = SETTINGS | WEIGHTED | {"keep": "summary"}
        simulate_part(PRESS, FAMILY, part=(index, 2), out=out, jobs=1, **settings)
    merge_folders(parts, tmp_path / "merged")
    stored = (tmp_path / "merged" / "blocks.log").read_bytes()
    assert_same_weights(play(**WEIGHTED, out=tmp_path / "merged"), plain)
    assert (tmp_path / "merged" / "blocks.log").read_bytes() == stored  # nothing was played anew


def test_a_weighted_run_that_is_stopped_goes_on(tmp_path, monkeypatch):
    play_and_be_stopped(monkeypatch, **WEIGHTED, out=tmp_path)
    assert_same_weights(play(**WEIGHTED, out=tmp_path), play(**WEIGHTED))


def test_a_weighted_folder_of_losses_goes_on_as_a_summary_and_not_the_other_way(tmp_path):
    play(**WEIGHTED | {"trials": 200}, keep="losses", out=tmp_path)
    assert_same_weights(play(**WEIGHTED, out=tmp_path), play(**WEIGHTED))
    with pytest.raises(InvalidInput, match=r"the folder has summaries.*keep="):
        play(**WEIGHTED, keep="losses", out=tmp_path)
    result = play(**WEIGHTED)
    for ask in (result.losses, lambda: result.log_weights):
        with pytest.raises(InvalidInput, match='keep="losses"'):
            ask()


@pytest.mark.nightly
def test_a_weighted_folder_with_infinite_losses_can_be_gone_on_with(tmp_path):
    """Blocks of few trials, in some of which no finite loss lies below 0."""
    leaky = Rule(always, on_alice(LeakyRandomizedResponse(ALICE, 0.5, 0.1)), name="leaky")
    options = {"adversary": leaky, "rounds": 3, "trace": False, "block_size": 2}
    options |= {"sampling": Tilted(0.5), "family": ApproxDP(0.5, 0.1)}
    settings = SETTINGS | {"keep": "summary", "jobs": 1, "trials": 100} | options
    plain = simulate(**settings)
    simulate(out=tmp_path, **settings)
    again = simulate(out=tmp_path, **settings)
    assert again.rounds_played == 0
    assert any((again.sample[b].least == -np.inf).any() for b in (0, 1))
    for b in (0, 1):
        assert again.sample[b].least.tobytes() == plain.sample[b].least.tobytes()
        assert again.sample[b].counts.tobytes() == plain.sample[b].counts.tobytes()


def test_weighted_views_are_kept_and_replayed():
    result = play(**WEIGHTED, keep_views=40)
    for view in result.views:
        result.replay(view)


def test_one_weighted_summary_serves_both_experiments():
    settings = {"rounds": 8, "trace": False, "experiments": (0,), "sampling": None}
    for sampling in (None, Tilted(-0.5)):
        asked = settings | {"sampling": sampling}
        wide, exact = (play(**asked, keep=keep).tail(0.5, 1) for keep in ("summary", "losses"))
        assert wide.lower == pytest.approx(exact.lower, rel=0.15)
        assert wide.lower <= exact.lower * (1.0 + 1e-6)
        assert wide.value == pytest.approx(exact.value, rel=1e-3, nan_ok=True)


def test_a_weighted_tally_that_no_play_has_left_is_refused(tmp_path):
    settings = {"block_size": 16, "sampling": Tilted(1.0)}
    specification = Specification(PRESS, FAMILY, 8, 400, 5, **settings)
    losses = np.linspace(-1.0, 1.0, 16)
    good = Tally.of(Outcome(0, 1, losses, log_weights=losses)).arrays()
    plain = Tally.of(Outcome(0, 1, losses)).arrays()
    broken = good["weighted_bins"].copy()
    broken[8] = 200
    many = packed(WeightedBins.of(np.zeros(17), np.zeros(17)))
    for i, (named, complaint) in enumerate(
        (
            (plain, "too many or too few"),
            (good | {"weighted_bins": broken}, "an unknown width"),
            (good | {"weighted_bins": broken[:5]}, "cannot be read"),
            (good | {"weighted_bins": many}, "17 losses for 16 trials"),
        )
    ):
        folder = tmp_path / str(i)
        with RunStore.open(folder, specification.identity(), specification.goal()) as store:
            store.append(0, 1, named, adds=True)
        with pytest.raises(InvalidInput, match=complaint):
            play(**WEIGHTED, out=folder)
