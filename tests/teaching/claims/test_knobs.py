"""Claims checked with other values, and swept over them."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from simulator.data.databases import REPLACE_ONE
from simulator.foundations.errors import InvalidInput
from simulator.teaching.claims import Verdict, claim, read_settings, sweep
from simulator.teaching.claims.ledger.shared.exact_values import chance_of_truth
from simulator.teaching.claims.ledger.theorems.composition import advanced_epsilon


def test_a_claim_is_checked_with_other_values() -> None:
    assert claim("zhang2020-bob").check(denominator=813).verdict is Verdict.HOLDS
    assert claim("zhang2020-bob").check().verdict is Verdict.DOES_NOT_FOLLOW


def test_a_shared_check_keeps_the_claim_s_own_constants() -> None:
    """Six rounds of 0.5, of which half is claimed; the check's own default is 0.3."""
    finding = claim("composition-note-theorem-1").check(share=0.5)
    assert "3, claimed at most 1.5" in str(finding.measured)


def test_a_sweep_finds_where_the_verdict_flips() -> None:
    """Theorem 3.20 gives 1 at ε0 = 1/812.318, by bisection of its own formula."""
    stretches = sweep(claim("zhang2020-bob"), "denominator", 780.0, 900.0)
    assert [s.finding.verdict for s in stretches] == [Verdict.DOES_NOT_FOLLOW, Verdict.HOLDS]
    low, high = 780.0, 900.0
    for _ in range(60):
        middle = (low + high) / 2
        enough = advanced_epsilon(1 / middle, 10_000, math.exp(-32)) <= 1.0
        low, high = (low, middle) if enough else (middle, high)
    assert stretches[0].last == pytest.approx(high, abs=2e-4)
    assert stretches[1].first == pytest.approx(high, abs=2e-4)
    assert stretches[0].last < stretches[1].first <= stretches[1].last == 900.0


def test_a_sweep_of_whole_numbers_flips_between_neighbours() -> None:
    stretches = sweep(claim("zhang2020-n-over-401"), "denominator", 380, 420, points=5)
    assert [(s.first, s.last) for s in stretches] == [(380, 399), (400, 420)]


def test_a_sweep_of_two_points_sees_three_verdicts() -> None:
    stretches = sweep(claim("zhang2020-bob"), "denominator", 700.0, 900.0, points=2)
    assert [s.finding.verdict for s in stretches] == [
        Verdict.FAILS, Verdict.DOES_NOT_FOLLOW, Verdict.HOLDS,
    ]  # fmt: skip


def test_a_verdict_that_does_not_flip_is_one_stretch() -> None:
    (stretch,) = sweep(claim("chapter5-lemma-1-7"), "epsilon", 0.1, 0.5, points=4)
    assert (stretch.first, stretch.last) == (0.1, 0.5)
    assert [value for value, _ in stretch.tried] == pytest.approx([0.1, 0.7 / 3, 1.1 / 3, 0.5])


def test_texts_become_values_of_the_knob_s_type() -> None:
    histogram = claim("zhang2020-histogram-sensitivity")
    read = read_settings(histogram, ["cells=4", "relation=replace-one", "claimed=2"])
    assert read == {"cells": 4, "relation": REPLACE_ONE, "claimed": 2.0}
    assert histogram.check(**read).verdict is Verdict.HOLDS
    budgets = claim("group-notes-basic-two")
    assert read_settings(budgets, ["epsilons=0.1,0.2"]) == {"epsilons": (0.1, 0.2)}
    reading = claim("zhang2020-exponentially-many-queries")
    assert read_settings(reading, ["all_subsets=no"]) == {"all_subsets": False}


