"""``dpcompose bounds`` and ``dpcompose calibrate``: what they print, and what they refuse."""

import csv
import io
import math
import re
import warnings

import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import GaussianLaw, PoissonSubsampledLaw, compose_laws
from simulator.theory.bounds.comparison import TRUTH
from simulator.theory.events import Account
from simulator.theory.events.named import MECHANISMS, compare, read_rounds

PUBLISHED = [
    ("randomized-response", 1000, 19.34467145, 1e-9),
    ("laplace", 1000, 18.95028737, 2e-8),
    ("laplace", 100, 4.692667415, 2e-8),
    ("geometric", 100, 4.774567588, 1e-9),
]


def asked(dpcompose, *options):
    said = dpcompose("bounds", *options, "--json")
    assert (said.code, said.err) == (0, "")
    return said.json["bounds"]


def table_of(text):
    """Name, who plays, what it is, value, lower and upper of every row of a printed table."""
    _, head, *lines = text.splitlines()
    ends = head.index("who plays"), head.index("what it is"), head.index("source")
    for line in lines:
        name, player = line[: ends[0]].strip(), line[ends[0] : ends[1]].strip()
        if name and " " not in name:
            *what, value, lower, upper = line[ends[1] : ends[2]].split()
            yield name, player, " ".join(what), value, lower, upper


def named(rows):
    return {row["name"]: row for row in rows}


def test_several_rounds_are_drawn_along_them(dpcompose, tmp_path):
    path = tmp_path / "bounds.svg"
    asked = ("bounds", "pure:0.1", "--rounds", "10,100", "--bound", "basic", "--plot", path)
    assert dpcompose(*asked, "--delta", 1e-6).code == 0
    assert path.stat().st_size > 5_000
    assert dpcompose(*asked, "--epsilon", 0.5).code == 0
    again = ("bounds", "pure:0.1", "--rounds", "10,10", "--bound", "basic", "--plot", path)
    assert dpcompose(*again, "--delta", 0).code == 0


def test_the_json_has_what_machines_need(dpcompose):
    rows = asked(dpcompose, "laplace:0.1", "--rounds", 100, "--delta", 1e-6)
    keys = ["name", "kind", "adversary", "epsilon", "lower", "upper", "source", "seconds"]
    assert all(list(row) == keys for row in rows)
    assert {row["kind"] for row in rows} <= {
        "upper",
        "exact",
        "fixed-pair",
        "lower",
        "approximation",
    }
    values = [row["epsilon"] for row in rows]
    assert values == sorted(values)
    assert all(row["source"] and row["seconds"] >= 0.0 for row in rows)


def test_with_epsilon_the_delta_takes_the_place_of_the_epsilon(dpcompose):
    rows = asked(dpcompose, "pure:0.1", "--rounds", 100, "--epsilon", 4.0)
    assert all("delta" in row and "epsilon" not in row for row in rows)
    assert all(0.0 <= row["delta"] <= 1.0 for row in rows)


@pytest.mark.parametrize(("mechanism", "rounds", "epsilon", "within"), PUBLISHED)
def test_the_exact_row_is_the_published_value(dpcompose, mechanism, rounds, epsilon, within):
    rows = asked(dpcompose, f"{mechanism}:0.1", "--rounds", rounds)
    truth = named(rows)["privacy-loss-distribution"]
    assert truth["kind"] == "exact"
    assert truth["lower"] * (1 - 1e-9) <= epsilon <= truth["upper"] * (1 + 1e-9)
    assert truth["epsilon"] == pytest.approx(epsilon, rel=within)


EVERY = [
    *(f"{name}:0.2" for name, known in MECHANISMS.items() if len(known.parameters) == 1),
    "approx:0.2,1e-9",
    "shuffled:0.2,1",
    *(f"subsampled-{name}:0.2,1" for name in ("gaussian", "laplace", "randomized-response")),
]


