"""The committed true answers: each kind against another computation, and remade in part."""

import json
import math
from functools import cache

import jsonschema
import pytest

from simulator.auditing.conformance.events import SUBSAMPLED_GAUSSIAN, PrivacyEvent
from simulator.auditing.conformance.witness import delta_at
from simulator.auditing.truths import documents, questions
from tests.worst.brute_force import response, worst

MOST_PLAYS = 20_000


@cache
def content(name):
    return json.loads((documents.folder() / name).read_text(encoding="utf-8"))


@cache
def rows():
    return documents.rows()


def events_of(about):
    return [
        PrivacyEvent(
            item["mechanism"],
            item["parameter"],
            item["count"],
            item.get("delta", 0.0),
            rate=item.get("rate", 1.0),
        )
        for item in about["rounds"]
    ]


def test_there_are_two_thousand_compositions_and_two_hundred_games():
    assert len(content(documents.COMPOSITIONS)["truths"]) >= 2000
    assert len(content(documents.GAMES)["truths"]) >= 200
    names = [row.name for row in rows()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [documents.COMPOSITIONS, documents.GAMES])
def test_the_documents_keep_the_schema(name):
    schema = content(documents.SCHEMA)
    assert schema == documents.SCHEMA_DOCUMENT
    jsonschema.validate(content(name), schema)
    broken = {**content(name), "truths": [{"id": "one", "epsilon": [[1e-6, 1.0]]}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_ends_are_in_order_and_narrow():
    for row in rows():
        assert 0.0 <= row.truth.lower <= row.truth.upper, row
        sampled = any(item.get("rate") for item in row.about.get("menu") or row.about["rounds"])
        wide = 1e-4 if "menu" in row.about else 1e-2 if sampled else 2e-6
        if 1e-300 < row.truth.upper < math.inf:
            assert row.truth.upper - row.truth.lower <= wide * row.truth.upper, row


def test_both_questions_about_a_composition_agree():
    """The epsilon of the second is rounded down, so its delta is at least that of the first."""
    for item in content(documents.COMPOSITIONS)["truths"]:
        if "delta" in item:
            [(delta, lower, _)], [(epsilon, _, upper)] = item["epsilon"], item["delta"]
            assert epsilon <= lower
            assert upper >= delta, item["id"]


def test_compositions_against_the_second_computation():
    checked = 0
    for row in rows()[::29]:
        if row.question != "delta" or "menu" in row.about or row.truth.upper < 1e-13:
            continue
        events = events_of(row.about)
        if sum(event.count for event in events) > 300 or events[0].kind == SUBSAMPLED_GAUSSIAN:
            continue
        second = delta_at(events, row.at)
        below = row.truth.lower if "lower end" in second.method else 0.0
        assert second.value <= row.truth.upper * (1 + 10 * second.error), row
        assert below or second.value >= row.truth.lower * (1 - 10 * second.error), row
        checked += 1
    assert checked >= 20


def tables_of(menu):
    return [
        (item["p0"], item["p1"]) if "p0" in item else response(item["parameter"]) for item in menu
    ]


def test_games_against_a_recursion_over_all_plays():
    checked = 0
    for row in rows():
        menu, rounds = row.about.get("menu", ()), row.about.get("rounds")
        finite = all(item["mechanism"] in ("finite", "randomized-response") for item in menu)
        if not (menu and finite and rounds) or "budget" in row.about:
            continue
        tables = tables_of(menu)
        if sum(len(p0) for p0, _ in tables) ** rounds > MOST_PLAYS:
            continue
        found = worst(tables, row.at, rounds)
        assert row.truth.lower * (1 - 1e-9) <= found <= row.truth.upper * (1 + 1e-9), row
        checked += 1
    assert checked >= 40


def test_filtered_games_against_a_recursion_over_all_plays():
    """Budgets are in units of 1/50, and the recursion counts units."""
    checked = 0
    for row in rows():
        if "budget" not in row.about:
            continue
        units = [round(50 * item["parameter"]) for item in row.about["menu"]]
        budget = round(50 * row.about["budget"])
        most = budget // min(units)
        if (2 * len(units)) ** most > MOST_PLAYS:
            continue

        def admit(state, option, units=units, budget=budget):
            spent = (state or 0) + units[option]
            return spent if spent <= budget else None

        found = worst(tables_of(row.about["menu"]), row.at, most, admit, 0)
        assert row.truth.lower * (1 - 1e-9) <= found <= row.truth.upper * (1 + 1e-9), row
        checked += 1
    assert checked >= 5


def test_the_command_remakes_the_rows():
    """Some rows, as the whole takes minutes; to nine digits, on any machine."""
    committed = {item["id"]: item for item in content(documents.COMPOSITIONS)["truths"]}
    cases = questions.composition_cases()
    assert [case.name for case in cases] == list(committed)
    for case in cases[::700]:
        again = json.loads(documents.document([questions.answered(case)], {}, {}))["truths"][0]
        for question in ("epsilon", "delta"):
            for new, old in zip(again.pop(question, []), committed[case.name].pop(question, [])):
                assert [float(x) for x in new] == pytest.approx([float(x) for x in old], rel=1e-8)
        assert again == committed[case.name]
