"""What the search finds: broken claims are broken by short programs, sound ones never."""

import numpy as np
import pytest

from simulator import simulate
from simulator.attacks import (
    AdversaryFound,
    BoundClaim,
    assert_no_adversary,
    find_adversary,
    find_conversation,
)
from simulator.attacks.measuring import drawn
from simulator.attacks.plans import AttackPlan, PlanRule
from simulator.attacks.spaces import experiments_of
from simulator.errors import InvalidInput, NotApplicable
from simulator.theory import parse_filter
from simulator.theory.filters.realised import RealisedFilter
from simulator.worst import entries, worst_case
from simulator.worst.game import Game

RESPONSES = "randomized-response:0.1,randomized-response:0.2,randomized-response:0.3"


class SquaresBudget:
    """Admits while the sum of squares is within a budget; sound or not by its size."""

    initial, monotone = 0.0, True

    def __init__(self, budget, epsilon=1.0, delta=0.01):
        self.budget, self.epsilon, self.delta = budget, epsilon, delta

    def admit(self, state, guarantee):
        after = state + guarantee.pure_epsilon**2
        return after <= self.budget * (1.0 + 1e-12), after


class TwoNumbers:
    """A state of two numbers that no order merges: a sum, and a sum that decays."""

    initial, epsilon, delta = (0.0, 0.0), 0.5, 1e-3

    def admit(self, state, guarantee):
        spent, recent = state
        cost = guarantee.pure_epsilon
        after = (round(spent + cost, 9), round(0.5 * recent + cost, 9))
        return after[1] <= 0.55 and after[0] <= 1.2, after


class Threshold(RealisedFilter):
    """Broken: admits any round until the realised loss has passed epsilon."""

    name, source, proved = "threshold of a test", "broken on purpose", False

    @staticmethod
    def step(state, epsilon, delta):
        return abs(state[0]) < state[5], state


def added_wrongly(view):
    """An accountant that promises half of basic composition."""
    return sum(turn.guarantee.pure_epsilon for turn in view) / 2


def added(view):
    """Basic composition."""
    return sum(turn.guarantee.pure_epsilon for turn in view)


@pytest.mark.nightly
def test_the_natural_filter_is_broken_by_a_program_of_twenty_lines():
    menu = "randomized-response:0.025,randomized-response:0.2"
    found = find_adversary("natural:1,1e-5", menu, seconds=20)
    assert found.verdict == "broken"
    assert found.measured.exact
    best = worst_case(menu, epsilon=1.0, filter="natural:1,1e-5").delta
    assert 0.85 * best.lower < found.measured.delta.lower <= best.upper
    assert found.program.lines <= 25
    assert found.upper == pytest.approx(best.upper, rel=0.02)
    short = found.shortest
    assert short is not None
    assert short.lines <= found.program.lines
    assert found.shortest_measured.delta.lower > 1e-5


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (SquaresBudget(0.6), {"menu": RESPONSES}),
        (Threshold(1.0, 0.05), {"menu": "randomized-response:0.25,randomized-response:2",
                                "rounds": 8}),
        (added_wrongly, {"menu": "randomized-response:0.5", "rounds": 4, "delta": 1e-6}),
        ((1.0, 1e-9), {"menu": "randomized-response:0.5", "rounds": 4}),
        (TwoNumbers(), {"menu": "randomized-response:0.2,randomized-response:0.3"}),
    ],
    ids=["squares", "threshold", "accountant", "bound", "two numbers"],
)  # fmt: skip
def test_a_broken_claim_is_broken(claim, options):
    found = find_adversary(claim, seconds=4, **options)
    assert found.verdict == "broken"
    assert found.measured.delta.lower > found.claim.delta
    assert "def adversary(coins):" in found.program.source


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        ("whitehouse:1,1e-5", {"menu": RESPONSES}),
        (SquaresBudget(0.1), {"menu": RESPONSES}),
        (added, {"menu": "randomized-response:0.5", "rounds": 4, "delta": 1e-6}),
        ((1.6, 0.0), {"menu": "randomized-response:0.4", "rounds": 4}),
        ("renyi:1,1e-3", {"menu": "laplace:0.2", "rounds": 20}),
    ],
    ids=["whitehouse", "squares", "accountant", "bound", "renyi"],
)
def test_a_sound_claim_is_not_broken(claim, options):
    """Exact values leave no room for chance; the play of Laplace noise errs with 1e-9."""
    found = find_adversary(claim, seconds=3, confidence=1 - 1e-9, **options)
    assert found.verdict != "broken"
    assert found.shortest is None


