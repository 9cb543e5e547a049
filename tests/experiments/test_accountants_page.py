"""``make accountants``: claims against the stored truths, broken accountants among them."""

import pytest

from experiments import accountants as page
from simulator.auditing.conformance import Worker, try_accountants
from simulator.auditing.conformance.events import APPROX, GAUSSIAN, PURE
from simulator.auditing.truths import documents

BROKEN = "tests.auditing.conformance.broken"


@pytest.fixture(scope="module")
def answers():
    return documents.rows()


@pytest.fixture(scope="module")
def rows(answers):
    """The rows of broken accountants, on the first composition of each of three kinds."""
    kinds, cases = {GAUSSIAN, PURE, APPROX}, []
    for case in page.cases_of(answers):
        found = {event.kind for event in case.events}
        if len(found) == 1 and found <= kinds:
            kinds -= found
            cases.append(case)
    truths = page.StoredTruths(answers)
    trial = try_accountants("broken", cases, worker=Worker(BROKEN), truths=truths)
    named = {each["name"]: each for each in trial.subjects}
    chosen = ("sound", "halves", "doubles", "raises", "ignores counts")
    return {name: page.row_of(trial, named[name]) for name in chosen}


def test_a_row_has_the_largest_errors(rows):
    assert all(row.calls == 6 for name, row in rows.items() if name != "ignores counts")
    sound, halves, doubles = rows["sound"], rows["halves"], rows["doubles"]
    assert (sound.unsound, sound.refused, sound.failed) == (0, 0, 0)
    assert 0.0 <= sound.usual <= sound.above < 1e-5
    assert halves.below == pytest.approx(0.5, rel=1e-5)
    assert halves.delta_below == pytest.approx(0.5, rel=1e-5)
    assert halves.usual is halves.above is None
    assert len(halves.witness) == 2
    assert doubles.usual == pytest.approx(2.0, rel=1e-5)
    assert doubles.delta_above == pytest.approx(3.0, rel=1e-5)
    assert set(doubles.kinds) == {GAUSSIAN, PURE, APPROX}


def test_refusals_and_failures_are_counted_apart(rows):
    assert (rows["raises"].failed, rows["raises"].seconds) == (6, None)
    assert rows["ignores counts"].refused == 3
    assert rows["sound"].seconds > 0.0


def test_the_page_has_sound_accountants_first_and_each_shortfall(rows):
    text = page.page(list(rows.values()), {"another": "not installed"}, (3, 2128))
    places = [text.index(f"`{name}` |") for name in ("sound", "doubles", "halves")]
    assert places == sorted(places)
    assert "| 50% |" in text
    assert "x 3, x 3" in text
    assert "(certified ends); " in text
    assert "another is absent: not installed" in text


def test_all_compositions_are_there_in_one_order(answers):
    cases = page.cases_of(answers)
    assert len({case.name for case in cases}) == len(cases) == 2128
    assert [case.name for case in cases[:50]] == [case.name for case in page.cases_of(answers)[:50]]
    truths = page.StoredTruths(answers)
    assert all(truths.place(case, "epsilon") == case.delta for case in cases)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonesuch"], "unknown library 'nonesuch'"),
        (["opendp"], "name a folder by --out"),
        (["--compositions", "3"], "name a folder by --out"),
        (["--compositions", "0", "--out", "."], "compositions must be at least 1"),
        (["--python", "opendp"], "--python takes NAME=PATH"),
    ],
)
def test_bad_arguments_are_one_line(arguments, words, capsys, monkeypatch):
    monkeypatch.setattr(page, "rows_of", None)
    assert page.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert words in line