@pytest.mark.parametrize(
    ("id", "setting", "complaint"),
    [
        ("zhang2020-bob", "nenner=3", "no knob 'nenner'; it has denominator, rounds, log_delta"),
        ("chapter5-reference-to-theorem", "x=3", "it has none"),
        ("zhang2020-bob", "denominator=0", "from 1 to 1e\\+09, not 0.0: the number below the line"),
        ("zhang2020-bob", "denominator=many", "must be a number, not 'many'"),
        ("zhang2020-bob", "denominator=nan", "must be a number"),
        ("zhang2020-bob", "rounds=10.5", "must be a whole number, not '10.5'"),
        ("zhang2020-bob", "denominator", "as name=value"),
        ("zhang2020-histogram-sensitivity", "relation=near", "must be a relation"),
        ("zhang2020-reconstruction-theorem-1", "n=40", "from 1 to 12.*combinations"),
        ("group-notes-basic-two", "epsilons=" + ",".join(["0.1"] * 30), "one to nine numbers"),
    ],
)
def test_bad_values_say_what_is_wrong(id: str, setting: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        claim(id).check(**read_settings(claim(id), [setting]))


def test_where_every_combination_is_listed_there_is_a_limit() -> None:
    for id, name in (("zhang2020-repeated-statistic", "rounds"), ("zhang2020-pigeonhole", "s")):
        with pytest.raises(InvalidInput, match="combinations are listed"):
            claim(id).check(**{name: 20})


def test_values_at_which_a_check_breaks_down_are_bad_input() -> None:
    with pytest.raises(InvalidInput, match="cannot be checked at delta = 0"):
        claim("roth2011-theorem-6-proof-azuma").check(delta=0.0)


def test_a_sweep_needs_a_number_and_a_range() -> None:
    with pytest.raises(InvalidInput, match="only numbers can be swept"):
        sweep(claim("zhang2020-histogram-sensitivity"), "relation", 0, 1)
    with pytest.raises(InvalidInput, match="smaller to a larger"):
        sweep(claim("zhang2020-bob"), "denominator", 900, 700)
    with pytest.raises(InvalidInput, match="no knob"):
        sweep(claim("zhang2020-bob"), "nenner", 1, 2)


def test_the_claim_s_own_values_are_within_the_ranges_of_its_knobs() -> None:
    from simulator.teaching.claims import all_claims

    for entry in all_claims():
        knobs = entry.knobs
        for name, value in {**entry.parameters, **entry.wrong}.items():
            if value not in (None, ()):
                assert knobs[name].checked(value) == value, (entry.id, name)


def test_bob_s_texts_are_those_of_his_knobs() -> None:
    """√(2k ln(1/δ)) = √(200·8) = 40 and ln(100/0.05) = 7.6009, and nothing of the print is left."""
    finding = claim("zhang2020-bob").check(rounds=100, log_delta=-8.0, denominator=30.0)
    assert "with δ' = e^-8," in finding.printed
    assert "against e^-8 = " in finding.note
    assert finding.note.endswith("at ε0 = 1/40")
    assert claim("zhang2020-bob").run().note.endswith("at ε0 = 1/800")
    measured = claim("zhang2020-first-names").check(names=100).measured
    assert str(measured).startswith("ln(100/0.05) = 7.6009;")


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 41231.0, 1e9])
def test_the_variance_of_a_law_far_from_one_is_found(scale: float) -> None:
    """Quadrature on the law's own scale missed its mass, and the variance came out below 0."""
    assert claim("zhang2020-laplace-variance").check(scale=scale).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("id", "changes"),
    [
        ("chapter5-smoking", {"epsilon": 0.0}),
        ("chapter5-first-attempt", {"epsilon": 0.0}),
        ("zhang2020-queries-with-error-o-n", {"exponent": -10.0}),
    ],
)
def test_where_a_number_is_undefined_there_is_no_verdict(
    id: str, changes: dict[str, float]
) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be checked at .* not defined there"):
        claim(id).check(**changes)


def test_numbers_of_an_array_are_numbers() -> None:
    finding = claim("zhang2020-bob").check(rounds=np.int64(10_000), denominator=np.float64(813))
    assert finding == claim("zhang2020-bob").check(rounds=10_000, denominator=813.0)
    assert type(finding.slack) is float
    with pytest.raises(InvalidInput, match="whole number"):
        claim("zhang2020-bob").check(rounds=np.float64(10_000))


def test_an_id_is_a_text() -> None:
    with pytest.raises(InvalidInput, match="by its id, as text, not 3"):
        claim(3)  # type: ignore[arg-type]


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [20.0, 36.0, 50.0])
@pytest.mark.parametrize(
    "id",
    [
        "chapter5-lemma-1-6",
        "chapter5-theorem-2-1",
        "zhang2020-economic-view",
        "zhang2020-local-model",
        "zhang2020-pure-every-output",
    ],
)
def test_a_theorem_stands_where_a_lie_is_hardly_ever_told(id: str, epsilon: float) -> None:
    """1 less the chance of the truth has no digit left from 37 on: the loss came out infinite."""
    assert claim(id).check(epsilon=epsilon).verdict.is_true