@pytest.mark.nightly
def test_no_sound_claim_of_two_hundred_is_called_broken():
    """Filters with a proof over random menus; each play errs with probability 1e-9."""
    draws = np.random.default_rng(8)
    names = ("whitehouse", "renyi", "zcdp", "sum", "rogers", "residue")
    for number in range(200):
        name = names[number % len(names)]
        epsilon = float(draws.uniform(0.3, 3.0))
        delta = float(10.0 ** -draws.uniform(2, 7))
        text = f"sum:{epsilon}" if name == "sum" else f"{name}:{epsilon},{delta}"
        sizes = draws.uniform(0.08, 0.5, size=draws.integers(1, 4)) * epsilon
        menu = ",".join(f"randomized-response:{size:.4g}" for size in sizes)
        try:
            found = find_adversary(text, menu, seconds=1, confidence=1 - 1e-9)
        except NotApplicable:
            continue
        assert found.verdict != "broken", (text, menu)


@pytest.mark.nightly
def test_programs_are_near_the_exact_search_over_random_games():
    """Of 100 random games without a filter; a program keeps nine tenths, its policy all of it."""
    draws = np.random.default_rng(5)
    kept = []
    for _ in range(100):
        sizes = np.round(draws.uniform(0.05, 0.6, size=draws.integers(1, 4)), 3)
        menu = ",".join(f"randomized-response:{size}" for size in sizes)
        rounds = int(draws.integers(2, 20))
        epsilon = round(float(draws.uniform(0.1, 0.7)) * rounds * float(sizes.max()), 3)
        best = worst_case(menu, epsilon=epsilon, rounds=rounds).delta
        if best.upper < 1e-12:
            continue
        found = find_adversary((epsilon, 0.5), menu, rounds=rounds, seconds=5)
        assert found.measured.delta.lower <= best.upper * (1 + 1e-9)
        assert found.searched.lower >= 0.97 * best.lower
        kept.append(found.measured.value / best.lower)
    assert np.mean(np.array(kept) > 0.89) > 0.95


def test_a_program_plays_as_its_plan_says():
    found = find_adversary(SquaresBudget(0.6), RESPONSES, seconds=3)
    scope = {}
    exec(found.program.source, scope)
    plan = found.program.plan
    draws = np.random.default_rng(3)
    for _ in range(50):
        playing = scope["adversary"](None)
        challenge = next(playing)
        loss, counts, limit = 0.0, [0] * len(plan.options), len(plan.options) - 1
        for _ in range(40):
            move = min(plan.move(loss, tuple(counts)), limit)
            if move < 0:
                assert challenge[0] == challenge[1]
                break
            option = plan.options[move]
            assert challenge[2] == option.challenge.mechanism
            if draws.random() < 0.03:
                limit = move - 1
                challenge = playing.send(float("nan"))
                continue
            answer = float(draws.integers(2))
            loss += option.challenge.mechanism.pair(
                *option.challenge[:2], found.claim.relation
            ).loss(answer)
            counts[move] += 1
            limit = len(plan.options) - 1
            challenge = playing.send(answer)


@pytest.mark.nightly
def test_a_program_gets_in_simulate_what_it_is_said_to_get():
    """The interval of a play errs with probability 1e-6."""
    found = find_adversary(Threshold(1.0, 0.05), "randomized-response:0.5", rounds=6, seconds=2)
    result = simulate(
        found.program.adversary, "pure:0.5", found.program.plan.rounds, 20_000, seed=4,
        filter=Threshold(1.0, 0.05), jobs=1, progress=False,
    )  # fmt: skip
    estimate = result.delta(1.0, confidence=1 - 1e-6)
    assert estimate.lower <= found.measured.value <= estimate.upper


