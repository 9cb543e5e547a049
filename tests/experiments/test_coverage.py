"""The coverage suite: truths have witnesses, verdicts can fail, one seed fixes the cases."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, norm

from experiments.coverage.__main__ import main
from experiments.coverage.adversaries import designed, suite
from experiments.coverage.automata import automata
from experiments.coverage.cases import PLACES, Case, at_atom, cases
from experiments.coverage.entries import between, gaussian, laplace
from experiments.coverage.running import Claim, Outcome, claim_of, play, tasks
from experiments.coverage.subject import Subject
from experiments.coverage.table import FALSE_ALARM, Count, markdown, row, rows
from experiments.coverage.truth import REFUSED, Bracket, law_of
from simulator import GaussianDP, PureDP, Refusal, simulate
from simulator.estimation import Estimate
from simulator.rare import RareEvent

SUITE = suite()
DESIGNED = designed()
FINITE = [s for s in (*DESIGNED, *automata()[:12]) if not s.is_continuous]
PATHS = 3000
CELLS = 128


def name_of(subject):
    return subject.name


def test_the_suite_is_as_large_as_it_says():
    assert len(DESIGNED) >= 30
    assert len(automata()) == 100
    assert len(SUITE) == len(DESIGNED) + 100, "two of one name"
    assert {"feint", "two-thetas"} <= set(SUITE)
    assert automata() == automata()
    assert {5, 150} <= {s.rounds for s in DESIGNED}


def brute(subject, b):
    """{loss: probability} as exact fractions, by listing every sequence of answers and coins."""
    law = {}

    def visit(i, state, move, spent, loss, mass):
        entry = subject.entries[move]
        atoms = entry.atoms
        if subject.gate is not None:
            fits, spent = subject.gate(spent, entry.price)
            atoms = atoms if fits else REFUSED
        for atom in atoms:
            here = mass * Fraction(atom[1 + b])
            if here == 0:
                continue
            so_far = loss + (-atom.loss if b else atom.loss)
            if i + 1 == subject.rounds:
                law[so_far] = law.get(so_far, 0) + here
                continue
            for p, after, next_move in subject.moves(state, i + 1, atom.answer):
                visit(i + 1, after, next_move, spent, so_far, here * Fraction(p))

    for p, state, move in subject.moves(subject.state, 0, math.nan):
        visit(0, state, move, 0.0, 0.0, Fraction(p))
    return law


@pytest.mark.parametrize("subject", FINITE, ids=name_of)
def test_the_truth_agrees_with_all_sequences(subject):
    tosses = len(subject.branches) if subject.name in TOSSING or subject.kind == "automaton" else 1
    outcomes = max(len(entry.atoms) for entry in subject.entries) * tosses
    short = replace(subject, rounds=min(subject.rounds, int(math.log(PATHS, outcomes))))
    for b in (0, 1):
        law, listed = law_of(short, b), brute(short, b)
        finite = sorted(loss for loss in listed if math.isfinite(loss))
        assert float(sum(listed.values())) == pytest.approx(1.0, abs=1e-12)
        assert law.infinite == pytest.approx(float(listed.get(math.inf, 0)), rel=1e-12)
        for place in np.linspace(0, len(finite) - 1, 7).astype(int):
            point = finite[place] - 1e-6
            tail = sum(mass for loss, mass in listed.items() if loss > point)
            delta = sum(
                mass * Fraction(-math.expm1(point - loss))
                for loss, mass in listed.items()
                if loss > point
            )
            assert law.tail(point) == pytest.approx((float(tail),) * 2, rel=1e-12)
            assert law.delta(point) == pytest.approx((float(delta),) * 2, rel=1e-8)


TOSSING = {"any-day", "sharp-by-coin"}
"""These toss a coin in every round."""


@pytest.mark.parametrize("subject", DESIGNED, ids=name_of)
def test_the_laws_of_the_menu_are_those_of_the_mechanisms(subject):
    for entry in subject.entries:
        database_0, database_1, mechanism = entry.challenge
        pair = mechanism.pair(database_0, database_1)
        for atom in entry.atoms:
            assert pair.loss(atom.answer) == pytest.approx(atom.loss, rel=1e-9, abs=1e-12)
        for b in (0, 1):
            if entry.noise is None:
                assert math.fsum(atom[1 + b] for atom in entry.atoms) == pytest.approx(1.0)
            else:
                edges = np.array([[i.low, i.high] for i in entry.intervals])
                masses = entry.noise.between(edges[:, 0], edges[:, 1], b)
                assert masses.sum() == pytest.approx(1.0, abs=1e-12)
                for interval in entry.intervals:
                    loss = pair.loss(interval.answer)
                    assert entry.noise.answer_at(np.array(loss)) <= interval.answer + 1e-9


@pytest.mark.parametrize("subject", DESIGNED, ids=name_of)
def test_the_truth_agrees_with_plain_play(subject):
    """False alarm: 1e-8 in each of four intervals, 1e-5 in the whole suite."""
    player = subject.player
    played = simulate(
        lambda coins: player(coins), family=subject.family, rounds=subject.rounds,
        trials=max(60, 12_000 // subject.rounds), seed=5, filter=subject.filter, jobs=1,
    )  # fmt: skip
    for b in (0, 1):
        law = law_of(subject, b, CELLS)
        for rare in (0.5, 0.1):
            point = law.quantile(rare)
            if not subject.is_continuous:
                point = at_atom(law, rare, "midpoint")
            for found, truth in (
                (played.tail(point, b, 1.0 - 1e-8), law.tail(point)),
                (played.delta(point, b, 1.0 - 1e-8), law.delta(point)),
            ):
                assert found.lower <= truth.upper
                assert found.upper >= truth.lower


class Scripted:
    """Coins that give what a generator of the suite asks for, from one number."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number

    def integers(self, most):
        return 7 if self.number * most < 1.0 else 8


