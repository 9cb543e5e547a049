"""assert_pipeline: neighbours, the smallest databases that fail, and the fixture dp."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import strategies as st

from simulator import Database
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
    assert caught.value.result.databases == ([0.0], [])
    assert assert_pipeline(every_round, DATA, claimed="pure:1", rounds=4).verdict == "kept"


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
    report = assert_pipeline(honest.converted_noise, DATA, claimed="pure:1")
    assert report.verdict == "undecided"
    with pytest.raises(PrivacyViolation, match="undecided: output"):
        assert_pipeline(honest.converted_noise, DATA, claimed="pure:1", strict=True)


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
