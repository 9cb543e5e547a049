"""What the search has found, as written down: against other witnesses, and against its data."""

from __future__ import annotations

import json

import pytest

from experiments import stages, worst_texts
from experiments.figures import worst_exponential
from experiments.figures.worst_exponential import gaps_of
from experiments.results.records import unstamped
from simulator.studies import Study
from simulator.theory.pld.response_atoms import mixed_atoms
from simulator.worst import Game, entries
from simulator.worst.game_graph import budget_graph
from simulator.worst.grid import Grid, lattice_layout
from simulator.worst.recursion import Values, upper_sweep
from tests.worst.brute_force import response, worst


def committed(name):
    return json.loads(stages.data_path(name).read_text(encoding="utf-8"))["data"]


def test_the_committed_text_is_that_of_the_committed_data():
    written = unstamped((stages.RESULTS / "worst" / "README.md").read_text(encoding="utf-8"))
    assert written == worst_texts.text(), "run `python -m experiments.worst_texts`"


def test_the_natural_filters_overshoot_is_that_of_a_plain_recursion():
    """(1, 1e-2) with two responses: few enough rounds to try every play."""
    epsilons, promise = (0.3, 0.5), 1e-2

    def admit(counts, option):
        after = tuple(n + (i == option) for i, n in enumerate(counts))
        parts = tuple((e, n) for e, n in zip(epsilons, after) if n)
        within = sum(e * n for e, n in parts) <= 1.0
        return after if within or mixed_atoms(parts).delta(1.0) <= promise else None

    truth = worst([response(e) for e in epsilons], 1.0, 9, admit=admit, state=(0, 0))
    from experiments.figures.worst_natural import overshoot

    found = overshoot((3, 5), 0.1, 1.0, promise)
    assert found == pytest.approx(truth / promise, rel=1e-9)


def test_one_mechanism_alone_never_passes_the_natural_filters_promise():
    menus = {menu["size"]: menu["ratio"] for menu in committed("worst_natural")["menus"]}
    assert menus[1] <= 1.0 < menus[2] < menus[3] < menus[4]
    pair = {tuple(p["menu"]): p["ratio"] for p in committed("worst_natural")["pairs"]}
    assert pair[0.025, 0.2] == pytest.approx(2.81, abs=0.005)  # arXiv 2602.15815's menu


@pytest.mark.nightly
def test_an_adaptive_choice_is_never_below_a_fixed_one_nor_above_the_dominating_pair():
    gaps = gaps_of(Study.load(stages.table_path("worst_exponential")))
    deltas = {float(f"{gap.fixed:.3g}") for gap in gaps}
    assert deltas == set(worst_exponential.SPECIFICATION["deltas"])
    for gap in gaps:
        worst = gap.worst
        assert gap.fixed <= worst.upper <= worst_texts.dominating(worst) * (1 + 1e-6)
        assert worst.lower <= worst.upper <= worst.lower * 1.02
        assert gap.upper == pytest.approx(100 * (worst.upper / gap.fixed - 1), abs=1e-9)


def test_no_filter_that_is_proved_is_found_broken():
    for row in committed("worst_filters")["slack"]:
        assert row["lower"] <= 1.0


def test_budgets_are_in_the_order_that_is_known():
    rows = {row["log10_delta"]: row for row in committed("worst_filters")["budgets"]["rows"]}
    for row in rows.values():
        assert row["whitehouse"] < row["zcdp"] < row["sound"]
    assert rows[-6]["sound"] == pytest.approx(0.0549, abs=1e-4)
    assert rows[-6]["gaussian"] == pytest.approx(0.05603, abs=1e-5)
    over = {
        row["log10_delta"]: row["ratio"]
        for row in committed("worst_filters")["budgets"]["overshoot"]
    }
    assert over[-6] > 1.2 > 1.0 > over[-10]


def test_a_budget_of_squares_is_sound_for_its_own_menu_only():
    """The other menu of the text, searched here: what the first menu keeps, it breaks."""
    unit, multiples = worst_texts.OTHER_MENU["unit"], range(1, 29)
    menu = entries([f"randomized-response:{unit * j:.10g}" for j in multiples])
    layouts = [lattice_layout(option.law, unit) for option in Game(menu, rounds=1).options(unit)]
    broken, sound = (int(worst_texts.OTHER_MENU[b] / unit**2) for b in ("broken", "sound"))
    graph = budget_graph([j * j for j in multiples], broken)
    grid = Grid(unit, -2286, 4572, -1.0 + round(1.0 / unit) * unit)
    curve = [Values(grid, v, None, 0.0).upper(1.0) for v in upper_sweep(graph, grid, layouts)]
    assert curve[broken] == pytest.approx(worst_texts.OTHER_MENU["delta"], rel=1e-4)
    assert curve[sound] <= 1e-6 < curve[broken]