@pytest.mark.parametrize("subject", [s for s in DESIGNED if s.generator], ids=name_of)
def test_a_generator_does_what_its_step_does(subject):
    draw = np.random.default_rng(3)
    seen = set()
    for trial in range(300):
        number = subject.branches[trial % len(subject.branches)][1]
        playing, state, answer = subject.generator(Scripted(number)), subject.state, None
        ones = draw.random()
        for i in range(subject.rounds):
            challenge = playing.send(answer)
            state, move = subject.step(
                state, i, math.nan if answer is None else answer, Scripted(number)
            )
            assert challenge == subject.entries[move].challenge
            seen.add(move)
            entry = subject.entries[move]
            answers = [piece.answer for piece in entry.atoms or entry.intervals]
            answer = answers[-1] if draw.random() < ones**0.2 else draw.choice(answers)
            answer = min(answer, 1.0) if subject.name in ("window", "diary") else answer
    assert seen == set(range(len(subject.entries))), "a move was never compared"


def ignoring(state, i, answer, coins):
    return state, 0


def test_the_grid_encloses_gaussian_sums():
    subject = Subject("g", "test", 8, GaussianDP(0.5), (gaussian(2.0, 0.5),), ignoring)
    mean, deviation = 8 * 0.125, math.sqrt(8) * 0.5
    for b in (0, 1):
        law = law_of(subject, b, 1024)
        for point in (-1.0, 0.5, 2.0, 5.0, 9.0):
            truth = norm.sf(point, mean, deviation)
            delta = truth - math.exp(point) * norm.sf(point, -mean, deviation)
            for found, exact in ((law.tail(point), truth), (law.delta(point), delta)):
                assert found.lower <= exact * (1 + 1e-10)
                assert found.upper >= exact * (1 - 1e-10)
                assert found.upper <= found.lower * 1.05


def test_the_grid_encloses_laplace():
    epsilon, point = 0.7, 0.3
    one = Subject("l", "test", 1, PureDP(epsilon), (laplace(epsilon, 0.5),), ignoring)
    found = law_of(one, 0).delta(point)
    assert found.lower <= -math.expm1((point - epsilon) / 2) <= found.upper

    def delta_of_one(e):
        if e <= -epsilon:
            return -math.expm1(e)
        return max(-math.expm1((e - epsilon) / 2), 0.0)

    density = quad(
        lambda x: 0.25 * math.exp((x - epsilon) / 2) * delta_of_one(point - x), -epsilon, epsilon,
        epsabs=1e-13, points=[point - epsilon],
    )[0]  # fmt: skip
    exact = 0.5 * delta_of_one(point - epsilon) + density
    exact += 0.5 * math.exp(-epsilon) * delta_of_one(point + epsilon)
    found = law_of(replace(one, rounds=2), 0).delta(point)
    assert found.lower <= exact <= found.upper
    assert found.upper <= found.lower * 1.001


def test_cutting_a_continuous_answer_does_not_change_its_law():
    entry = laplace(0.4, 0.5)
    whole = Subject("w", "test", 5, PureDP(0.4), (entry,), ignoring)
    cut = replace(whole, entries=(replace(entry, intervals=between((-1.0, 0.2, 0.9, 4.0))),))
    first, second = law_of(whole, 0, CELLS), law_of(cut, 0, CELLS)
    for point in (-1.0, 0.1, 1.2):
        # a cell that a cut divides lies on both sides of it, with one place
        assert first.tail(point) == pytest.approx(second.tail(point), rel=1e-9)


def test_epsilon_inverts_delta():
    for name in ("feint", "ladder", "crooked", "drip"):
        for b in (0, 1):
            law = law_of(SUITE[name], b)
            for target in (0.01, 1e-4, 1e-9):
                found = law.epsilon(target).lower
                if law.infinite > target:
                    assert found == math.inf
                else:
                    assert law.delta(found).lower == pytest.approx(target, rel=1e-9)


