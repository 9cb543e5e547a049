"""The coverage suite: verdicts can fail, and one seed fixes the cases."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta

from experiments.coverage.__main__ import main
from experiments.coverage.adversaries import designed, suite
from experiments.coverage.automata import automata
from experiments.coverage.cases import PLACES, Case, cases
from experiments.coverage.running import Claim, Outcome, claim_of, play, tasks
from experiments.coverage.table import FALSE_ALARM, Count, call_rows, markdown, row, rows
from experiments.coverage.truth import Bracket, law_of
from simulator.analysis.estimation import Estimate
from simulator.analysis.rare import RareEvent
from simulator.errors import Refusal

SUITE = suite()
DESIGNED = designed()
CELLS = 128


def test_the_suite_is_as_large_as_it_says():
    assert len(DESIGNED) >= 30
    assert len(automata()) == 100
    assert len(SUITE) == len(DESIGNED) + 100, "two of one name"
    assert {"feint", "two-thetas"} <= set(SUITE)
    assert automata() == automata()
    assert {5, 150} <= {s.rounds for s in DESIGNED}


def test_the_list_of_cases_depends_on_the_seed_alone():
    for name in ("feint", "crooked", "diary"):
        laws = law_of(SUITE[name], 0), law_of(SUITE[name], 1)
        first, again, other = (
            list(itertools.islice(cases(SUITE[name], laws, seed), 120)) for seed in (1, 1, 2)
        )
        assert first == again
        assert first != other
        assert len({case.seed for case in first}) == 120, "every call has a pilot of its own"
        assert {case.quantity for case in first} == {"tail", "delta", "epsilon"}
        assert {case.place for case in first} == {*PLACES, "delta"}
        assert {case.experiment for case in first} == {0, 1}
        assert min(case.trials for case in first) < 10
        assert max(case.trials for case in first) > 5000
    order = [t.subject for t in tasks(SUITE, 1, 1.0, 1, 5)]
    assert order == [t.subject for t in tasks(reversed(SUITE), 1, 1.0, 1, 5)]
    assert sorted(order) == sorted(SUITE)
    assert sum(SUITE[name].kind == "automaton" for name in order[:30]) == 10


def made_by(law, narrower=1.0, valid=True):
    """An estimator with exact intervals of a probability, or ones too narrow."""

    def estimator(adversary, family, rounds, trials, *, epsilon, experiment, seed, **rest):
        def one(truth, noise):
            hits = noise.binomial(trials, truth)
            value = hits / trials
            lower = beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
            upper = beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
            lower, upper = (value + (end - value) / narrower for end in (lower, upper))
            return Estimate(
                value=value, lower=lower, upper=upper, confidence=0.95, method="x", hits=hits,
                effective_sample_size=trials, largest_weight_share=0.1,
                relative_standard_error=0.1, lower_valid=valid, upper_valid=valid,
                no_value="" if valid else "few",
            )  # fmt: skip

        streams = np.random.default_rng(seed).spawn(2)
        tail, delta = (
            one(bracket.lower, stream)
            for bracket, stream in zip((law.tail(epsilon), law.delta(epsilon)), streams)
        )
        return RareEvent(
            epsilon=epsilon, tail=tail, delta=delta, at_delta=None, method="plain", measure=None,
            trials=trials, seconds=0.0, pilot_seconds=0.0,
        )  # fmt: skip

    return estimator


def played(**how):
    subject = SUITE["short"]
    laws = law_of(subject, 0), law_of(subject, 1)
    return [
        outcome
        for seed in range(400)
        for outcome in play(
            Case("short", seed, 0, "delta", 1.5, "midpoint", 300, "auto", seed),
            subject, laws, made_by(laws[0], **how),
        )
    ]  # fmt: skip


def test_an_honest_interval_is_kept_and_a_narrow_one_is_broken():
    """A false alarm of each verdict has probability 1e-6; the seeds are fixed."""
    honest = rows(played())
    assert {r.verdict for r in honest} == {"kept"}
    narrow = rows(played(narrower=2.0))
    assert {r.verdict for r in narrow} == {"broken"}
    assert "broken" in markdown(narrow)
    assert "broken" not in markdown(honest).replace('("broken" where it is not', "")
    by_quantity = {r.value: r for r in honest if r.group == "quantity"}
    assert {name: r.calls for name, r in by_quantity.items()} == {"delta": 400, "tail": 400}
    assert next(r for r in honest if r.group == "all").both.number == 400, "one of each sample"


def test_ends_that_claim_nothing_and_answers_without_a_value_are_counted():
    silent = next(r for r in rows(played(narrower=4.0, valid=False)) if r.group == "all")
    assert silent.verdict == "none"
    assert silent.lower.number == silent.upper.number == 0
    assert silent.ends_alone == 400
    assert silent.ratio is None


def outcome(lower, upper, lower_valid, upper_valid, truth=0.1):
    case = Case("short", 0, 0, "tail", 1.0, "atom", 100, "auto", 0)
    claim = Claim(lower, upper, lower_valid, upper_valid, True)
    return Outcome(case, "length", "tail", "auto: x", truth=Bracket(truth, truth), claim=claim)


def test_each_end_is_counted_for_what_it_claims():
    low = row("all", "all", [outcome(0.2, 0.3, True, True)] * 30)
    assert (low.lower.verdict, low.upper.verdict, low.both.verdict) == ("broken", "kept", "broken")
    high = row("all", "all", [outcome(0.01, 0.05, True, False)] * 30)
    assert (high.lower.verdict, high.upper.verdict) == ("kept", "none")
    assert (high.both.number, high.ends_alone) == (0, 0)
    assert row("all", "all", [outcome(0.1, 0.1, True, True)]).both.missed == 0


def test_the_count_that_chance_explains():
    allowed = Count(1000, 0).allowed
    assert 80 < allowed < 100
    assert Count(1000, allowed).verdict == "kept"
    assert Count(1000, allowed + 1).verdict == "broken"
    assert FALSE_ALARM <= 1e-6


def test_what_is_valid_is_read_from_the_fields():
    found = SimpleNamespace(
        lower=0.1, upper=0.2, lower_valid=True, upper_valid=False, no_value="few"
    )
    assert claim_of(found) == (0.1, 0.2, True, False, False)


@pytest.mark.parametrize(("error", "status"), [(Refusal, "refused"), (ZeroDivisionError, "failed")])
def test_a_call_without_an_answer_is_counted(error, status):
    def estimator(*arguments, **named):
        raise error("no")

    subject = SUITE["short"]
    case = Case("short", 0, 0, "tail", 1.5, "midpoint", 30, "auto", 0)
    found = play(case, subject, (law_of(subject, 0), law_of(subject, 1)), estimator)
    assert [o.status for o in found] == [status]
    table = rows(found)
    assert {getattr(r, status) for r in table} == {1}
    assert ("failed" in markdown(table)) == (status == "failed")


def test_the_command_measures_and_writes(tmp_path, capsys):
    main(["--only", "whisper", "--most", "2", "--workers", "1", "--folder", str(tmp_path)])
    written = json.loads((tmp_path / "coverage.json").read_text(encoding="utf-8"))
    assert written["adversaries_played"] == 1
    assert next(r for r in written["rows"] if r["group"] == "all")["calls"] <= 2
    assert written["rows"][0]["calls"] >= 1
    assert (tmp_path / "coverage.md").read_text(encoding="utf-8").strip() in capsys.readouterr().out


def test_an_unknown_adversary_is_one_line(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "nobody"])
    assert "no adversary nobody" in capsys.readouterr().err


@pytest.mark.nightly
def test_every_adversary_can_be_asked_something():
    for subject in SUITE.values():
        laws = law_of(subject, 0, CELLS), law_of(subject, 1, CELLS)
        case = next(cases(subject, laws, 1))
        assert case.point > 0.0
        if case.quantity != "epsilon":
            assert laws[case.experiment].tail(case.point).upper > 0.0


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_sample_of_the_other_experiment_is_read_as_such(seed):
    subject = replace(SUITE["diary"], rounds=5)
    laws = law_of(subject, 0), law_of(subject, 1)
    case = Case("diary", 0, 1, "delta", 0.3, "midpoint", 4000, "exchanged", seed)
    outcomes = play(case, subject, laws)
    if seed == 2:  # steered towards large losses of experiment 0, it has none of experiment 1
        assert [o.status for o in outcomes] == ["refused"]
        return
    assert [o.quantity for o in outcomes] == ["tail", "delta"]
    for found in outcomes:
        assert "other experiment" in found.method
        assert found.claim.lower < found.truth.upper * 1.5
        assert found.claim.upper > found.truth.lower / 1.5


def test_calls_are_counted_with_their_refusals():
    """Of 1,500 calls 33 gave an answer and all 33 missed: 2% of the calls, all of the answers."""
    case = Case("fixed", 0, 0, "tail", 0.5, "atom", 2238, "plain", 0)
    missed = Claim(0.3, 0.4, True, True, False)
    truth = Bracket(0.2, 0.2)
    outcomes = []
    for number in range(1500):
        call = replace(case, number=number)
        if number < 33:
            outcomes += [
                Outcome(call, "coin", name, "by name: plain", truth=truth, claim=missed)
                for name in ("tail", "delta")
            ]
        else:
            outcomes.append(Outcome(call, "coin", "tail", "by name: refused", "refused", "few"))
    whole, hiding = call_rows(outcomes)
    assert (whole.hiding, hiding.hiding) == ("all", "made to hide")
    assert (whole.calls, whole.refused, whole.answered, whole.missed) == (1500, 1467, 33, 33)
    assert whole.ends_alone == 33
    text = markdown(rows(outcomes), [whole])
    assert "33 of 1500 (2.2%)" in text
    assert "33 of 33 (100.0%)" in text