@pytest.mark.sampled(n=11)
@pytest.mark.parametrize("mechanism", EVERY)
@pytest.mark.parametrize("question", [{"delta": 1e-6}, {"epsilon": 2.0}])
def test_no_upper_bound_is_below_the_exact_one_and_no_lower_one_above(mechanism, question):
    assert {text.partition(":")[0] for text in EVERY} == set(MECHANISMS)
    rows = compare(f"{mechanism}*50", **question)
    exact = [row.answer for row in rows if row.kind == "exact"]
    for answer in exact:
        for row in rows:
            if row.kind in ("upper", "exact"):
                assert row.answer.upper >= answer.lower * (1 - 1e-12), row
            if row.kind in ("lower", "exact"):
                assert row.answer.lower <= answer.upper * (1 + 1e-12), row


def test_a_theorem_is_exact_only_for_the_worst_case_of_its_family():
    def kind(mechanism):
        rows = compare(f"{mechanism}:0.1*20", delta=1e-6)
        return next(row.kind for row in rows if row.name == "kairouz-oh-viswanath-3.3")

    assert [kind(name) for name in ("randomized-response", "laplace")] == ["exact", "upper"]


@pytest.mark.parametrize("sigmas", [("1", "0.5"), ("1*1", "sigma=0.5", "2*3")])
def test_different_gaussians_are_answered(dpcompose, sigmas):
    rows = named(asked(dpcompose, *(f"gaussian:{each}" for each in sigmas), "--delta", 1e-6))
    exact, composed = rows["analytic-gaussian"], rows["privacy-loss-distribution"]
    assert exact["lower"] <= composed["upper"]
    assert composed["lower"] <= exact["upper"]


def test_the_table_rounds_certain_ends_outward(dpcompose):
    options = ("bounds", "pure:0.1", "--rounds", 100)
    rows = named(dpcompose(*options, "--json").json["bounds"])
    for name, _, _, _, lower, upper in table_of(dpcompose(*options).out):
        assert float(lower) <= rows[name]["lower"]
        assert rows[name]["upper"] is None or float(upper) >= rows[name]["upper"]
    exact = rows["kairouz-oh-viswanath-3.3"]
    assert 0.0 < exact["upper"] - exact["lower"] < 1e-10


def test_leaks_make_the_theorem_and_the_composed_law_agree():
    rows = compare("approx:0.1,1e-9*100", delta=1e-6)
    exact = {row.name: row.answer.value for row in rows if row.kind == "exact"}
    assert set(exact) == {"kairouz-oh-viswanath-3.3", "privacy-loss-distribution"}
    first, second = exact.values()
    assert first == pytest.approx(second, rel=1e-9)


def test_heterogeneous_rounds(dpcompose):
    rows = named(asked(dpcompose, "pure:0.1*5", "pure:0.2*3"))
    assert rows["basic"]["epsilon"] == pytest.approx(1.1)
    assert "murtagh-vadhan" in rows
    assert "kairouz-oh-viswanath-3.3" not in rows


@pytest.mark.parametrize(
    ("mechanism", "name", "condition"),
    [
        ("gaussian", "kairouz-oh-viswanath-3.3", "pure or approximate"),
        ("gaussian", "basic", "bounded privacy loss"),
        ("pure", "analytic-gaussian", "Gaussian"),
        ("pure", "bounded-range-adaptive", "range"),
        ("exponential", "privacy-loss-distribution", "no single pair"),
    ],
)
def test_a_bound_asked_by_name_says_which_condition_fails(dpcompose, mechanism, name, condition):
    options = (f"{mechanism}:0.1", "--rounds", 5, "--bound", name)
    line = dpcompose("bounds", *options).complaint
    assert line.startswith(f"{name}: ")
    assert condition.lower() in line.lower()


def test_bounds_asked_by_name_are_all_that_is_answered(dpcompose):
    options = ("pure:0.1", "--rounds", 5, "--bound", "advanced", "--bound", "basic")
    assert {row["name"] for row in asked(dpcompose, *options)} == {"advanced", "basic"}
    line = dpcompose("bounds", "pure:0.1", "--rounds", 5, "--bound", "basik").complaint
    assert "'basik'; did you mean basic" in line


