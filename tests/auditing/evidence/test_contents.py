"""What is the public content of an answer is read, and what is not is no part of it."""

import sys
import threading
from functools import partial, reduce

import numpy as np
import pytest

from simulator import PureDP
from simulator.auditing import audit
from simulator.auditing.evidence import tables
from simulator.auditing.evidence.answers import category, settled, shown
from simulator.auditing.evidence.columns import read
from simulator.auditing.evidence.contents import content
from simulator.errors import InvalidInput
from tests.auditing.evidence import containers, idioms
from tests.helpers.cases import case

NEEDS = "what the audit reads of its tables can be tested with the library alone"


def _check(makers):
    """Each container is read, equal for equal values, and seen beside an honest number."""
    rng = np.random.default_rng(0)
    for name, make in makers.items():
        with case(name):
            one, again, other = (category(content(make(n))) for n in (3, 3, 4))
            assert one == again
            assert one != other
            sides = [
                settled([{"held": make(n), "noisy": rng.laplace()} for _ in range(8)])
                for n in (3, 4)
            ]
            reader = read(*sides)
            parts = [i for i, text in enumerate(reader.names) if text != "which answer"]
            cells = [reader.columns(each, parts) for each in sides]
            constant = [(side == side[0]).all(axis=0) for side in cells]
            apart = cells[0][0] != cells[1][0]
            assert np.any(constant[0] & constant[1] & apart), reader.names


def test_what_a_container_holds_is_read():
    _check(containers.PLAIN)


def test_tables_of_pandas_are_read():
    _check(containers.tables(pytest.importorskip("pandas", reason=NEEDS)))


def test_tables_of_polars_are_read():
    _check(containers.frames(pytest.importorskip("polars", reason=NEEDS)))


def test_a_tensor_is_read():
    torch = pytest.importorskip("torch", reason=NEEDS)
    _check({"tensor": lambda n: torch.tensor([1.0, n], requires_grad=True)})


ROWS = [("a", 20), ("a", 60), ("b", 80), ("c", 10), ("c", 90)]
NEIGHBOURS = [(ROWS, ROWS[:2] + ROWS[3:]), (ROWS[:3], ROWS[:2]), (ROWS, ROWS[:-1])]


def _frozen(counts, _):
    return counts.copy()


def _differing(makers):
    """The honest idioms whose answers differ between neighbours though all noisy counts agree."""
    found = []
    for name, idiom in makers.items():
        for frozen in (np.array([3, 0, 5]), np.array([1, 1, 1])):
            for pair in NEIGHBOURS:
                answers = [content(idiom(rows, partial(_frozen, frozen))) for rows in pair]
                if category(answers[0]) != category(answers[1]):
                    found.append(name)
    return found


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_nothing_but_the_content_of_a_table_is_read(library):
    module = pytest.importorskip(library, reason=NEEDS)
    makers = getattr(idioms, f"{library}_idioms")(module)
    assert len(makers) >= 11
    assert _differing(makers) == []


def test_the_caches_of_a_table_are_no_content_and_would_be_seen(monkeypatch):
    """The check above can fail: caches of look-ups that were made before the noise differ."""
    pandas = pytest.importorskip("pandas", reason=NEEDS)
    plain = tables._labels

    def with_caches(index):
        caches = [sorted(each) for each in vars(index).values() if isinstance(each, dict)]
        return plain(index)[0], (plain(index)[1], caches)

    monkeypatch.setattr(tables, "_labels", with_caches)
    assert _differing(idioms.pandas_idioms(pandas))


def _honest(rows, noisy_rows):
    def sample(records, rng):
        def noisy(counts):
            p = 1 - np.exp(-1.0)
            return counts + rng.geometric(p, len(counts)) - rng.geometric(p, len(counts))

        return noisy_rows(records, noisy)

    return audit(sample, *rows, claimed=PureDP(1.0), samples=300)