def test_a_program_is_a_compiled_program(tmp_path):
    found = find_adversary(
        "natural:1,1e-3", "randomized-response:0.1,randomized-response:0.3", seconds=3
    )
    path = found.program.save(tmp_path / "found.py")
    with pytest.raises(InvalidInput, match="exists already"):
        found.program.save(path)
    result = simulate(
        f"{path}:adversary", "pure:0.3", 60, 50_000, seed=2, filter=parse_filter("natural:1,1e-3"),
        jobs=1, progress=False,
    )  # fmt: skip
    estimate = result.delta(1.0, confidence=1 - 1e-6)
    assert estimate.lower <= found.measured.value <= estimate.upper


def test_an_assertion_prints_the_program():
    with pytest.raises(AdversaryFound, match=r"(?s)is broken.*def adversary\(coins\)") as raised:
        assert_no_adversary(SquaresBudget(0.6), RESPONSES, seconds=3, replay=["pytest here"])
    assert "replay: pytest here" in str(raised.value)
    assert raised.value.result.verdict == "broken"
    assert assert_no_adversary("sum:1", RESPONSES, seconds=2).verdict == "sound"


def test_the_fixture_finds_it_too(dp):
    assert dp.assert_no_adversary("sum:1", RESPONSES, seconds=1).verdict == "sound"


@pytest.mark.nightly
def test_a_conversation_breaks_budgets_of_single_sites():
    """Eight sites with a budget of 1 each lose 8 together: too many states to try every message."""
    from simulator import PureDP
    from simulator.teaching.mechanisms.device import NO_DEVICE, UNITS, WHOLE, Device

    device = Device(1.0 / UNITS, 8, 8 * UNITS, 4 * UNITS, PureDP(1.0))
    found = find_conversation(device, [(NO_DEVICE, WHOLE)], epsilon=7.9)
    assert found.verdict == "broken"
    assert found.rounds == 9
    assert found.program().count("\n        (") == 8


def test_a_seed_determines_what_is_found():
    menu = "randomized-response:0.2,randomized-response:0.3"
    one, two = (find_adversary(SquaresBudget(0.3), menu, seconds=50, seed=3) for _ in range(2))
    assert one.program.source == two.program.source


@pytest.mark.parametrize(
    ("claim", "options", "message"),
    [
        (3, {}, "a claim is a filter"),
        ("natural:1,1e-5", {"menu": ""}, "menu"),
        (added, {"rounds": 3}, "give delta"),
        ((1.0, 0.1), {}, "give rounds"),
        (lambda view: "x", {"delta": 0.1, "rounds": 2}, "epsilon"),
        (lambda view: 1 / 0, {"delta": 0.1, "rounds": 2}, "ZeroDivisionError"),
        (lambda view: -1.0, {"delta": 0.1, "rounds": 2}, "at least 0"),
        ("sum:1", {"seconds": 0}, "seconds"),
        ("sum:1", {"menu": "laplace:0.1", "confidence": 2}, "confidence"),
    ],
    ids=["number", "empty menu", "no delta", "no rounds", "text", "raises", "negative", "seconds",
         "confidence"],
)  # fmt: skip
def test_what_is_no_claim_is_one_line(claim, options, message):
    with pytest.raises((InvalidInput, NotApplicable), match=message) as raised:
        find_adversary(claim, **{"seconds": 1, **options})
    assert "\n" not in str(raised.value)