def test_at_delta_zero_the_truth_is_the_largest_loss(dpcompose):
    rows = named(asked(dpcompose, "laplace:0.1*7", "--delta", 0))
    assert rows["privacy-loss-distribution"]["epsilon"] == pytest.approx(0.7)
    line = dpcompose("bounds", "gaussian:1*7", "--delta", 0)
    assert "no finite epsilon holds at delta 0.0" in line.complaint
    leaky = ("approx:0.1,1e-10*100", "--delta", 1e-9)
    assert "infinite with probability 1e-08" in dpcompose("bounds", *leaky).complaint


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "give a mechanism, as laplace:0.1, or --event FILE"),
        (("pure",), "pure needs epsilon: write pure:EPSILON"),
        (("pure:0.1*5", "--rounds", 10), "--rounds is 10, but pure:0.1*5 has 5"),
        (("pure:0.1*5", "pure:0.2", "--rounds", 10), "these have 6 by *COUNT"),
        (("pure:0.1", "pure:0.2", "--rounds", "2,3"), "--rounds is of one mechanism"),
        (("pure:0.1*",), "'pure:0.1*': *COUNT is a whole number of rounds, from 1 on"),
        (("pure:a",), "pure:a: epsilon must be a number, not 'a'"),
        (("pure:0.1*5.5",), "not *5.5"),
        (("pure:0.1*0",), "not *0"),
        (("pure:0.1*-5",), "not *-5"),
        (("pure:0.1", "--rounds", 0), "rounds must be at least 1"),
        (("pure:0.1", "--rounds", "many"), "many"),
        *((("pure:" + e,), "epsilon must be above 0") for e in ("0", "-1", "nan", "inf", "1e300")),
        *((("pure:1*5", "--delta", d), "delta") for d in ("-0.1", "1", "nan", "inf")),
        (("pure:1*5", "--delta", "1e-310"), "1e-300"),
        *((("pure:1*5", "--epsilon", e), "epsilon") for e in ("-1", "nan", "inf")),
        (("pure:1*5", "--epsilon", 1, "--delta", 0.1), "not both"),
        (("pure:1,0.1",), "pure takes no more values in order; write pure:EPSILON"),
        (("approx:1",), "approx needs delta: write approx:EPSILON,DELTA"),
        (("approx:1,1",), "approx:1,1: delta must"),
        (("approx:1,nan",), "delta must"),
        (("subsampled-gaussian:1",), "subsampled-gaussian needs rate"),
        (("subsampled-gaussian:epsilon=1",), "write subsampled-gaussian:SIGMA,RATE"),
        (
            ("subsampled-gaussian:0,0.1",),
            "0,0.1: sigma must be a positive number",
        ),
        (("subsampled-gaussian:1e-5,0.1",), "sigma must be at least 0.0001"),
        (("subsampled-gaussian:1,1.5",), "sampling rate"),
        (("subsampled-gaussian:1,nan",), "rate must be"),
        (("pure:1,rate=0.1",), "pure has no parameter 'rate'; write pure:EPSILON"),
        (("gaussian:mu=1",), "gaussian has no parameter 'mu'; write gaussian:SIGMA"),
        (("subsampled-laplace:1,-0.1",), "sampling rate"),
        (("shuffled:1",), "shuffled needs reports"),
        (("shuffled:1,0",), "reports must be"),
        (("shuffled:1,1.5",), "reports must be a whole number, not '1.5'"),
        (("laplase:1",), "no mechanism 'laplase'; did you mean laplace"),
        (("zzz:1",), "no mechanism 'zzz'; there are pure, approx,"),
        (("approx:1,0.5", "--rounds", 1000000), ""),
    ],
)
def test_bad_input_is_one_line(dpcompose, options, named):
    assert named in dpcompose("bounds", *options).complaint


