"""The ledger's machinery: values, registry, running, rendering."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from simulator.analysis.estimation import tail_violation
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.teaching import claims
from simulator.teaching.claims import Claim, Fault, Finding, Verdict
from simulator.teaching.claims.findings import decided, equal, statement, upper_bound
from simulator.teaching.claims.ledger.sources import SOURCES
from simulator.teaching.claims.registry import claim as register
from simulator.teaching.claims.rendering import _sentences


def sample_claim(**changes: object) -> Claim:
    def check(*, bound: float = 2.0) -> Finding:
        return upper_bound(1.0, bound, "a | thing")

    values: dict[str, object] = {
        "id": "roth2011-sample",
        "source": SOURCES[0],
        "place": "Theorem 0",
        "statement": "A thing is at most 2.",
        "expected": Verdict.NOT_TIGHT,
        "function": check,
        "wrong": {"bound": 0.5},
    }
    return Claim(**(values | changes))  # type: ignore[arg-type]


def test_ids_are_unique_and_begin_with_their_source() -> None:
    ids = [entry.id for entry in claims.all_claims()]
    assert len(ids) == len(set(ids))
    assert {entry.source for entry in claims.all_claims()} <= set(SOURCES)


def test_claims_of_one_source() -> None:
    only = claims.all_claims("roth2011")
    assert only
    assert all(entry.source is SOURCES[0] for entry in only)
    with pytest.raises(InvalidInput, match="sources are roth2011"):
        claims.all_claims("roth")


def test_unknown_id_answers_with_the_nearest() -> None:
    assert claims.find("roth2011-theorem-1").place == "Theorem 1"
    with pytest.raises(InvalidInput, match="roth2011-theorem-1"):
        claims.find("roth2011-theorm-1")
    with pytest.raises(InvalidInput, match="lists them"):
        claims.find("§§§")


def test_parameters_are_the_defaults_of_the_check() -> None:
    assert sample_claim().parameters == {"bound": 2.0}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "elsewhere-sample"}, "beginning roth2011-"),
        ({"wrong": {}}, "either wrong or cannot_be_wrong"),
        ({"cannot_be_wrong": "a reason"}, "either wrong or cannot_be_wrong"),
        ({"wrong": {"bond": 1.0}}, "no parameter"),
        ({"expected": Verdict.UNDECIDED}, "record a verdict"),
    ],
)
def test_malformed_claims_are_refused(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        sample_claim(**changes)


def test_the_same_id_twice_is_refused() -> None:
    taken = claims.all_claims()[0]
    with pytest.raises(InvalidInput, match="two claims"):
        register(taken.id, taken.place, "", taken.expected, cannot_be_wrong="sample")(
            taken.function
        )
    with pytest.raises(InvalidInput, match="begins with no source: roth2011"):
        register("roth-1", taken.place, "", taken.expected, cannot_be_wrong="sample")(
            taken.function
        )


def test_findings_say_what_they_rest_on() -> None:
    with pytest.raises(InvalidInput, match="printed"):
        Finding(Verdict.FAILS, "1", printed="2")
    with pytest.raises(InvalidInput, match="false-alarm"):
        Finding(Verdict.HOLDS, "1", method="simulation")
    with pytest.raises(InvalidInput, match="slack"):
        Finding(Verdict.HOLDS, "1", slack=float("nan"))


def test_an_altered_claim_needs_an_alteration() -> None:
    fixed = sample_claim(wrong={}, cannot_be_wrong="it is a definition")
    with pytest.raises(InvalidInput, match="it is a definition"):
        fixed.run_wrong()


@pytest.mark.parametrize(
    ("attained", "claimed", "verdict"),
    [
        (1.0, 1.0, Verdict.HOLDS),
        (1.0, 1.0 - 1e-6, Verdict.FAILS),
        (1.0, 1.5, Verdict.NOT_TIGHT),
        (0.0, 1.0, Verdict.NOT_TIGHT),
        (float("nan"), 1.0, Verdict.FAILS),
        (1e-40, 1e-41, Verdict.FAILS),
        (4.4e-16, 0.0, Verdict.HOLDS),
        (1e-14, 0.0, Verdict.FAILS),
    ],
)
def test_upper_bounds(attained: float, claimed: float, verdict: Verdict) -> None:
    assert upper_bound(attained, claimed, "it").verdict is verdict


def test_equality_and_statements() -> None:
    assert equal(0.1 + 0.2, 0.3, "it").verdict is Verdict.HOLDS
    assert equal(1.0, 1.0 + 1e-8, "it").verdict is Verdict.FAILS
    assert statement(True, "seen").verdict is Verdict.HOLDS
    assert statement(False, "seen").right == "seen"


def test_too_little_data_is_undecided_with_its_interval() -> None:
    decision = tail_violation([0.0] * 20, 1.0, 0.01, false_alarm=1e-6)
    finding = decided(decision, "Pr[L > 1]")
    assert finding.verdict is Verdict.UNDECIDED
    assert "in [0, 0." in str(finding.measured)
    assert decided(tail_violation([2.0] * 99, 1.0, 0.01), "tail").verdict is Verdict.FAILS


def test_run_tells_each_result_and_compares_with_the_record() -> None:
    reported: list[claims.ClaimResult] = []
    stray = sample_claim(expected=Verdict.HOLDS)
    results = claims.run([sample_claim(), stray], reported.append)
    assert results == reported
    assert [result.as_recorded for result in results] == [True, False]
    assert results[0].seconds >= 0.0


def test_a_refused_estimate_leaves_the_claim_undecided() -> None:
    def refuses(*, bound: float = 1.0) -> Finding:
        raise Refusal("two hits only; play more trials")

    (result,) = claims.run([sample_claim(function=refuses)])
    assert result.finding.verdict is Verdict.UNDECIDED
    assert result.finding.measured == "two hits only; play more trials"
    assert not result.as_recorded


def test_markdown_puts_complaints_first_and_escapes_bars() -> None:
    wrong = sample_claim(id="roth2011-wrong", expected=Verdict.FAILS, wrong={"bound": 2.0})
    wrong = replace(wrong, function=lambda *, bound=0.5: upper_bound(1.0, bound, "a | thing"))
    text = claims.to_markdown(claims.run([sample_claim(), wrong]))
    table = text[text.index("## Roth 2011") :]
    assert table.index("roth2011-wrong") < table.index("roth2011-sample")
    assert "a \\| thing" in text
    assert "Found wrong or unsupported" in text
    assert "Not as recorded" not in text
    stray = claims.run([sample_claim(expected=Verdict.HOLDS)])
    assert "Not as recorded: roth2011-sample" in claims.to_markdown(stray)


def test_json_is_strict_and_carries_the_parameters() -> None:
    infinite = sample_claim(function=lambda *, bound=2.0: upper_bound(0.0, bound, "it"))
    entry = json.loads(claims.to_json(claims.run([infinite])))[0]
    assert entry["id"] == "roth2011-sample"
    assert entry["parameters"] == {"bound": 2.0}
    assert entry["slack"] is None
    assert entry["as_recorded"] is True


@pytest.mark.parametrize("fault", [Fault.READING, Fault.SLIP, Fault.TRANSCRIPT])
def test_only_a_complaint_has_a_kind_of_fault(fault: Fault) -> None:
    with pytest.raises(InvalidInput, match="kind of complaint"):
        sample_claim(fault=fault)
    assert sample_claim(expected=Verdict.FAILS, fault=fault).fault is fault


def test_a_shared_check_takes_each_claim_s_own_constants() -> None:
    shared = sample_claim(given={"bound": 1.0}, expected=Verdict.HOLDS)
    assert shared.parameters == {"bound": 1.0}
    assert shared.run().verdict is Verdict.HOLDS
    assert shared.run_wrong().verdict is Verdict.FAILS
    with pytest.raises(InvalidInput, match="no parameter"):
        sample_claim(given={"bond": 1.0})


def test_a_claim_says_where_it_is_written() -> None:
    module, line = claims.find("roth2011-theorem-1").written
    file = Path(sys.modules[module].__file__ or "")
    assert "roth2011-theorem-1" in "".join(
        file.read_text("utf-8").splitlines()[line - 1 : line + 2]
    )


def test_a_remark_follows_as_a_sentence_if_it_begins_with_a_word() -> None:
    assert _sentences("1", "seen in plays") == "1. Seen in plays."
    assert _sentences("1", "ε is small") == "1; ε is small"
    assert _sentences("1", "k = 20") == "1; k = 20"
    assert _sentences("1", "") == "1"


@pytest.mark.nightly
def test_the_order_is_that_of_the_files_whatever_was_imported_first() -> None:
    listing = "from simulator.teaching import claims; print([c.id for c in claims.all_claims()])"
    ledger = "simulator.teaching.claims.ledger"
    first = f"import {ledger}.zhang2020.smooth; import {ledger}.roth2011.azuma; "
    printed = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for code in (listing, first + listing)
    ]
    assert printed[0].stdout == printed[1].stdout


def test_a_claim_travels_to_another_process_and_is_a_key() -> None:
    """Neither could be done: a mappingproxy is neither pickled nor hashed."""
    everything = claims.all_claims()
    there = pickle.loads(pickle.dumps(everything))
    assert there == everything
    assert len({*there, *everything}) == len(everything)
    for name in ("wrong", "given"):
        assert all(type(getattr(one, name)) is MappingProxyType for one in there)
    own = next(one for one in there if one.wrong)
    with pytest.raises(TypeError):
        own.wrong["x"] = 1  # type: ignore[index]
    assert own.run_wrong() == claims.find(own.id).run_wrong()


@pytest.mark.nightly
def test_claims_are_mapped_over_by_a_pool_of_processes() -> None:
    chosen = claims.all_claims("group-notes")[:3]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(Claim.run, chosen)) == [each.run() for each in chosen]
