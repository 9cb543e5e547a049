"""assert_pipeline: neighbours, the smallest databases that fail, and the fixture dp."""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import strategies as st

from simulator import Database
from simulator.auditing import record
from simulator.auditing.pipelines.elsewhere import chain
from simulator.auditing.testing import PrivacyViolation, assert_pipeline
from simulator.errors import InvalidInput
from tests.auditing.pipelines import honest

DATA = [i / 32 for i in range(32)]


def large_records_only(data, rng):
    """Divides by the number of records where a record is above 0.9."""
    total = sum(data) + rng.laplace(scale=1.0)
    return total / len(data) if max(data, default=0) > 0.9 else total


def every_round(data, rng, rounds):
    return [len(data) + rng.laplace(scale=4.0) for _ in range(rounds)]


def test_the_smallest_databases_that_fail_are_shown():
    with pytest.raises(PrivacyViolation, match="large_records_only does not keep pure:1") as caught:
        assert_pipeline(large_records_only, DATA, claimed="pure:1", replay=["pytest x"])
    first, second = caught.value.result.databases
    assert len(first) <= 2
    assert max(first) > 0.9
    assert len(second) == len(first) - 1
    assert "pytest x" in str(caught.value)
    assert "test_assertion.py:" in str(caught.value)


def test_the_fewest_rounds_that_fail_are_shown():
    with pytest.raises(PrivacyViolation, match=r"rounds       5$") as caught:
        assert_pipeline(every_round, DATA[:5], claimed="pure:1", rounds=12)
    assert caught.value.result.databases == ([DATA[4]], [])
    assert assert_pipeline(every_round, DATA, claimed="pure:1", rounds=4).verdict == "kept"


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("pipeline", [honest.noisy_sum, honest.histogram, honest.adaptive])
def test_honest_pipelines_pass(pipeline, neighbours):
    epsilon = 1 if neighbours == "add-remove" else 2
    report = assert_pipeline(pipeline, DATA, neighbours=neighbours, claimed=f"pure:{epsilon}")
    assert report.verdict == "kept"


def test_a_count_is_public_under_replace_one_only():
    def mean(data, rng):
        return (np.sum(data) + rng.laplace(scale=1.0)) / len(data)

    data = np.array(DATA)
    assert_pipeline(mean, data, neighbours="replace-one", claimed="pure:1")
    with pytest.raises(PrivacyViolation, match=r"argument: factor is"):
        assert_pipeline(mean, data, claimed="pure:1")


def test_neighbours_of_ones_own_and_histograms():
    def count(database, rng):
        return dict(database.records()).get("alice", 0) + rng.laplace(scale=2.0)

    everyone = Database({"alice": 1, "bob": 2})
    without = everyone.remove("alice")
    assert assert_pipeline(count, everyone, claimed="pure:0.5").verdict == "kept"
    assert assert_pipeline(count, everyone, neighbours=[without], claimed="pure:0.5")
    for neighbours in ([without], lambda database: [database.remove("alice")], "add-remove"):
        with pytest.raises(PrivacyViolation):
            assert_pipeline(count, everyone, neighbours=neighbours, claimed="pure:0.4")


def test_a_strategy_draws_the_databases():
    databases = st.lists(st.integers(0, 100), min_size=1, max_size=10)

    def clipped_too_late(data, rng):
        return sum(data) + rng.laplace(scale=50.0)

    with pytest.raises(PrivacyViolation) as caught:
        assert_pipeline(clipped_too_late, databases, claimed="pure:1")
    assert caught.value.result.databases == ([51], [])
    assert assert_pipeline(clipped_too_late, databases, claimed="pure:2").verdict == "kept"


def test_what_is_undecided_passes_unless_strict():
    report = assert_pipeline(honest.randomized_response, DATA[:3], claimed="pure:1")
    assert report.verdict == "undecided"
    with pytest.raises(PrivacyViolation, match="undecided: output"):
        assert_pipeline(honest.randomized_response, DATA[:3], claimed="pure:1", strict=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbours": "some"}, "neighbours must be add-remove, replace-one"),
        ({"neighbours": []}, "there are no neighbours to try"),
        ({"rounds": 0}, "rounds must be"),
        ({"most": 0}, "most must be at least 1"),
        ({"patches": [nullcontext()]}, "give the names of patches"),
    ],
)
def test_bad_input_is_one_line(options, message):
    with pytest.raises(InvalidInput, match=message):
        assert_pipeline(honest.noisy_sum, DATA, claimed="pure:1", **options)
    with pytest.raises(InvalidInput, match="at least one record"):
        assert_pipeline(honest.noisy_sum, [], claimed="pure:1")
    with pytest.raises(InvalidInput, match="a database must be a list"):
        assert_pipeline(honest.noisy_sum, 3, claimed="pure:1")