def test_the_chance_of_a_lie_keeps_its_digits() -> None:
    """Their ratio is e^ε; the loss is ε, to rounding."""
    for epsilon in (0.1, 5.0, 50.0):
        truth, lie = chance_of_truth(epsilon), chance_of_truth(-epsilon)
        assert math.log(truth) - math.log(lie) == pytest.approx(epsilon, rel=1e-15, abs=1e-15)


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("sigma", [1e-3, 0.02, 0.8, 10.0])
def test_the_sum_of_two_laws_is_found_wherever_their_mass_is(sigma: float) -> None:
    """Quadrature in the units of the print missed a peak as narrow as 0.001: the claim failed."""
    assert claim("zhang2020-sum-of-gaussians").check(sigma=sigma).verdict is Verdict.HOLDS
    assert claim("zhang2020-sum-of-gaussians").check(other_sigma=sigma).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("id", "settings", "line"),
    [
        ("roth2011-theorem-5", ["epsilon=50"], "what the check computes is not defined there"),
        ("roth2011-lemma-7-tight", ["epsilon=50"], "the numbers of the linear program are too far"),
        ("zhang2020-frequency-estimator", ["epsilon=0"], "a number that the check needs is not"),
        ("roth2011-theorem-1", ["epsilons=1e300"], "a number grows beyond what a float holds"),
        (
            "roth2011-theorem-1",
            ["deltas=0.5"],
            "give as many deltas as epsilons, 7, or none, not 1",
        ),
        ("zhang2020-bob", ["rounds=1_0"], "rounds must be a whole number, not '1_0'"),
        ("zhang2020-bob", ["rounds=2.5"], "rounds must be a whole number, not '2.5'"),
        ("zhang2020-bob", ["denominator=8_1"], "denominator must be a number, not '8_1'"),
        ("roth2011-theorem-1", ["epsilons=0_1,1"], "epsilons must be numbers with commas"),
        ("roth2011-theorem-1-laplace", ["trials=1000000"], "trials goes from 1 to 2000"),
        ("roth2011-theorem-6-played", ["rounds=10000000"], "rounds goes from 1 to 200"),
        ("roth2011-remark-pure", ["pairs=10000"], "pairs goes from 1 to 1000"),
    ],
)
def test_an_impossible_value_is_one_line_in_our_words(
    id: str, settings: list[str], line: str
) -> None:
    """scipy's own words came through, and StopIteration; some values took minutes."""
    with pytest.raises(InvalidInput) as refusal:
        claim(id).check(**read_settings(claim(id), settings))
    assert line in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("f(a) and f(b) must have different signs"),
        np.linalg.LinAlgError("Singular matrix"),
        RuntimeWarning("The integral is probably divergent"),
        OverflowError("math range error"),
        ZeroDivisionError("float division by zero"),
        MemoryError("Unable to allocate 7.28 TiB"),
        RecursionError("maximum recursion depth exceeded"),
        IndexError("index 3 is out of bounds"),
        StopIteration(),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_what_a_library_says_of_itself_is_not_passed_on(fault: Exception) -> None:
    def breaks(*, epsilons: tuple[float, ...] = (), share: float = 1.0) -> None:
        if share != 1.0:
            if isinstance(fault, Warning):
                warnings.warn(fault, stacklevel=1)
            raise fault

    broken = replace(claim("roth2011-theorem-1"), function=breaks, wrong={"share": 0.5}, given={})
    with pytest.raises(InvalidInput, match=r"cannot be checked at share = 0.5: [a-z ]+$") as said:
        broken.check(share=0.5)
    assert str(fault) == "" or str(fault) not in str(said.value)


def test_an_aggregate_that_is_too_noisy_is_told_without_a_look_at_every_neighbour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two blocks of 4000 rows every row is a neighbour to look at: it took minutes."""

    def looks(*anything: object) -> float:
        raise AssertionError("every neighbour was looked at")

    monkeypatch.setattr(
        "simulator.teaching.claims.ledger.zhang2020.smooth_use.leak_to_neighbours", looks
    )
    finding = claim("zhang2020-sample-and-aggregate-black-box").check(blocks=2)
    assert (finding.verdict, finding.measured[:9]) == (Verdict.FAILS, "deviation")