@pytest.mark.sampled
@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if "subsampled" not in name])
def test_extreme_values_are_answered_or_refused_without_a_warning(mechanism):
    extremes = [(50.0, 10**6), (1e-300, 10**12), (1e4, 10**12), (0.1, 10**12), (1e-9, 1)]
    second = {"approx": ",1e-200", "shuffled": ",1"}.get(mechanism, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for parameter, rounds in extremes:
            if mechanism == "gaussian":
                parameter = min(1.0 / parameter, 1e100)
            for question in ({"delta": 1e-300}, {"epsilon": 1e3}):
                try:
                    rows = compare(f"{mechanism}:{parameter!r}{second}*{rounds}", **question)
                except NotApplicable:  # the leaks alone pass delta: no bound grants anything
                    assert (mechanism, *question) == ("approx", "delta")
                    continue
                assert all(0.0 <= row.answer.value < math.inf for row in rows)
                assert all(row.answer.lower <= row.answer.value for row in rows)


@pytest.mark.parametrize(("sigma", "rounds", "rate"), [(1e-4, 1, 0.01), (0.1, 10**12, 1e-12)])
@pytest.mark.nightly
@pytest.mark.parametrize("question", [{"delta": 1e-300}, {"epsilon": 1e3}])
def test_extreme_noise_is_answered_or_refused_without_a_warning(sigma, rounds, rate, question):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = compare(f"subsampled-gaussian:{sigma},{rate}*{rounds}", **question)
    assert all(0.0 <= row.answer.value < math.inf for row in rows)
    assert all(row.answer.lower <= row.answer.value for row in rows)


def test_the_subsampled_gaussian_is_the_worse_of_both_directions(dpcompose):
    options = ("subsampled-gaussian:sigma=2,rate=0.1", "--rounds", 100)
    options += ("--bound", "privacy-loss-distribution")
    row = named(asked(dpcompose, *options, "--delta", 1e-6))["privacy-loss-distribution"]
    law = PoissonSubsampledLaw(GaussianLaw(1 / 2.0), 0.1)
    ends = [compose_laws([(each, 100)], 1e-5).epsilon(1e-6) for each in (law, law.reversed())]
    assert row["lower"] <= max(end.upper for end in ends)
    assert max(end.lower for end in ends) <= row["upper"]
    assert row["upper"] - row["lower"] <= 1e-6 * row["upper"]
    at = named(asked(dpcompose, *options, "--epsilon", row["upper"]))["privacy-loss-distribution"]
    assert at["lower"] <= 1e-6


def test_bounds_of_the_sampled_family_stand_beside_it(dpcompose):
    rows = asked(dpcompose, "subsampled-gaussian:2,0.5*5", "subsampled-gaussian:4,rate=0.5*5")
    beside = named(rows)
    truth = beside["privacy-loss-distribution"]
    assert truth["kind"] == "fixed-pair"
    (exact,) = [row for row in rows if row["kind"] == "exact"]
    assert exact["name"] == "any-direction"
    assert truth["upper"] < exact["lower"]
    assert "one-direction" not in beside  # it is the pair that the truth composes
    for name in ("dominating-both-directions", "rdp-canonne-kamath-steinke"):
        assert exact["upper"] <= beside[name]["upper"] < 2.0 * truth["upper"]


def test_the_exact_row_of_the_sampled_family_is_the_game_of_any_direction(dpcompose):
    rows = asked(dpcompose, "subsampled-gaussian:1,0.05*10", "--delta", 1e-5)
    (exact,) = [row for row in rows if row["kind"] == "exact"]
    assert exact["name"] == "any-direction"
    beside = named(rows)
    fixed = beside["privacy-loss-distribution"]
    assert fixed["kind"] == "fixed-pair"
    assert fixed["adversary"] == "the same pair in every round"
    assert exact["adversary"] == "any adversary"
    assert fixed["upper"] < exact["lower"]  # as it would not be if one direction were the family's
    assert exact["upper"] < beside["dominating-both-directions"]["upper"]
    both = ["--bound", "privacy-loss-distribution", "--bound", "any-direction"]
    shown = dpcompose("bounds", "subsampled-gaussian:1,0.05*10", "--delta", 1e-5, *both).out
    assert "dp_accounting print 1.656 (the same pair" in shown.splitlines()[-1]
    assert [row[:3] for row in table_of(shown)] == [
        ("privacy-loss-distribution", fixed["adversary"], "certified for that pair"),
        ("any-direction", exact["adversary"], "exact"),
    ]


def test_the_line_names_an_upper_end_where_the_game_has_no_row(dpcompose):
    shown = dpcompose("bounds", "subsampled-laplace:1,0.1", "--rounds", 10).out
    assert "gets at most 1.47644 (dominating-both-directions)." in shown.splitlines()[-1]


def test_a_row_that_cannot_be_had_does_not_end_the_table(dpcompose):
    rounds = ("subsampled-laplace:1,0.01", "--rounds", 10, "--bound", "any-direction")
    said = dpcompose("bounds", *rounds, "--bound", "rdp-mironov", "--json")
    assert said.code == 0
    assert said.err.startswith("any-direction: every round must be Gaussian noise on a Poisson")
    assert list(named(said.json["bounds"])) == ["rdp-mironov"]
    assert "every round must be Gaussian" in dpcompose("bounds", *rounds).complaint


def test_a_delta_is_printed_with_its_digits(dpcompose):
    for delta, text in ((0.999999, "0.999999"), (1e-6, "1e-06"), (0.05, "0.05")):
        said = dpcompose("bounds", "laplace:0.1", "--delta", delta, "--bound", "basic").out
        assert said.splitlines()[0].endswith(f"at delta = {text}")


@pytest.mark.parametrize("mechanism", ["laplace:0.1", "subsampled-laplace:1,0.1", "gaussian:1"])
def test_delta_zero_is_answered_in_the_shell_as_in_python(dpcompose, mechanism):
    options = ("bounds", mechanism, "--rounds", 3, "--delta", 0, "--bound", TRUTH)
    account = Account(read_rounds(mechanism, 3).event)
    if mechanism == "gaussian:1":
        line = dpcompose(*options).complaint
        with pytest.raises(NotApplicable, match="no finite epsilon holds at delta 0") as error:
            account.epsilon(0.0)
        assert str(error.value) in line
        return
    (row,) = dpcompose(*options, "--json").json["bounds"]
    found, several = account.epsilon(0.0), account.epsilon([0.0, 1e-6])
    assert (row["lower"], row["upper"]) == (found.lower, found.upper)
    assert several[0] == found
    assert several[1].upper < found.lower


def test_rows_of_one_number_are_one_row_unless_they_are_named(dpcompose):
    rounds = ("gaussian:1", "--rounds", 10)
    rows = {row[0]: row[2] for row in table_of(dpcompose("bounds", *rounds).out)}
    (name,) = [name for name, what in rows.items() if what == "exact"]
    (other,) = {"analytic-gaussian", "privacy-loss-distribution"} - {name}
    assert f"the same number: {other}" in dpcompose("bounds", *rounds).out
    both = ("--bound", name, "--bound", other)
    assert {row[0] for row in table_of(dpcompose("bounds", *rounds, *both).out)} == {name, other}


def test_a_question_that_is_none():
    with pytest.raises(InvalidInput, match="give a delta, for the epsilon"):
        compare("pure:0.1*5")
    with pytest.raises(InvalidInput, match="no mechanism 'x'"):
        compare("x:0.1*5", delta=0.1)


def test_the_table_has_every_row_of_the_json(dpcompose):
    options = ("bounds", "pure:0.1", "--rounds", 100)
    table, rows = dpcompose(*options).out, dpcompose(*options, "--json").json["bounds"]
    assert table.splitlines()[0] == "epsilon of 100 rounds of pure:0.1 at delta = 1e-06"
    names = [row["name"] for row in rows]
    assert set(re.findall("|".join(sorted(names, key=len)[::-1]), table)) == set(names)
    first = [row[0] for row in table_of(table)]
    assert len(first) < len(names)
    assert first == sorted(first, key=lambda name: named(rows)[name]["epsilon"])


PURE = ("bounds", "pure:0.1", "--bound", "advanced", "--bound", "basic")
GRID = ("--rounds", "10,200", "--delta", "1e-5,1e-6")


def test_a_grid_is_written_as_csv(dpcompose):
    said = dpcompose(*PURE, *GRID, "--csv")
    assert (said.code, said.err) == (0, "")
    lines = list(csv.DictReader(io.StringIO(said.out)))
    assert len(lines) == 8
    for line in lines:
        rounds, delta = int(line["rounds"]), float(line["delta"])
        (row,) = compare(f"pure:0.1*{rounds}", delta=delta, names=[line["name"]])
        assert float(line["epsilon"]) == row.answer.value
        assert (float(line["lower"]), float(line["upper"])) == tuple(row.answer)
    rows = dpcompose(*PURE, *GRID, "--json").json["bounds"]
    assert [row["rounds"] for row in rows] == [int(line["rounds"]) for line in lines]
    assert [row["delta"] for row in rows] == [float(line["delta"]) for line in lines]
    table = dpcompose(*PURE, *GRID).out
    assert table.count("epsilon of 200 rounds of pure:0.1 at delta = 1e-0") == 2
    several = ("pure:0.1*3", "pure:0.2*4", "--epsilon", "1,2", "--bound", "basic")
    schedule = dpcompose("bounds", *several, "--csv")
    assert [line[:2] for line in schedule.out.splitlines()[1:]] == ["7,", "7,"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--rounds", "10,x"), "'x' is not a valid integer"),
        (("--rounds", "10,"), "'' is not a valid integer"),
        (("--rounds", "10,0"), "--rounds must be at least 1"),
        (("--rounds", "10", "--delta", "1e-5,2"), "delta must be 0, or in"),
        (("--rounds", "10", "--csv", "--json"), "--csv or --json"),
    ],
)
def test_a_grid_that_makes_no_sense(dpcompose, options, line):
    assert line in dpcompose(*PURE, *options).complaint


