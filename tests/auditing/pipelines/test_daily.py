"""Pipelines of a data scientist's day: the broken ones are blamed by line, no honest one is."""

import inspect
import secrets
import sys
from importlib import import_module

import numpy as np
import pytest

from simulator.auditing import record
from simulator.auditing.pipelines import tape
from simulator.auditing.testing import PrivacyViolation, assert_pipeline
from tests.auditing.pipelines.daily import BROKEN, HONEST, ROWS


def name(function):
    return function.__name__


@pytest.mark.parametrize("pipeline", BROKEN, ids=name)
def test_a_broken_pipeline_is_blamed_by_its_line(pipeline):
    report = record(pipeline, ROWS, ROWS[:-1], claimed="pure:1")
    assert report.violated, report
    assert report.blamed.kind == BROKEN[pipeline], report
    if report.blamed.kind != "output":
        lines, first = inspect.getsourcelines(pipeline)
        file, _, line = report.blamed.where.rpartition(":")
        assert file.endswith("daily.py")
        assert first < int(line) < first + len(lines)


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("pipeline", HONEST, ids=name)
@pytest.mark.parametrize("order", [1, pytest.param(-1, marks=pytest.mark.nightly)])
def test_an_honest_pipeline_is_kept(pipeline, order):
    for place in (11, 0):
        pair = [ROWS, np.delete(ROWS, place, axis=0)][::order]
        again = place == 11  # other databases are made of the same records
        report = record(pipeline, *pair, claimed="pure:1", seed=place, again=again)
        assert report.verdict == "kept", report


def test_assert_pipeline_fails_and_passes():
    some = [*BROKEN][:3]
    for pipeline in some:
        with pytest.raises(PrivacyViolation, match=pipeline.__name__):
            assert_pipeline(pipeline, ROWS, claimed="pure:1")
    assert_pipeline(HONEST[0], ROWS, claimed="pure:1", strict=True)


def running_sums(data, rng):
    total, sums = rng.laplace(scale=1.0), []
    for value in data:
        total += value
        sums.append(float(total))
    return sums


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_sums_that_are_seen_in_between_are_no_single_answer(seed):
    """One noise on many sums: their differences are the records."""
    data = [0.2, 0.5, 0.9, 0.1, 0.6]
    report = record(running_sums, data, data[:-1], claimed="pure:1", seed=seed)
    assert report.verdict != "kept"
    report = record(running_sums, data, [0.2, 0.7, *data[2:]], claimed="pure:1", seed=seed)
    assert report.verdict == "violated"


def test_noise_on_no_record_and_on_one():
    def total(data, rng):
        found = rng.laplace(scale=1.0)
        for value in data:
            found = found + value
        return found

    for pair in ([0.9], []), ([], [0.9]):
        report = record(total, *pair, claimed="pure:1")
        assert report.verdict == "kept"
        assert report.epsilon.upper == pytest.approx(0.9, rel=1e-5)
        assert record(total, *pair, claimed="pure:0.89").violated


# -- seeds -----------------------------------------------------------------------------------------


def always_seeded(data):
    return len(data) + np.random.default_rng(42).laplace()


def legacy_seed(data):
    np.random.seed(7)  # noqa: NPY002
    return len(data) + np.random.laplace()  # noqa: NPY002


@pytest.mark.parametrize(
    ("pipeline", "seed"), [(always_seeded, 42), (legacy_seed, 7)], ids=("generator", "legacy")
)
def test_a_seed_that_is_always_the_same_is_a_function_of_the_data(pipeline, seed):
    report = record(pipeline, [1.0], [], claimed="pure:1")
    assert report.verdict == "violated"
    assert f"the seed is always {seed}: whoever reads the code knows the noise" in str(report)


def test_a_fixed_seed_of_noise_that_meets_no_data_is_left_undecided():
    def pipeline(data, rng):
        return len(data) + rng.laplace(), np.random.default_rng(42).normal()

    report = record(pipeline, [1.0], [], claimed="pure:1")
    assert report.verdict == "undecided"
    assert "the seed is always 42" in str(report)


def test_a_secret_seed_is_none():
    def pipeline(data):
        return len(data) + np.random.default_rng(secrets.randbits(64)).laplace()

    assert record(pipeline, [1.0], [], claimed="pure:1").verdict == "kept"


def test_an_unknown_cost_is_not_kept():
    def pipeline(data, rng):
        return len(data) + rng.gumbel()

    report = record(pipeline, [1.0], [], claimed="pure:100")
    assert report.verdict == "undecided"
    assert "the cost of some answer is not known" in str(report.blamed)
    assert record(pipeline, [1.0], []).verdict == "kept"  # nothing is claimed


@pytest.mark.parametrize("noticed", [True, False])
def test_what_a_module_draws_while_it_is_imported_is_no_draw_of_the_pipeline(
    noticed, tmp_path, monkeypatch
):
    """Every run imports it anew."""
    module = f"draws_at_import_{noticed}"
    (tmp_path / f"{module}.py").write_text(
        "import numpy as np\nTABLE = np.random.default_rng(3).normal(size=4)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    if not noticed:
        monkeypatch.setattr(tape, "_importing", lambda: False)

    def pipeline(data, rng):
        sys.modules.pop(module, None)
        return len(data) + rng.laplace(), len(import_module(module).TABLE)

    report = record(pipeline, [1.0], [], claimed="pure:1")
    assert (report.total == 1) == noticed
