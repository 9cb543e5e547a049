"""``dpcompose claims``: the ledger as a command."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

import pytest

from simulator.doors.cli.output import print_labelled
from simulator.foundations import stages
from simulator.foundations.errors import InvalidInput
from simulator.teaching import claims
from simulator.teaching.claims import registry
from simulator.teaching.claims.findings import equal
from tests.helpers.interrupting import processor_seconds, wait_for
from tests.helpers.workplaces import Script

FIELDS = {
    "id", "source", "place", "statement", "parameters", "expected", "as_recorded", "fault",
    "verdict", "method", "measured", "slack", "printed", "right", "false_alarm", "note",
}  # fmt: skip


@pytest.fixture
def astray(monkeypatch):
    """Record another verdict for a true claim."""
    right = claims.find("chapter5-lemma-1-7")
    wrong = replace(right, expected=claims.Verdict.FAILS)
    monkeypatch.setitem(registry._CLAIMS, right.id, wrong)
    return right.id


@pytest.mark.nightly
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


def test_one_claim_is_asked_again(dpcompose):
    said = dpcompose("claims", "zhang2020-bob", "--set", "denominator=813")
    assert (said.code, said.err) == (0, "")
    assert "verdict     holds" in said.out
    assert "0.999148" in said.out
    wrong = dpcompose("claims", "zhang2020-bob", "--wrong", "--json")
    assert wrong.json["verdict"] == "fails as printed"
    assert wrong.json["parameters"]["denominator"] == "700.0"


def test_a_sweep_is_a_table_and_says_when_nothing_changes(dpcompose):
    said = dpcompose("claims", "zhang2020-n-over-401", "--sweep", "denominator=399..401")
    assert [line.split()[:2] for line in said.out.splitlines()[2:]] == [
        ["399", "399"], ["400", "401"],
    ]  # fmt: skip
    flat = dpcompose("claims", "zhang2020-n-over-401", "--sweep", "denominator=401..403")
    assert flat.out.endswith("no change: zhang2020-n-over-401 holds at every value tried\n")


def test_the_code_of_a_claim(dpcompose):
    said = dpcompose("claims", "roth2011-theorem-1", "--code")
    assert "simulator.teaching.claims.ledger.roth2011.basic, line" in said.out
    assert "def budgets_add_up(" in said.out


def test_claims_are_listed_by_place_and_verdict_without_being_checked(dpcompose):
    chosen = ("--source", "roth2011", "--place", "lemma 7", "--verdict", "not-tight")
    said = dpcompose("claims", *chosen, "--list")
    assert said.code == 0
    assert said.out.splitlines()[0] == "1 claim"
    assert "roth2011-lemma-7 " in said.out
    assert [e["id"] for e in dpcompose("claims", *chosen, "--list", "--json").json] == [
        "roth2011-lemma-7"
    ]


def test_another_verdict_than_recorded_exits_1(dpcompose, astray):
    said = dpcompose("claims", astray, "chapter5-lemma-1-1")
    assert said.code == 1
    assert f"{astray}: holds, recorded: fails as printed" in said.err
    assert said.err.endswith("1 of 2 verdicts differs from the recorded ones\n")
    assert "holds (recorded: fails as printed)" in said.out
    quiet = dpcompose("claims", astray, "--json")
    assert quiet.code == 1
    assert quiet.json[0]["as_recorded"] is False


def test_an_unknown_id_answers_with_the_nearest(dpcompose):
    line = dpcompose("claims", "roth2011-theorm-6").complaint
    assert "roth2011-theorem-6" in line
    assert "unknown claim" in line


ASKED = {
    "--list": (),
    "--set": ("denominator=813",),
    "--seed": ("5",),
    "--wrong": (),
    "--sweep": ("denominator=700..900",),
    "--plot": ("bob.svg",),
    "--code": (),
}
TWO_BY_TWO = [
    pair
    for pair in itertools.combinations(ASKED, 2)
    if pair not in (("--set", "--seed"), ("--sweep", "--plot"))
]


@pytest.mark.parametrize("pair", TWO_BY_TWO, ids=" ".join)
def test_of_two_flags_that_do_not_go_together_none_is_dropped(
    dpcompose, tmp_path, monkeypatch, pair
):
    """``--list --plot bob.svg`` drew, and listed nothing."""
    monkeypatch.chdir(tmp_path)
    one, other = pair
    words = (one, *ASKED[one], other, *ASKED[other])
    line = dpcompose("claims", "zhang2020-bob", *words).complaint
    assert line.startswith(f"{one} and {other} do not go together: give one of --list, --set with")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--code", "--json"), "--code and --json do not go together"),
        (("--set", "rounds=3", "--set", "rounds = 4"), "give rounds once, not as 3 and as 4"),
        (("--sweep", ""), "give a sweep as KNOB=LOW..HIGH, not ''"),
        (("--set", ""), "give a knob and its value as name=value, not ''"),
    ],
)
def test_nothing_that_is_asked_is_dropped(dpcompose, words, line):
    assert line in dpcompose("claims", "zhang2020-bob", *words).complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--source", "chapter6"), "'chapter5'"),
        (("--source", "chapter5", "chapter5-lemma-1-1"), "not both"),
        (("--place", "chapter 9"), "no claim matches"),
        (("zhang2020-bob", "chapter5-lemma-1-1", "--wrong"), "exactly one ID"),
        (("zhang2020-bob", "--wrong", "--code"), "give one of"),
        (("zhang2020-bob", "--set", "nenner=3"), "it has denominator, rounds, log_delta"),
        (("zhang2020-bob", "--set", "denominator=0"), "from 1 to 1e+09"),
        (("zhang2020-bob", "--sweep", "denominator=1"), "KNOB=LOW..HIGH"),
        (("zhang2020-bob", "--sweep", "denominator=0..5"), "from 1 to 1e+09"),
        (("chapter5-reference-to-theorem", "--wrong"), "no altered variant"),
        (("zhang",), "'zhang' is no claim, but the source zhang2020 has many"),
        (("--jobs", "0"), "jobs must be at least 1"),
        (("--jobs", "-3"), "jobs must be at least 1"),
        (("--jobs", "many"), "--jobs"),
    ],
)
def test_bad_input_is_one_line(dpcompose, arguments, complaint):
    assert complaint in dpcompose("claims", *arguments).complaint


def test_the_help_keeps_its_lists(dpcompose):
    out = dpcompose("claims", "--help").out
    assert "  dpcompose claims --source chapter5 --verdict fails\n" in out
    assert "\\b" not in out


def test_each_claim_that_is_checked_is_told():
    told = []

    class Display:
        def begin(self, name, total):
            told.append((name, total))

        def advance(self, stage, by=1.0):
            told.append(by)

        def end(self, stage):
            told.append("end")

    with stages.shown_by(Display()):
        claims.run([claims.find("chapter5-lemma-1-1"), claims.find("chapter5-lemma-1-7")])
    assert told == [("claims", 2), 1.0, 1.0, "end"]


@pytest.mark.nightly
def test_workers_come_to_the_same_bytes():
    chosen = claims.all_claims("composition-note")
    told: list[claims.ClaimResult] = []
    assert claims.to_json(claims.run(chosen, told.append, jobs=2)) == claims.to_json(
        claims.run(chosen)
    )
    assert {result.claim.id for result in told} == {claim.id for claim in chosen}


def test_workers_do_not_check_what_they_cannot_know():
    stranger = replace(
        claims.find("chapter5-lemma-1-1"), function=lambda *, share=1.0: equal(1.0, share, "it"),
        wrong={"share": 0.5}, given={},
    )  # fmt: skip
    with pytest.raises(InvalidInput, match="with one job"):
        claims.run([stranger, stranger], jobs=2)


@pytest.mark.nightly
@pytest.mark.parametrize("computed", [0.0, 0.05, 0.3, 2.0])
def test_an_interruption_ends_workers_too(tmp_path, computed):
    """At the very start of the workers, and once they and their parent have used more seconds.

    None of them says where it was.
    """
    body = """
        from simulator.doors.cli import main
        if __name__ == "__main__":
            print("ready", flush=True)
            main(["claims", "--jobs", "2"])
    """
    script = Script(tmp_path, body)
    script.wait_for("ready")
    # the parent, its resource tracker, and a worker
    wait_for(lambda: len(script.members()) > 2, script.process)
    begun = processor_seconds(script.members())
    wait_for(lambda: processor_seconds(script.members()) >= begun + computed, script.process)
    script.interrupt()
    code, out, err = script.finish(60)
    assert (code, out, err.strip()) == (130, "", "interrupted")
    assert not script.left_behind()


def test_a_claim_s_own_picture_is_drawn_without_a_sweep(dpcompose, tmp_path):
    told = dpcompose("claims", "zhang2020-bob-corollary").out
    assert "picture     --plot FILE draws --sweep denominator=801..1866.333333\n" in told
    picture = tmp_path / "bob.svg"
    said = dpcompose("claims", "zhang2020-bob-corollary", "--plot", str(picture))
    assert (said.code, said.err) == (0, "")
    assert picture.read_text(encoding="utf-8").count("denominator") >= 1
    for ids in (("roth2011-view-reproduces",), ("zhang2020-bob", "roth2011-theorem-1"), ()):
        assert "give one ID" in dpcompose("claims", *ids, "--plot", str(picture)).complaint


def test_labelled_lines_fit_a_terminal_and_are_whole_in_a_pipe(capsys, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    text = "word " * 60
    print_labelled("statement", text.strip())
    assert capsys.readouterr().out == f"statement   {text.strip()}\n"
    monkeypatch.setattr("sys.__stdout__", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    print_labelled("statement", text)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 80
    assert [line[:12] for line in lines] == ["statement   "] + [" " * 12] * (len(lines) - 1)
    assert sum(line.count("word") for line in lines) == 60


def test_a_seed_is_given_once(dpcompose):
    """The one of --set was dropped without a word."""
    said = dpcompose("claims", "zhang2020-survey-played", "--seed", "5", "--set", "seed=7")
    assert (said.code, said.out) == (2, "")
    assert said.err == "error: give the seed once, by --seed or by --set\n"
