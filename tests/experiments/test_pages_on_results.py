"""Sentences of pages that state numbers of results/ are true of the results that are committed."""

import json
import math
import re

from experiments.stages import RESULTS, ROOT

PAGES = ROOT / "experiments/site/pages/howto"
NUMBERS = {"twelve": 12, "fourteen": 14}


def page(name):
    return " ".join((PAGES / f"{name}.md").read_text(encoding="utf-8").split())


def result(name):
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def stated(name, pattern):
    """The numbers of a sentence, which must be on the page."""
    found = re.search(pattern, page(name))
    assert found, f"{name}.md no longer says {pattern!r}: change this test with the sentence"
    return [NUMBERS.get(each.lower()) or float(each.replace(",", "")) for each in found.groups()]


def ratios(filters, **wanted):
    return [
        row["ratio"][1]
        for row in filters["rows"]
        if all(row[key] == value for key, value in wanted.items())
    ]


def test_libraries_and_questions_are_counted():
    rows = result("accountants")
    names = {row["library"] for row in rows["rows"]}
    assert stated("accountants", r"accountants of (\w+) libraries .*?: (\d+) compositions") == [
        len(names) + len(rows["absent"]), rows["compositions"],
    ]  # fmt: skip
    assert stated("conform", r"(\w+) are on trial") == [len(result("conformance")["libraries"])]
    assert stated("audit", r"audits of (\d+) mechanisms") == [len(result("suite")["rows"])]
    assert stated("truths", r"answers of ([\d,]+) compositions") == [
        len(result("truths/compositions")["truths"])
    ]


def test_filters_on_trial():
    trial = result("filters/trial")
    (times,) = stated("filter", r"gets up to (\d+) times its promise")
    assert times == math.ceil(max(ratios(trial, filter="clt")))
    (within,) = stated("filter", r"realised loss is within ±ε \| (\d+) \|")
    assert within == round(max(ratios(trial, filter="threshold")))
    (ahead,) = stated("filter", r"own look-ahead adds at most δ \| ([\d.]+) after 300 rounds")
    assert ahead == round(max(ratios(trial, filter="each within delta")), 1)
    (added,) = stated("filter", r"add the look-aheads up \| ([\d.]+),")
    assert added == round(max(ratios(trial, filter="realised")), 2)


def test_published_odometers():
    least, most = stated("odometers", r"odometers read (\d+)% to (\d+)% more than the exact")
    rows = [row for row in result("filters/odometers")["rows"] if row["rounds"] >= 64]
    excess = [
        100.0 * (reading / row["exact"] - 1.0)
        for row in rows
        for name, reading in row["readings"].items()
        if name != "rogers"  # the page says that it is at basic composition here
    ]
    assert [round(min(excess)), round(max(excess))] == [least, most]
    assert max(max(row["worst"].values()) for row in rows) < 0.1


def test_rounds_of_certified_filters():
    (row,) = (
        each for each in result("filters/rounds")["rows"]
        if (each["epsilon"], each["delta"]) == (1.0, 1e-6)
    )  # fmt: skip
    published = ("sum", "rogers", "whitehouse", "zcdp", "renyi")
    names = {
        "of ε/200": "constant ε/200", "of ε/50": "constant ε/50", "of ε/20": "constant ε/20",
        "of ε/10": "constant ε/10", "two of ε/12, then ε/100": "two of ε/12, then ε/100",
        "ε/20 over the fourth root of the round":
            "decreasing, ε/20 over the fourth root of the round",
    }  # fmt: skip
    for shown, name in names.items():
        rounds = row["rounds"][name]
        wanted = [
            max(rounds[each] for each in published), rounds["residue"], rounds["planned"],
            rounds["limit of any"],
        ]  # fmt: skip
        pattern = rf"\| {re.escape(shown)} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|"
        assert stated("certified", pattern) == wanted, shown


def test_ends_of_spenders_are_as_narrow_as_the_page_says():
    near, far = stated(
        "rare", r"at most ([\d.]+) where δ is a fifth .*?, and at most ([\d.]+) where"
    )
    for one in result("coverage")["spenders"]:
        assert one["ratio"] <= (near if one["share"] >= 0.2 else far), one["adversary"]
        assert one["share"] >= 1 / 500