def test_an_atom_at_the_threshold_is_not_above_it():
    law = law_of(SUITE["hit-and-run"], 1)
    atom = float(law.atoms()[2])
    beside = law.tail(np.nextafter(atom, 0.0)), law.tail(np.nextafter(atom, 9.0))
    assert beside == (law.tail(atom), law.tail(atom))
    assert law.tail(atom * (1 - 1e-6)).lower > law.tail(atom).lower


def test_two_truths_by_hand():
    assert law_of(SUITE["feint"], 0).epsilon(1e-12).lower == pytest.approx(46.0, abs=1e-5)
    bold = 1e-3 * (1.0 + math.exp(-2.0)) ** -6  # the coin, and six bold rounds won
    law = law_of(SUITE["two-thetas"], 1)
    assert law.tail(11.999786).lower == pytest.approx(bold, rel=1e-12)
    delta = bold * -math.expm1(11.999786 - 12.0)
    assert law.delta(11.999786).lower == pytest.approx(delta, rel=1e-8)
    assert law.epsilon(delta).lower == pytest.approx(11.999786, rel=1e-12)


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


def made_by(law, narrower=1.0, asymptotic=False):
    """An estimator with exact intervals of a probability, or ones too narrow."""

    def estimator(adversary, family, rounds, trials, *, epsilon, experiment, seed, **rest):
        def one(truth, noise):
            hits = noise.binomial(trials, truth)
            value = hits / trials
            lower = beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
            upper = beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
            lower, upper = (value + (end - value) / narrower for end in (lower, upper))
            ends = (0.0, 1.0) if asymptotic else (lower, upper)
            return Estimate(
                value=value, lower=ends[0], upper=ends[1], confidence=0.95, method="x", hits=hits,
                effective_sample_size=trials, largest_weight_share=0.1,
                relative_standard_error=0.1, lower_valid=not asymptotic,
                upper_valid=not asymptotic, guess=(lower, upper) if asymptotic else None,
            )  # fmt: skip

        streams = np.random.default_rng(seed).spawn(2)
        tail, delta = (
            one(bracket.lower, stream)
            for bracket, stream in zip((law.tail(epsilon), law.delta(epsilon)), streams)
        )
        return RareEvent(
            epsilon=epsilon, tail=tail, delta=delta, at_delta=None, method="plain", theta=None,
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


def test_a_guess_claims_nothing_and_is_measured():
    guessed = next(r for r in rows(played(narrower=4.0, asymptotic=True)) if r.group == "all")
    assert guessed.verdict == "none"
    assert guessed.lower.number == guessed.upper.number == 0
    assert guessed.guesses == 400
    assert guessed.guesses_missed > 100
    assert guessed.ratio is None
    assert guessed.guess_ratio < 2.0


def outcome(lower, upper, lower_valid, upper_valid, guess=None, truth=0.1):
    case = Case("short", 0, 0, "tail", 1.0, "atom", 100, "auto", 0)
    claim = Claim(lower, upper, lower_valid, upper_valid, guess)
    return Outcome(case, "length", "tail", "auto: x", truth=Bracket(truth, truth), claim=claim)


def test_each_end_is_counted_for_what_it_claims():
    low = row("all", "all", [outcome(0.2, 0.3, True, True)] * 30)
    assert (low.lower.verdict, low.upper.verdict, low.both.verdict) == ("broken", "kept", "broken")
    high = row("all", "all", [outcome(0.01, 0.05, True, False, (0.05, 0.06))] * 30)
    assert (high.lower.verdict, high.upper.verdict) == ("kept", "none")
    assert (high.guesses_missed, high.guesses_too_low, high.both.number) == (30, 30, 0)
    assert row("all", "all", [outcome(0.1, 0.1, True, True)]).both.missed == 0


def test_the_count_that_chance_explains():
    allowed = Count(1000, 0).allowed
    assert 80 < allowed < 100
    assert Count(1000, allowed).verdict == "kept"
    assert Count(1000, allowed + 1).verdict == "broken"
    assert FALSE_ALARM <= 1e-6


def test_what_is_valid_is_read_from_the_fields():
    found = SimpleNamespace(
        lower=0.1, upper=0.2, lower_valid=True, upper_valid=False, guess=(0.12, 0.15)
    )
    assert claim_of(found) == (0.1, 0.2, True, False, (0.12, 0.15))


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


def test_every_adversary_can_be_asked_something():
    for subject in SUITE.values():
        laws = law_of(subject, 0, CELLS), law_of(subject, 1, CELLS)
        case = next(cases(subject, laws, 1))
        assert case.point > 0.0
        if case.quantity != "epsilon":
            assert laws[case.experiment].tail(case.point).upper > 0.0


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