# --- calibrate ----------------------------------------------------------------------------------

BOB = ("--target-epsilon", 1, "--target-delta", math.exp(-32), "--rounds", 10_000)


def test_the_ladder_of_the_ten_thousand_databases(dpcompose):
    said = dpcompose("calibrate", *BOB, "--json")
    assert (said.code, said.err) == (0, "")
    rungs = said.json["rungs"]
    keys = ["name", "kind", "parameter", "noise", "source"]
    assert all(list(rung) == keys for rung in rungs)
    parameters = [rung["parameter"] for rung in rungs]
    assert parameters == sorted(parameters)
    ladder = {rung["name"]: rung["parameter"] for rung in rungs}
    assert ladder["basic"] == pytest.approx(1e-4)
    # 1/801 is too much for Theorem 3.20 and not for the exact theorem
    assert ladder["advanced"] < 1 / 801 < ladder["kairouz-oh-viswanath-3.3"]


@pytest.mark.parametrize("family", ["pure", "gdp", "range"])
def test_a_ladder_for_every_family(dpcompose, family):
    options = ("--target-epsilon", 1, "--target-delta", 1e-6, "--rounds", 20, "--family", family)
    said = dpcompose("calibrate", *options)
    assert (said.code, said.err) == (0, "")
    assert len(said.out.splitlines()) > 4


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--target-epsilon", value) for value in ("0", "-1", "nan", "inf", "x")),
        *(("--target-delta", value) for value in ("0", "1", "-1", "nan", "inf")),
        *(("--rounds", value) for value in ("0", "-5", "2.5")),
        ("--family", "pure:1"),
    ],
)
def test_a_target_that_makes_no_sense(dpcompose, option, value):
    settings = {"--target-epsilon": 1, "--target-delta": 1e-6, "--rounds": 10} | {option: value}
    line = dpcompose("calibrate", *(part for pair in settings.items() for part in pair)).complaint
    assert option.strip("-").replace("target-", "") in line


