"""The false alarm of a check is shared among all that is checked."""

import numpy as np
import pytest
from scipy.stats import binom

from simulator.adversaries.registry import entries, make
from simulator.analysis.estimation import violation
from simulator.analysis.verification import (
    Check,
    decided,
    library_adversaries,
    looks,
    probed,
    usual_bounds,
    verify,
)
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.theory import Composition, PureDP, RenyiDP, bound

pytestmark = pytest.mark.usefixtures("few_draws")

FAMILY = PureDP(0.2)
WORST = {"worst": make("fixed-worst-case", FAMILY, 1)}
EXACT, ROOT = "kairouz-oh-viswanath-3.3", "kairouz-oh-viswanath-3.5"


def widths(names):
    """{(bound, experiment, epsilon): width of the interval} where so many bounds are checked."""
    bounds = [bound(name).on(Composition.repeat(FAMILY, 5)) for name in names]
    checks = verify(
        WORST, FAMILY, 5, 2_000,
        bounds=bounds, seed=3, jobs=1, false_alarm=1e-3,
    )  # fmt: skip
    return {(c.bound, c.experiment): c.verdict.upper - c.verdict.lower for c in checks}


@pytest.mark.nightly
def test_each_interval_is_wider_where_more_is_checked():
    alone, among = widths(["advanced"]), widths(["advanced", "basic", EXACT])
    assert len(among) > len(alone) == 2
    for key, width in alone.items():
        assert width < among[key] < 2.0 * width


def on(name, epsilon, rounds):
    return bound(name).on(Composition.repeat(PureDP(epsilon), rounds))


@pytest.mark.nightly
def test_a_bound_that_holds_by_far_or_is_wrong_is_decided_early_and_a_tight_one_is_not():
    """Of every claim each look has half of a share of the error; an early verdict is kept."""
    basic, far = on("basic", 0.2, 100), on("advanced", 0.2, 100)
    wrong, tight = on(ROOT, 0.1, 100), on(EXACT, 0.2, 100)

    def verdicts(*bounds):
        checks = verify(
            WORST, FAMILY, 100, 120_000, bounds=bounds, seed=3, jobs=1, false_alarm=1e-3
        )
        claims = 2 * sum(len(probed(each)) for each in bounds)
        for check in checks:
            assert check.verdict.false_alarm * 2 * claims == pytest.approx(1e-3)
        return [(check.bound, str(check.verdict.outcome), check.trials) for check in checks]

    first, last = looks(120_000, [1e-3], 1e-3 / 8)
    assert last == 120_000
    assert first < 20_000
    # no sample confirms a bound of 0: it keeps no adversary
    early = [("basic", "undecided", first), ("advanced", "holds", first)]
    assert verdicts(basic, far) == 2 * early
    first, _ = looks(120_000, [1e-3], 1e-3 / 18)
    found = verdicts(far, wrong, tight)
    assert found[0::3] == 2 * [("advanced", "holds", first)]
    assert found[1::3] == 2 * [(ROOT, "violated", first)]
    assert found[2::3] == 2 * [(EXACT, "undecided", last)]


def test_each_claim_has_an_equal_share_of_the_error():
    bounds = [on("basic", 0.2, 5), on(EXACT, 0.2, 5)]
    checks = verify(WORST, FAMILY, 5, 400, bounds=bounds, seed=3, jobs=1, false_alarm=1e-3)
    claims = 2 * sum(len(probed(each)) for each in bounds)
    assert claims > len(checks) == 4
    for check in checks:
        assert check.verdict.false_alarm * claims == pytest.approx(1e-3)


def test_few_trials_have_one_look_with_the_whole_error():
    assert looks(20_000, [1e-3, 1e-2, 0.0], 1e-9) == [20_000]
    assert looks(10**6, [0.0], 1e-9) == [10**6]
    plan = looks(10**6, [1e-3, 0.0], 1e-9)
    assert sum(plan) <= 10**6 * 4 / 3
    nothing = violation(np.zeros(plan[0]), 1.0, 1e-3, false_alarm=1e-9 / len(plan))
    assert nothing.outcome == "holds"  # trials without a hit decide at the first look
    sooner = violation(np.zeros(plan[0] // 2), 1.0, 1e-3, false_alarm=1e-9 / len(plan))
    assert sooner.outcome == "undecided"


@pytest.mark.nightly
@pytest.mark.sampled
def test_looking_twice_keeps_the_false_alarm_and_finds_what_is_wrong():
    """150 calls at a false alarm of 0.2, with a bound that is attained; and with one 5% too small.

    The number of false alarms is at most binomial: above the limit with probability 1e-6.
    """
    alarms = {0.2: 0, 0.19: 0}
    for seed in range(150):
        for epsilon in alarms:
            right = on(EXACT, epsilon, 5)
            probes = [(right, *probe) for probe in probed(right)]
            game = Specification(WORST["worst"], FAMILY, 5, 40_000, seed)
            share = 0.2 / (2 * len(probes))
            assert len(looks(40_000, [1e-3], share)) == 2
            checks, _ = decided("worst", game, probes, share, jobs=1, progress=False)
            alarms[epsilon] += any(check.violated for check in checks)
    assert alarms[0.2] <= binom.isf(1e-6, 150, 0.2)
    assert alarms[0.19] > 0.9 * 150


def test_every_adversary_of_the_library_is_made_for_the_family_and_its_rounds():
    family = PureDP(0.2)
    made = library_adversaries(family, 3)
    assert made.keys() == {each.name for each in entries() if each.plays_in(family)}
    _, _, mechanism = next(made["fixed-worst-case"](np.random.default_rng(0)))
    assert family.admits(mechanism.guarantee())


def test_a_check_is_decided_by_what_its_verdict_says():
    for loss, bound_delta, outcome, is_decided in (
        (1.0, 0.01, "violated", True),
        (0.0, 0.1, "holds", True),
        (1.0, 0.4, "undecided", False),
        (0.0, 0.0, "undecided", True),  # no sample confirms a bound of 0
    ):
        verdict = violation(np.full(400, loss), 0.5, bound_delta)
        check = Check("ours", 0, "basic", 0.5, verdict, trials=400)
        assert verdict.outcome == outcome
        assert check.violated == (outcome == "violated")
        assert check.decided == is_decided


def test_a_game_without_a_bound_to_check_is_refused():
    assert usual_bounds(Composition.repeat(FAMILY, 5))[0].name == "basic"
    with pytest.raises(InvalidInput, match=r"none of the bounds basic, .* applies to 5 x renyi:2"):
        usual_bounds(Composition.repeat(RenyiDP(2.0, 0.1), 5))