def test_the_fixture(dp):
    assert dp.assert_pipeline(honest.noisy_sum, DATA, claimed="pure:1").verdict == "kept"
    with pytest.raises(
        PrivacyViolation, match=r"replay .*pytest .*test_assertion.py::test_the_fix"
    ):
        dp.assert_pipeline(every_round, DATA, claimed="pure:1", rounds=5)
    with pytest.raises(pytest.UsageError, match="takes no seed="):
        dp.assert_pipeline(honest.noisy_sum, DATA, claimed="pure:1", seed=1)


# -- raw data that are read outside of the mechanisms, though one pair does not show it ------------

_RNG = np.random.default_rng(1)
POINTS = _RNG.normal(size=(40, 2))
TRAINING = np.column_stack([POINTS, POINTS[:, 0] + 0.5 * _RNG.normal(size=40) > 0])


def cut_with_the_best_accuracy(rows, rng):
    cuts = [-0.4, -0.2, 0.0, 0.2, 0.4]
    best = max(cuts, key=lambda cut: np.mean((rows[:, 0] > cut) == rows[:, 2]))
    return best, np.sum(np.clip(rows[:, 0], -1, 1)) + rng.laplace(scale=1.0)


def noisy_model_with_the_best_accuracy(rows, rng):
    x, signs, found = np.clip(rows[:, :2], -1, 1), 2 * rows[:, 2] - 1, []
    for penalty in (0.1, 1.0, 10.0):
        model = (x * signs[:, None]).sum(0) / penalty + rng.laplace(scale=20.0, size=2)
        found.append((np.mean((x @ np.asarray(model) > 0) == (signs > 0)), penalty))
    return max(found)[1]


def stops_on_the_raw_loss(rows, rng):
    x, weight = np.clip(rows[:, 0], -1, 1), 0.0
    for _ in range(5):
        weight = weight + 0.01 * (np.clip(x - weight, -1, 1).sum() + rng.laplace(scale=10.0))
        if np.mean((x - float(weight)) ** 2) < LOSS:
            break
    return weight


LOSS = float(np.mean(np.clip(TRAINING[:, 0], -1, 1) ** 2)) - 0.001


def epoch_of_the_least_loss(rows, rng):
    x, weight, seen = np.clip(rows[:, 0], -1, 1), 0.0, []
    for _ in range(3):
        weight = weight + 0.01 * (np.clip(x - weight, -1, 1).sum() + rng.laplace(scale=6.0))
        seen.append(float(weight))
    return min(seen, key=lambda each: np.sum((x - each) ** 2))


LOOKING = [
    cut_with_the_best_accuracy, noisy_model_with_the_best_accuracy, stops_on_the_raw_loss,
    epoch_of_the_least_loss,
]  # fmt: skip


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("pipeline", LOOKING, ids=lambda each: each.__name__)
@pytest.mark.parametrize("seed", range(20))
def test_what_looks_at_the_raw_data_is_found_by_every_seed(pipeline, seed):
    with pytest.raises(PrivacyViolation) as caught:
        assert_pipeline(pipeline, TRAINING, claimed="pure:5", seed=seed)
    assert caught.value.result.violated


def test_one_pair_that_does_not_differ_is_not_called_kept():
    """The best cut of one pair is the same; that of other records is not."""
    pairs = [(TRAINING, np.delete(TRAINING, i, axis=0)) for i in range(len(TRAINING))]
    claim = {"claimed": "pure:5"}
    alike = next(
        pair for pair in pairs
        if record(cut_with_the_best_accuracy, *pair, **claim, again=False).verdict == "kept"
    )  # fmt: skip
    assert record(cut_with_the_best_accuracy, *alike, **claim).violated
    report = record(cut_with_the_best_accuracy, *alike, **claim, neighbours="")
    assert report.verdict == "undecided"
    assert "no difference between neighbours in" in str(report)


def test_a_chain_of_neighbours_joins_two_databases():
    for relation, sizes in (("add-remove", {2, 3}), ("replace-one", {3})):
        links = chain(relation, 3, [2, 2, 0])
        assert links[0] == [0, 1, 2]
        assert links[-1] == [2, 2, 0]
        assert {len(each) for each in links} == sizes
        for one, other in itertools.pairwise(links):
            if relation == "replace-one":
                assert sum(a != b for a, b in zip(one, other)) == 1
            else:
                long, short = sorted((one, other), key=len, reverse=True)
                assert any(short == [*long[:i], *long[i + 1 :]] for i in range(len(long)))