@pytest.mark.nightly
def test_extreme_targets_are_answered_or_refused(dpcompose):
    for epsilon, delta, rounds in [(1e-9, 1e-300, 10**12), (50, 1e-300, 10**6)]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said = dpcompose(
                "calibrate", "--target-epsilon", epsilon, "--target-delta", delta,
                "--rounds", rounds,
            )  # fmt: skip
        assert said.code in (0, 2)


def test_a_shuffle_stands_between_its_responses_and_the_clones(dpcompose):
    rows = asked(dpcompose, "shuffled:1,2000")
    order = ["shuffled-randomized-response", "clones-numerical", "clones-closed-form", "basic"]
    assert [row["name"] for row in rows if row["name"] in order] == order
    values = named(rows)
    assert values[order[0]]["lower"] <= values[order[1]]["upper"] < 0.15
    two = asked(dpcompose, "shuffled:epsilon=1,reports=2000*2")
    assert order[2] not in named(two)
    assert named(two)[order[1]]["upper"] > values[order[1]]["upper"]


def test_what_is_subsampled_stands_beside_its_amplified_bounds(dpcompose):
    options = ("--rounds", 20, "--delta", 1e-5)
    laplace = named(asked(dpcompose, "subsampled-laplace:1,0.1", *options))
    response = named(asked(dpcompose, "subsampled-randomized-response:1,0.1", *options))
    dominating = "dominating-both-directions"
    truths = [rows["privacy-loss-distribution"] for rows in (laplace, response)]
    assert truths[0]["upper"] < truths[1]["lower"]
    assert truths[1]["upper"] <= response[dominating]["upper"] * (1 + 1e-6)
    assert response[dominating]["upper"] < response["amplified-by-sampling"]["upper"]


