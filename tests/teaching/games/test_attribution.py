"""Many sites and a device's budgets: the exact values against lists of all views."""

import itertools
import math

import numpy as np
import pytest

from experiments.stages import ROOT
from simulator import PureDP
from simulator.teaching.games import Standing, find
from simulator.teaching.mechanisms.device import (
    NO_DEVICE,
    NOTHING_SHOWN,
    UNITS,
    WHOLE,
    Device,
)
from simulator.teaching.mechanisms.reaction import echo
from simulator.worst import worst_case, worst_conversation


def delta_of(pairs, epsilon):
    """Delta of independent finite rounds, by listing every view."""
    total = 0.0
    for view in itertools.product(*(zip(p0, p1) for p0, p1 in pairs)):
        p0, p1 = (math.prod(chances) for chances in zip(*view))
        total += max(0.0, p0 - math.exp(epsilon) * p1)
    return total


def response(epsilon):
    kept = 1 / (1 + math.exp(-epsilon))
    return (kept, 1 - kept), (1 - kept, kept)


def test_what_one_site_sees_is_the_list_of_its_views():
    epsilon, sites, buyers, delta = 0.7, 3, 2, 1e-2
    row = find("attribution").play(
        epsilon=epsilon, sites=sites, buyers=buyers, delta=delta, trials=1000
    ).row("its own reports")  # fmt: skip
    views = [response(epsilon), *[echo(epsilon, buyers)] * (sites - 1)]
    assert delta_of(views, row.upper + 1e-6) < delta < delta_of(views, row.lower - 1e-6)


def test_an_echo_is_a_noisy_count_of_buyers_who_follow_a_noisy_answer():
    epsilon, buyers, trials = 0.6, 3, 200_000
    noise = np.random.default_rng(5)

    def geometric():
        up, down = (noise.geometric(1 - math.exp(-epsilon), trials) for _ in range(2))
        return up - down

    for answers, law in ((0, echo(epsilon, buyers)[0]), (1, echo(epsilon, buyers)[1])):
        learned = noise.random(trials) < 1 / (1 + math.exp(-epsilon))
        buy = learned if answers else ~learned
        report = np.clip(buyers * buy + geometric(), 0, buyers)
        found = np.bincount(report, minlength=buyers + 1) / trials
        # Hoeffding's bound at 1e-8 for each of eight frequencies
        assert np.abs(found - law).max() < math.sqrt(math.log(2e8) / 2 / trials)


def test_many_buyers_reveal_what_all_sites_have_learned():
    found = find("attribution").play(buyers=50, sites=4, trials=1000)
    own, all_of_them = found.row("its own reports"), found.row("any reports")
    assert own.lower > 3.99
    assert own.upper <= all_of_them.upper


def test_adapting_to_another_site_is_what_breaks_the_claim():
    alone = find("attribution").play(sites=1, trials=1000)
    standings = {j.row.what: j.standing for j in alone.judged if "one site" in j.row.quantity}
    assert standings["its own budget"] is Standing.NOT_CAUGHT


def tried(device, states, left):
    """The largest delta's value function by plain recursion over views, without sharing."""

    def best(state, p0, p1, epsilon):
        values = []
        for message in device.messages(state):
            pair = device.answers_to(state, message)
            answers, on_0, on_1 = pair.outcomes()
            values.append(
                sum(
                    best(device.after(state, message, a), p0 * q0, p1 * q1, epsilon)
                    for a, q0, q1 in zip(answers, on_0, on_1)
                )
            )
        return max(values, default=max(0.0, p0 - math.exp(epsilon) * p1))

    return best(states, 1.0, 1.0, left)


@pytest.mark.parametrize("without", [NO_DEVICE, NOTHING_SHOWN], ids=["device", "ads"])
@pytest.mark.parametrize("locked", [True, False])
def test_the_worst_reports_are_those_of_a_plain_recursion(without, locked):
    device = Device(0.4, 1, 2, 1, PureDP(0.8), locked=locked)
    found = worst_conversation(device, without, WHOLE, epsilon=0.3)
    state = device.opened(without, WHOLE, None)
    assert tried(device, state, 0.3) == pytest.approx(float(found.delta), abs=1e-11)


@pytest.mark.parametrize(("sites", "total"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)])
def test_spending_all_at_each_site_is_the_worst_under_a_budget_of_the_device(sites, total):
    unit = 0.5
    device = Device(unit, sites, UNITS * total, UNITS * total, PureDP(total))
    for epsilon in (0.1, 0.7, 1.3):
        found = worst_conversation(device, NO_DEVICE, WHOLE, epsilon=epsilon).delta
        spent = [response(unit * UNITS)] * min(sites, total)
        assert delta_of(spent, epsilon) == pytest.approx(float(found), abs=1e-10)


def test_the_search_of_filters_finds_the_same_worst_reports():
    # a site's whole budget or half of it in each round, and a filter that adds up to two budgets
    device = Device(0.5, 2, 2 * UNITS, 2 * UNITS, PureDP(2.0))
    menu = "randomized-response:0.5,randomized-response:1"
    for epsilon in (0.3, 1.5):
        by_filter = worst_case(menu, filter="sum:2", epsilon=epsilon).delta
        found = worst_conversation(device, NO_DEVICE, WHOLE, epsilon=epsilon).delta
        assert found.lower - 1e-9 <= by_filter.lower <= by_filter.upper <= found.upper + 1e-9


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("quota", [1, 3, 4])
def test_bounds_of_the_device_hold(epsilon, quota):
    found = find("device-budget").play(epsilon=epsilon, quota=quota, at=0.9, trials=500)
    assert all(j.standing is not Standing.EXCEEDED for j in found.judged)
    assert all(j.standing is not Standing.CONTRADICTS for j in found.judged)


@pytest.mark.parametrize("total", [2, 100])
def test_a_quota_is_no_budget_by_the_device_and_by_the_sites(total):
    # without the ads of site 0, the device's budget lasts longer, and so do those of the sites
    device = Device(0.5, 2, total, 2, PureDP(50.0))
    found = worst_conversation(device, NOTHING_SHOWN, WHOLE, epsilon=0.5 * 2)
    assert found.delta.lower > 0.05


def test_the_table_of_the_page_is_what_its_program_prints(capsys):
    page = (ROOT / "experiments/site/pages/howto/attribution.md").read_text(encoding="utf-8")
    program, after = page.split('find("attribution").along')
    program = program.split("```python")[-1] + 'find("attribution").along' + after.split("```")[0]
    exec(program, {})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line[2:3].isdigit()]
    assert printed == [row for row in rows if len(row) == 5]
    assert len(printed) == 6
