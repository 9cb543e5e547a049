"""The draws of a check have a seed that can be set, and a sweep can be drawn."""

import ast
from pathlib import Path

import numpy as np
import pytest

import simulator.teaching.claims
from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.sweeps import plot_sweep
from simulator.foundations.errors import InvalidInput
from simulator.teaching.claims import all_claims, claim, sweep
from simulator.teaching.claims.sweep_picture import sweep_picture

DRAWS = {"default_rng": 0, "generator": 0, "random_pairs": 2, "play": 4, "random_views": 2}
"""Functions that take a seed, and its place."""


def fixed_seeds(source):
    """The calls in a module whose seed is a number that cannot be set."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        given = [word.value for word in node.keywords if word.arg == "seed"]
        if name in DRAWS:
            given += node.args[DRAWS[name] : DRAWS[name] + 1]
        found += [ast.unparse(node) for value in given if isinstance(value, ast.Constant)]
    return found


def test_no_check_fixes_its_seed():
    folder = Path(simulator.teaching.claims.__file__).parent
    found = {
        path.relative_to(folder).as_posix(): fixed
        for path in folder.rglob("*.py")
        if (fixed := fixed_seeds(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("play(a, f, 2, 300, 7)", True),
        ("play(a, f, 2, 300, seed=7)", True),
        ("np.random.default_rng(3)", True),
        ("random_pairs(9, 5, seed=1, epsilon=2)", True),
        ("play(a, f, 2, 300, seed, keep_views=3)", False),
        ("np.random.default_rng(seed + 1)", False),
    ],
)
def test_a_fixed_seed_is_found(call, fixed):
    assert fixed_seeds(f"x = {call}") == [call] * fixed


def test_every_simulated_check_has_a_seed():
    lacking = [
        each.id for each in all_claims()
        if "seed" not in each.parameters and "trials" in each.parameters
    ]  # fmt: skip
    assert lacking == []
    assert sum("seed" in each.parameters for each in all_claims()) > 50


def test_another_seed_draws_otherwise_and_the_same_one_alike():
    survey = claim("zhang2020-survey-played")
    own = survey.parameters["seed"]
    assert survey.check(seed=own) == survey.run()
    other = survey.check(seed=own + 1)
    assert other.verdict is survey.expected
    assert other.measured != survey.run().measured


@pytest.mark.parametrize("seed", [-1, 2**33, 0.5])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(InvalidInput, match="seed"):
        claim("zhang2020-survey-played").check(seed=seed)


def test_a_sweep_holds_every_value_that_was_tried():
    stretches = sweep(claim("zhang2020-bob"), "denominator", 780.0, 900.0, points=5)
    tried = [value for stretch in stretches for value, _ in stretch.tried]
    assert tried == sorted(set(tried))
    assert {780.0, 810.0, 840.0, 870.0, 900.0} < set(tried)
    for stretch in stretches:
        assert (stretch.first, stretch.last) == (stretch.tried[0][0], stretch.tried[-1][0])
        assert {finding.verdict for _, finding in stretch.tried} == {stretch.finding.verdict}


@pytest.mark.nightly
def test_a_picture_shows_both_numbers_and_where_the_verdict_flips():
    entry = claim("roth2011-theorem-1")
    knob = next(name for name in entry.wrong if isinstance(entry.wrong[name], float))
    stretches = sweep(entry, knob, 0.5, 1.5, points=5)
    (axes,) = sweep_picture(entry, knob, stretches).axes
    lines = {line.get_label(): line for line in axes.lines}
    values = [value for s in stretches for value, _ in s.tried]
    findings = [finding for s in stretches for _, finding in s.tried]
    np.testing.assert_array_equal(lines["measured"].get_xdata(), values)
    np.testing.assert_array_equal(lines["measured"].get_ydata(), [f.attained for f in findings])
    np.testing.assert_array_equal(lines["claimed"].get_ydata(), [f.claimed for f in findings])
    flips = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert flips == [pytest.approx(1.0, abs=1e-5), pytest.approx(1.01, abs=1e-5)]  # tight between
    labels = axes.get_legend_handles_labels()[1]
    assert "holds: 1 to 1.01" in labels


def test_a_check_of_cases_shows_its_verdicts_alone():
    entry = claim("zhang2020-bob-corollary")
    (axes,) = sweep_picture(entry, "denominator", sweep(entry, "denominator", 1e3, 2e3, 3)).axes
    assert not {"measured", "claimed"} & {line.get_label() for line in axes.lines}
    assert list(axes.get_yticks()) == []


def test_a_sweep_that_holds_nothing_is_refused():
    with paper_figure() as (_, axes), pytest.raises(InvalidInput, match="nothing to draw"):
        plot_sweep(axes, [1.0], [1.0], [1.0], [], knob="x")