LAPLACE = ("laplace:0.1", "--rounds", 1000)


@pytest.mark.parametrize("question", [("--delta", 1e-6), ("--epsilon", 20)])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_the_exact_row_keeps_the_tolerance(dpcompose, question, tolerance):
    rows = asked(dpcompose, *LAPLACE, *question, "--tolerance", tolerance)
    truth = named(rows)["privacy-loss-distribution"]
    assert truth["upper"] - truth["lower"] <= tolerance * truth["upper"]
    (narrow,) = asked(dpcompose, *LAPLACE, *question, "--bound", "privacy-loss-distribution")
    assert truth["lower"] <= narrow["upper"]
    assert narrow["lower"] <= truth["upper"]


@pytest.mark.parametrize("tolerance", [0.0, 1e-13, 2.0, math.nan, -1.0])
def test_a_tolerance_that_nothing_keeps_is_refused(dpcompose, tolerance):
    said = dpcompose("bounds", *LAPLACE, "--tolerance", tolerance)
    assert said.complaint == f"--tolerance must be in [1e-12, 1], not {tolerance!r}"


@pytest.mark.nightly
def test_a_tolerance_that_these_rounds_do_not_keep_is_refused(dpcompose):
    game = ("laplace:0.1*7", "laplace:0.1234*9", "--tolerance", 1e-12)
    said = dpcompose("bounds", *game)
    assert "double precision cannot certify a tolerance of 1e-12 here, but one of" in said.complaint
    with pytest.raises(InvalidInput, match="a tolerance of 1e-12 here"):
        compare("laplace:0.1*7", "laplace:0.1234*9", delta=1e-6, tolerance=1e-12)


def test_as_many_digits_are_shown_as_were_asked_for(dpcompose):
    words = (*LAPLACE, "--bound", "privacy-loss-distribution", "--tolerance", 1e-11)
    (row,) = asked(dpcompose, *words)
    ((*_, shown_lower, shown_upper),) = table_of(dpcompose("bounds", *words).out)
    lower, upper = float(shown_lower), float(shown_upper)
    assert row["lower"] - 1e-10 <= lower <= row["lower"]
    assert row["upper"] <= upper <= row["upper"] + 1e-10


def test_a_target_that_no_bound_admits_is_no_empty_table(dpcompose):
    target = ("--target-epsilon", "5e-324", "--target-delta", "5e-324", "--rounds", "10")
    line = dpcompose("calibrate", *target, "--family", "range").complaint
    assert line.startswith("no bound admits a round of the family range for a total of (4.9")


def test_why_names_the_lemmas_behind_rows_and_mechanism(dpcompose, tmp_path):
    said = dpcompose("bounds", "subsampled-gaussian:1,0.1", "--bound", "rdp-mironov", "--why")
    assert said.code == 0
    *_, renyi, sampling = said.out.split("\n\n")
    assert renyi.splitlines() == [
        "rdp-mironov: From Rényi divergences to ε and δ",
        "  Rényi divergences of adaptive rounds add up, and each order gives an upper bound on δ.",
        "  simulator/theory/lemmas/renyi-conversion.md",
    ]
    assert sampling.startswith("subsampled-gaussian: Records on a random sample\n")
    event = tmp_path / "event.json"
    event.write_text("[[1.0, 0.1, 5]]")
    said = dpcompose("bounds", "--event", event, "--bound", "rdp-mironov", "--why")
    assert "subsampled: Records on a random sample" in said.out
    assert "without a lemma" not in said.out
    complaint = dpcompose("bounds", "pure:0.1", "--why", "--csv").complaint
    assert complaint.startswith("--why is of a table: leave out --csv and --json")