def test_a_filter_that_refuses_everything_is_sound():
    found = find_adversary(SquaresBudget(0.0001), RESPONSES, seconds=1)
    assert found.verdict == "sound"
    assert found.measured.value == 0.0


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("experiment", [0, 1])
@pytest.mark.parametrize("name", ["subsampled-gaussian", "subsampled-gaussian-exchanged"])
def test_plays_of_sampled_gaussians_find_rare_deltas(name, experiment):
    """The interval of a play errs with probability 1e-6; the exact value is 3e-3 or 1e-11."""
    menu = f"{name}:1,0.05"
    exact = worst_case(menu, epsilon=0.8, rounds=20, experiment=experiment, seconds=3).delta
    options = tuple(Game(entries(menu), 20, None, experiment).options(1.0))
    plan = AttackPlan(options, (PlanRule(0),), rounds=20, experiment=experiment)
    claim = BoundClaim(promised=0.8, delta=1e-6, rounds=20)
    found = drawn(plan, claim, trials=4000, seed=1, confidence=1 - 1e-6)
    assert found.delta.lower <= exact.upper
    assert found.delta.upper >= exact.lower
    if exact.lower > 1e-6:
        assert found.delta.lower > 0.5 * exact.lower


@pytest.mark.parametrize(
    ("menu", "experiments"),
    [
        ("randomized-response:0.2,laplace:0.1,gaussian:3", (0,)),
        ("subsampled-gaussian:1,0.01", (0, 1)),
        ("subsampled-gaussian:1,1e-8", (0, 1)),
        ("subsampled-gaussian:20,0.001", (0, 1)),
        ("approx:0.2,0.01,geometric:0.3", (0,)),
        ("subsampled-gaussian:1,0.01,subsampled-gaussian-exchanged:1,0.01", (0,)),
    ],
)
def test_both_experiments_are_searched_where_they_differ(menu, experiments):
    assert experiments_of(entries(menu)) == experiments


def test_a_direction_that_differs_below_a_thousandth_is_searched():
    """Experiment 1 has 1.77e-9 at .0002, experiment 0 has 3.7e-11."""
    menu = "subsampled-gaussian:20,0.001"
    found = find_adversary((0.0002, 1e-9), menu, rounds=1, seconds=3)
    assert found.verdict == "broken"
    assert found.searched.lower > 1.7e-9


def test_the_rounds_of_a_filter_are_kept():
    """In three rounds of .2 nothing is lost beyond .6; the filter would admit six."""

    class Six:
        initial, epsilon, delta = 0, 0.6, 0.0

        def admit(self, state, guarantee):
            return state < 6, state + 1

    menu = "randomized-response:0.2,randomized-response:0.19"
    found = find_adversary(Six(), menu, rounds=3, seconds=2)
    assert found.verdict == "sound"
    assert found.measured.delta.upper <= 1e-9
    assert find_adversary(Six(), menu, seconds=2).verdict == "broken"


def test_a_conversation_sends_all_the_messages_that_its_delta_counts():
    from simulator import Database, PureDP, counting_query
    from simulator.mechanisms import ResponseTree, randomized_response_tree

    root = randomized_response_tree([0.3] * 12)
    tree = ResponseTree(counting_query("alice"), root, PureDP(1.0))
    found = find_conversation(tree, [(Database(), Database(["alice"]))], epsilon=1.0, delta=0.0)
    assert found.rounds == 13
    open_, total = [((), 1.0, 0.0)], 0.0
    while open_:
        answers, chance, loss = open_.pop()
        if answers not in found.messages:
            total += chance * max(0.0, -np.expm1(1.0 - loss))
            continue
        for answer, sign in ((0.0, 1), (1.0, -1)):
            right = 1.0 / (1.0 + np.exp(-0.3 * sign))
            open_.append(((*answers, answer), chance * right, loss + 0.3 * sign))
    assert found.delta.lower <= total * (1 + 1e-9)
    assert total * (1 - 1e-9) <= found.delta.upper


@pytest.mark.parametrize("options", [{"delta": -1.0}, {"delta": 2.0}, {"epsilon": -1.0}])
def test_a_promise_out_of_range_is_refused(options):
    with pytest.raises(InvalidInput, match="promised"):
        find_adversary("natural:1,1e-5", "randomized-response:0.1", seconds=1, **options)


def test_large_epsilons_do_not_overflow():
    found = find_adversary((800.0, 0.0), "randomized-response:0.5", rounds=2, seconds=1)
    assert found.verdict == "sound"
