"""``dpcompose claims``: the ledger as a command."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import pytest

from simulator import claims
from simulator.claims import registry
from simulator.claims.findings import equal
from simulator.cli.claims import checked
from simulator.errors import InvalidInput
from tests.helpers.workplaces import Script

FIELDS = {
    "id", "source", "place", "statement", "parameters", "expected", "as_recorded", "slip",
    "verdict", "method", "measured", "slack", "printed", "right", "false_alarm", "note",
}  # fmt: skip


@pytest.fixture
def astray(monkeypatch):
    """Record another verdict for a true claim."""
    right = claims.find("chapter5-lemma-1-7")
    wrong = replace(right, expected=claims.Verdict.FAILS)
    monkeypatch.setitem(registry._LEDGER, right.id, wrong)
    return right.id


def test_a_source_is_a_table_with_complaints_first(dpcompose):
    said = dpcompose("claims", "--source", "chapter5")
    assert (said.code, said.err) == (0, "")
    assert said.out.index("chapter5-lemma-1-6-display") < said.out.index("chapter5-lemma-1-1 ")
    assert "1.17646" in said.out.partition("Found wrong or unsupported")[2]
    assert said.out.splitlines()[-1].startswith(f"{len(claims.all_claims('chapter5'))} claims: ")
    assert "roth2011" not in said.out


def test_named_claims_are_told_in_full(dpcompose):
    said = dpcompose("claims", "zhang2020-ballot-table-5", "roth2011-theorem-6")
    assert said.code == 0
    assert claims.find("roth2011-theorem-6").statement in said.out
    assert "0.859" in said.out
    assert "candidates" in said.out
    assert said.out.endswith("2 claims: 1 holds but is not tight, 1 fails as printed.\n")


def test_a_claim_named_twice_is_checked_once(dpcompose):
    said = dpcompose("claims", "chapter5-lemma-1-1", "chapter5-lemma-1-1")
    assert said.out.endswith("1 claim: 1 holds.\n")


def test_json_is_the_ledger_s(dpcompose):
    said = dpcompose("claims", "roth2011-theorem-1", "zhang2020-bob", "--json")
    assert (said.code, said.err) == (0, "")
    assert [entry["id"] for entry in said.json] == ["roth2011-theorem-1", "zhang2020-bob"]
    assert all(set(entry) == FIELDS for entry in said.json)
    assert said.out == claims.to_json(
        claims.run([claims.find("roth2011-theorem-1"), claims.find("zhang2020-bob")])
    )


def test_another_verdict_than_recorded_exits_1(dpcompose, astray):
    said = dpcompose("claims", astray, "chapter5-lemma-1-1")
    assert said.code == 1
    assert f"{astray}: holds, recorded: fails as printed" in said.err
    assert said.err.endswith("1 of 2 verdicts differ from the recorded ones\n")
    assert "holds (recorded: fails as printed)" in said.out
    quiet = dpcompose("claims", astray, "--json")
    assert quiet.code == 1
    assert quiet.json[0]["as_recorded"] is False


def test_an_unknown_id_answers_with_the_nearest(dpcompose):
    line = dpcompose("claims", "roth2011-theorm-6").complaint
    assert "roth2011-theorem-6" in line
    assert "unknown claim" in line


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--source", "chapter6"), "'chapter5'"),
        (("--source", "chapter5", "chapter5-lemma-1-1"), "not both"),
        (("--jobs", "0"), "jobs must be at least 1"),
        (("--jobs", "-3"), "jobs must be at least 1"),
        (("--jobs", "many"), "--jobs"),
    ],
)
def test_bad_input_is_one_line(dpcompose, arguments, complaint):
    assert complaint in dpcompose("claims", *arguments).complaint


def test_the_help_keeps_its_lists(dpcompose):
    out = dpcompose("claims", "--help").out
    assert "  dpcompose claims --source chapter5\n" in out
    assert "\\b" not in out


def test_progress_on_a_terminal_only(capsys, monkeypatch):
    chosen = [claims.find("chapter5-lemma-1-1"), claims.find("chapter5-lemma-1-7")]
    checked(chosen, 1)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    checked(chosen, 1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 of 2  chapter5-lemma-1-7" in err
    assert err.endswith("\r\x1b[K")


def test_workers_come_to_the_same_bytes():
    chosen = claims.all_claims("composition-note")
    told: list[claims.ClaimResult] = []
    assert claims.to_json(claims.run(chosen, told.append, jobs=2)) == claims.to_json(
        claims.run(chosen)
    )
    assert {result.claim.id for result in told} == {claim.id for claim in chosen}


def test_workers_do_not_check_what_they_cannot_know():
    stranger = replace(
        claims.find("chapter5-lemma-1-1"), check=lambda *, share=1.0: equal(1.0, share, "it"),
        wrong={"share": 0.5},
    )  # fmt: skip
    with pytest.raises(InvalidInput, match="jobs=1"):
        claims.run([stranger, stranger], jobs=2)


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.2, 1.0])
def test_an_interruption_ends_workers_too(tmp_path, seconds):
    """At the very start of the workers and later; none of them says where it was."""
    body = """
        from simulator.cli import main
        if __name__ == "__main__":
            print("ready", flush=True)
            main(["claims", "--jobs", "2"])
    """
    script = Script(tmp_path, body)
    script.wait_for("ready")
    while len(script.members()) < 3:  # the parent, its resource tracker, and a worker
        assert script.process.poll() is None
    time.sleep(seconds)
    script.interrupt()
    code, out, err = script.finish(60)
    assert (code, out, err.strip()) == (130, "", "interrupted")
    assert not script.left_behind()
