"""RecordedCall pipelines: honest ones are never blamed, broken ones are, by call and line."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.auditing import mechanism, record
from simulator.auditing.pipelines.differences import difference
from simulator.errors import InvalidInput
from simulator.theory.events import Account, gaussian, laplace
from tests.auditing.pipelines import honest
from tests.auditing.pipelines.broken import BROKEN

DATA = [0.25, 0.5, 1.0, 0.875]
VALUES = st.lists(st.integers(0, 64).map(lambda n: n / 64), min_size=1, max_size=6)


def name(function):
    return function.__name__


@pytest.mark.sampled(n=5)
@pytest.mark.parametrize("pipeline", honest.DECIDED, ids=name)
def test_an_honest_pipeline_is_shown_to_keep_its_claim(pipeline):
    report = record(pipeline, DATA, DATA[:-1], claimed="pure:1")
    assert report.verdict == "kept", report


@given(st.sampled_from(honest.DECIDED), VALUES, st.integers(0, 5), st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_an_honest_pipeline_is_kept_whatever_the_pair(pipeline, data, place, seed):
    other = [*data]
    del other[place % len(data)]
    for pair in ((data, other), (other, data)):
        report = record(pipeline, *pair, claimed="pure:1", seed=seed)
        assert report.verdict == "kept", report


def test_a_pair_that_does_not_differ_where_others_do_is_kept():
    pair = [0.0, 0.5], [0.5]
    assert record(honest.two_parts_and_noise, *pair, claimed="pure:1").verdict == "kept"


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("pipeline", honest.UNDECIDED, ids=name)
def test_an_honest_pipeline_that_is_not_decided_is_not_blamed_either(pipeline):
    """Each is played some hundred times before it is left undecided."""
    for seed, pair in enumerate([(DATA, DATA[1:]), ([0.5], []), ([], [0.5])]):
        report = record(pipeline, *pair, claimed="pure:1", seed=seed)
        assert not report.violated, report


@pytest.mark.parametrize("pipeline", BROKEN, ids=name)
def test_a_broken_pipeline_is_blamed(pipeline):
    report = record(pipeline, DATA, DATA[:-1], claimed="pure:1")
    assert report.violated, report
    assert report.findings[0].kind == BROKEN[pipeline], report
    assert "violated" in str(report)


def test_a_leak_is_named_by_call_and_line():
    def pipeline(data, rng):
        first = len(data) + rng.laplace(scale=2.0)
        return first + rng.laplace(scale=1 / len(data))

    found = record(pipeline, DATA, DATA[:-1]).blamed
    line = pipeline.__code__.co_firstlineno + 2
    assert (found.kind, found.call, found.name) == ("argument", 2, "laplace")
    assert found.where.endswith(f"test_recording.py:{line}")
    assert "scale is 0.25 on one database and 0.333" in found.text


@pytest.mark.parametrize("scale", [0.7, 3.0])
def test_the_composed_epsilon_and_the_loss_are_those_of_the_laws(scale):
    def pipeline(data, rng):
        return (
            sum(data) + rng.laplace(scale=scale),
            len(data) + rng.normal(scale=scale),
            2 * len(data) + rng.normal(scale=scale),
        )

    report = record(pipeline, [1.0, 0.5], [1.0], delta=1e-5)
    truth = Account().then(laplace(scale, 0.5)).then(gaussian(scale, math.sqrt(5.0)))
    found, exact = report.epsilon, truth.epsilon(1e-5)
    assert found.lower == pytest.approx(exact.lower, rel=1e-6)
    assert found.upper == pytest.approx(exact.upper, rel=1e-6)

    kept = []

    def keeps(data, rng):
        kept.append(pipeline(data, rng))
        return kept[-1]

    report = record(keeps, [1.0, 0.5], [1.0])
    a, b, c = map(float, kept[0])

    def log_density(total, count):
        return -abs(a - total) / scale - ((b - count) ** 2 + (c - 2 * count) ** 2) / (2 * scale**2)

    assert report.loss == pytest.approx(log_density(1.5, 2) - log_density(1.0, 1), rel=1e-9)


def test_only_the_part_of_a_database_that_moved_costs():
    def parallel(data, rng):
        groups = ([x for x in data if x < 0.5], [x for x in data if x >= 0.5])
        return [len(group) + rng.laplace(scale=1.0) for group in groups]

    report = record(parallel, DATA, DATA[:-1], claimed="pure:1")
    assert report.verdict == "kept"
    assert [call.distance for call in report.calls] == [1.0]


def test_the_most_expensive_line_is_blamed():
    def pipeline(data, rng):
        cheap = len(data) + rng.laplace(scale=10.0)
        dear = [len(data) + rng.laplace(scale=1.5) for _ in range(2)]
        return cheap, dear

    found = record(pipeline, DATA, DATA[:-1], claimed="pure:1").blamed
    assert found.where.endswith(f":{pipeline.__code__.co_firstlineno + 2}")
    assert "most by 2 calls of this line" in found.text


def test_noise_kept_in_a_container_before_use_is_followed():
    def pipeline(data, rng):
        noise = {"a": rng.laplace(scale=1.0)}
        return noise["a"] + len(data)

    assert record(pipeline, DATA, DATA[:-1], claimed="pure:1").verdict == "kept"
    assert record(pipeline, DATA, DATA[:-1], claimed="pure:0.99").violated


def test_a_leak_that_depends_on_coins_is_undecided_and_one_that_does_not_is_blamed():
    def mixed(data, rng):
        bit = len(data) > 3
        return (bit if rng.random() < 0.9 else not bit), len(data)

    found = record(mixed, DATA, DATA[:-1]).findings
    assert [each.certain for each in found] == [True]
    assert "returned[1] is 4 and 3" in found[0].text


@given(p=st.floats(0.51, 0.9999))
@settings(max_examples=6, deadline=None)
def test_randomized_response_by_hand_is_never_blamed(p):
    def respond(data, rng):
        bit = len(data) > 3
        return bit if rng.random() < p else not bit

    assert record(respond, DATA, DATA[:-1]).verdict == "undecided"


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_databases_of_every_type_are_copied(kind):
    def mutates(data, rng):
        total = float(np.sum(data))
        if isinstance(data, list | np.ndarray):
            data[0] = 1e9
        return total + rng.laplace(scale=1.0)

    data = kind(DATA)
    assert record(mutates, data, data[:-1], claimed="pure:1").verdict == "kept"
    assert data[0] == DATA[0]


def test_claims_of_other_kinds():
    def pipeline(data, rng):
        return [len(data) + rng.normal(scale=2.0) for _ in range(4)]

    mu = 1.0  # sqrt(4) / 2
    delta = gaussian(1.0).once().guarantees[0].hockey_stick(1.0)
    for claim, kept in [
        (f"gdp:{mu}", True), (f"gdp:{0.99 * mu}", False),
        (f"approx:1,{1.001 * delta}", True),
        (f"approx:1,{0.999 * delta}", False),
        ("zcdp:0.5", True),
    ]:  # fmt: skip
        report = record(pipeline, DATA, DATA[:-1], claimed=claim)
        assert report.violated is not kept, report


def test_a_mechanism_outside_a_recording_is_the_function():
    @mechanism(guarantee="pure:{epsilon}")
    def plus_one(value, epsilon=1.0):
        return value + 1

    assert plus_one(2) == 3
    assert plus_one.__name__ == "plus_one"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: record(3, [1], []), "a pipeline must be callable, not 3"),
        (lambda: record(len, [1], [], seed=-1), "seed must be a whole number"),
        (lambda: record(len, [1], [], claimed="pure:-1"), "epsilon"),
        (lambda: record(len, [1], [], claimed=3), "claimed must be a guarantee"),
        (lambda: record(len, [1], [], patches=["nothing"]), "no patch 'nothing'"),
        (lambda: mechanism("x")(len), "has no argument 'x'"),
        (lambda: mechanism(metric="l7"), "metric must be one of l1, l2, linf, unequal"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.nightly
def test_published_coins_do_not_amplify():
    kept = record(honest.sampled, [1.0], [], claimed="pure:0.2", seed=7)
    assert kept.verdict in ("kept", "undecided")
    broken = [
        record(honest.sampled, [1.0] * 40, [1.0] * 39, claimed="pure:0.2", seed=seed,
               public_coins=True).verdict
        for seed in range(40)
    ]  # fmt: skip
    assert set(broken) == {"kept", "violated"}  # the record is in one sample of ten


def test_numpy_and_random_are_as_before():
    before = np.random.laplace, np.random.default_rng, np.random.RandomState
    record(honest.noisy_sum, DATA, DATA[:-1])
    assert (np.random.laplace, np.random.default_rng, np.random.RandomState) == before


STEP = st.tuples(
    st.sampled_from(["count", "sum", "histogram", "gaussian-free", "choice", "maximum"]),
    st.floats(0.05, 1.0),
    st.booleans(),
)


def program(steps):
    """A pipeline of random steps, each with its epsilon, that branches on its answers."""

    def pipeline(data, rng):
        answers, found = [0.0], {}
        for place, (kind, epsilon, branches) in enumerate(steps):
            if branches and float(answers[-1]) > 3.0:
                found[place] = "skipped"
                continue
            if kind == "count":
                answers.append(len(data) + rng.laplace(scale=1 / epsilon))
            elif kind == "sum":
                answers.append(rng.laplace(np.sum(data), 1 / epsilon))
            elif kind == "histogram":
                counts = np.histogram(data, bins=3, range=(0, 1))[0]
                answers.append((counts + rng.laplace(scale=1 / epsilon, size=3)).max())
            elif kind == "choice":
                weights = np.exp(epsilon * np.array([len(data), 1.0]) / 2)
                answers.append(rng.choice(2, p=weights / weights.sum()))
            elif kind == "maximum":
                scores = np.array([len(data), 2.0])
                answers.append(np.argmax(scores + rng.gumbel(scale=2 / epsilon, size=2)))
            else:  # noise alone is public
                answers.append(rng.normal(scale=1 / epsilon))
            found[place] = round(float(answers[-1]), 9)
        return found

    return pipeline


@given(st.lists(STEP, min_size=1, max_size=6), VALUES, st.integers(0, 2**31))
@settings(max_examples=8, deadline=None)
def test_random_programs_are_never_blamed(steps, data, seed):
    spent = sum(epsilon for kind, epsilon, _ in steps if kind != "gaussian-free")
    claim = f"pure:{max(spent, 1e-3)}"
    report = record(program(steps), data, data[:-1], claimed=claim, seed=seed)
    assert report.verdict == "kept", report


@given(
    st.lists(st.tuples(st.just("count"), st.floats(0.05, 1.0), st.just(False)), min_size=1,
             max_size=5),
    VALUES,
    st.integers(0, 2**31),
)  # fmt: skip
@settings(max_examples=8, deadline=None)
def test_random_programs_that_spend_a_hundredth_too_much_are_blamed(steps, data, seed):
    claim = f"pure:{0.99 * sum(epsilon for _, epsilon, _ in steps)}"
    report = record(program(steps), data, data[:-1], claimed=claim, seed=seed)
    assert report.violated
    assert report.blamed.kind == "cost"


def test_diffprivlib_is_recorded():
    models = pytest.importorskip("diffprivlib.mechanisms")

    def count(data):
        return models.Geometric(epsilon=0.5, sensitivity=1).randomise(len(data))

    def total(data):
        return models.Laplace(epsilon=0.5, sensitivity=1).randomise(2.0 * len(data))

    assert record(count, DATA, DATA[:-1], claimed="pure:0.5", patches=["diffprivlib"]).verdict == (
        "kept"
    )
    found = record(total, DATA, DATA[:-1], claimed="pure:2", patches=["diffprivlib"])
    assert found.blamed.kind == "sensitivity"
    assert found.blamed.name == "Laplace"


def test_opendp_is_recorded():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)

    def count(data):
        return dp.m.make_laplace(*space, 2.0)(len(data))

    def by_size(data):
        return dp.m.make_laplace(*space, float(len(data)))(len(data))

    def noise_alone(data):
        return len(data) + dp.m.make_laplace(*space, 2.0)(0)

    kept = record(count, DATA, DATA[:-1], claimed="pure:0.51", patches=["opendp"])
    assert (kept.verdict, kept.total) == ("kept", 1)
    found = record(by_size, DATA, DATA[:-1], claimed="pure:1", patches=["opendp"])
    assert found.violated
    assert found.blamed.kind == "argument"
    assert record(noise_alone, DATA, DATA[:-1], patches=["opendp"]).verdict == "undecided"


def test_a_pipeline_that_never_ends_is_named(monkeypatch):
    monkeypatch.setattr("simulator.auditing.pipelines.runs._MOST_YIELDED", 10)

    def forever(database):
        while True:
            yield 1

    try:
        said = str(record(forever, 0, 1))
    except InvalidInput as error:
        said = str(error)
    assert "a pipeline must come to an end; this one yielded more than 10 values" in said


def test_tensors_are_compared_by_their_numbers():
    """One of torch that has a gradient refuses to become an array before it is detached."""

    class Tensor:
        shape = (2,)

        def __init__(self, numbers, attached=True):
            self.numbers, self.attached = numbers, attached

        def detach(self):
            return Tensor(self.numbers, attached=False)

        def __array__(self, dtype=None, copy=None):
            if self.attached:
                raise RuntimeError("use tensor.detach().numpy() instead")
            return np.array(self.numbers)

    class Unreadable(Tensor):
        detach = None

        def __repr__(self):
            return str(self.numbers)

    for kind in (Tensor, Unreadable):
        assert difference(kind([1.0, 2.0]), kind([1.0, 2.0])) is None
        assert difference(kind([1.0, 2.0]), kind([1.0, 3.0])) is not None