@pytest.mark.nightly
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_no_honest_idiom_is_blamed(library):
    """With probability 1e-6 per audit one of them would be."""
    module = pytest.importorskip(library, reason=NEEDS)
    for name, idiom in getattr(idioms, f"{library}_idioms")(module).items():
        with case(name):
            assert not _honest(NEIGHBOURS[1], idiom).violated


def test_an_exact_cell_beside_noisy_ones_is_found():
    pandas = pytest.importorskip("pandas", reason=NEEDS)

    def sample(rows, rng):
        noisy = rng.geometric(0.3, 3) - rng.geometric(0.3, 3)
        return pandas.DataFrame({"noisy": noisy, "n": [0, len(rows), 0]}, index=idioms.KEYS)

    found = audit(sample, ROWS, ROWS[:-1], claimed=PureDP(1.0), samples=200)
    assert found.violated
    assert found.event.words.startswith("answer['n']['b']")
    assert found.transcript[0].startswith("{'noisy': {'a':")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (threading.Lock, "holds a _thread.lock, which cannot be read"),
        (lambda: [{"a": threading.Lock()}], r"_thread.lock \(in dict in list\)"),
        (lambda: np, "holds a module"),
        (lambda: np.random.default_rng(), "a random generator: whoever receives it can compute"),
        (lambda: sys.__stderr__, "TextIOWrapper"),
        (lambda: map(abs, iter(int, 1)), "more than 300,000 parts"),
        (lambda: reduce(lambda held, _: [held], range(300), 1), "more than 64 objects inside each"),
    ],
    ids=["lock", "inside", "module", "generator", "file", "endless", "deep"],
)
def test_what_cannot_be_read_is_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        content(make())


def test_a_plan_of_polars_is_refused():
    polars = pytest.importorskip("polars", reason=NEEDS)
    with pytest.raises(InvalidInput, match=r"return the table that \.collect\(\) makes"):
        content(polars.DataFrame({"n": [1]}).lazy())


def test_the_message_of_an_exception_is_part_of_the_answer():
    def sample(value, rng):
        if rng.random() < 0.5:
            raise ValueError(f"{value} records are too few: {object()!r}")
        return 0

    found = audit(sample, 3, 4, claimed=PureDP(1.0), samples=400)
    assert found.violated
    assert "records are too few: <object object>" in found.transcript[0]


def test_answers_of_one_form_are_their_numbers():
    answers = [{"a": [1.5, i], "s": "x", 2: np.array([True, False])} for i in range(4)]
    records = settled(answers)
    assert records.form.places == [
        "answer['a'][0]", "answer['a'][1]", "answer[2][0]", "answer[2][1]",
    ]  # fmt: skip
    assert [category(each) for each in records] == [category(content(each)) for each in answers]
    assert shown(records[1]).startswith("{'a': [1.5, 1], 's': 'x', 2: array")
    mixed = settled([*answers, {"a": [1.5, 2.0], "s": "x", 2: np.array([True, False])}])
    assert isinstance(mixed, list)  # a whole number is no float


def test_labels_of_times_and_intervals_are_their_texts():
    pd = pytest.importorskip("pandas", reason=NEEDS)
    days = pd.date_range("2020-01-01", periods=2)
    later = days + pd.Timedelta(1, "ns")
    elsewhere = days.tz_localize("Asia/Tokyo")
    steps = pd.IntervalIndex.from_breaks([0.0, 0.1 + 0.2, 1.0])
    closed = pd.IntervalIndex.from_breaks([0.0, 0.1 + 0.2, 1.0], closed="left")
    near = pd.IntervalIndex.from_breaks([0.0, 0.3, 1.0])
    months = pd.period_range("2020-01", periods=2, freq="M")
    indices = [days, later, elsewhere, steps, closed, near, months, days.astype(str)]
    read = [content(pd.Series([5, 6], index=each)) for each in indices]
    assert read[0][1][0] == "2020-01-01 00:00:00"
    assert read[3][1][::2] == ("(0.0, 0.30000000000000004]", "(0.30000000000000004, 1.0]")
    assert len(set(map(category, read))) == len(indices)
