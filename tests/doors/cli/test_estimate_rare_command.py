"""``dpcompose estimate-rare``: true numbers at an atom, ends alone, bad input."""

import pytest

from simulator.theory.pld.response_atoms import repeated_atoms

GAME = ("fixed-worst-case", "--family", "pure:0.1", "--rounds", 30, "--trials", 200_000)
SETTINGS = ("--seed", 1, "--epsilon", 0.2, "--jobs", 1, "--json")


def test_run_and_tail_agree_with_the_exact_tail(dpcompose):
    exact = repeated_atoms(0.1, 30).tail(0.2)
    assert exact == pytest.approx(0.3933, abs=5e-5)
    report = dpcompose("simulate", *GAME, *SETTINGS).json["experiments"]
    for b in (0, 1):
        event = dpcompose(
            "estimate-rare", *GAME, *SETTINGS, "--method", "plain", "--experiment", b
        ).json
        (point,) = report[str(b)]["points"]
        for end in ("value", "lower", "upper"):
            assert event["tail"][end] == point["tail"][end]
        assert point["tail"]["lower"] <= exact <= point["tail"]["upper"]


BEHIND = (
    "estimate-rare",
    "double-when-behind",
    "--family",
    "pure:0.5",
    "--rounds",
    20,
    "--trials",
    6000,
)


def test_a_sample_that_may_miss_losses_prints_its_valid_ends(dpcompose):
    """Tilted the other way, no bound limits the weights: the ends remain, and the reason."""
    arguments = ("estimate-rare", "fixed-worst-case", "--family", "gdp:1", "--rounds", 20,
                 "--trials", 3000, "--epsilon", 0, "--jobs", 1, "--method", "tilted:-1",
                 "--seed", 1)  # fmt: skip
    lines = dpcompose(*arguments).out.splitlines()
    assert sum("between" in line and "; no value: these trials" in line for line in lines) == 2
    found = dpcompose(*arguments, "--json").json
    for name in ("tail", "delta"):
        entry = found[name]
        assert entry["value"] is None
        assert "guess" not in entry
        assert entry["no_value"].endswith('the method "auto" has one')
        assert entry["lower_valid"]
        assert entry["upper_valid"]
        assert 0.0 <= entry["lower"] < entry["upper"] <= 1.0


@pytest.mark.parametrize("method", ["auto", "doob", "covering"])
def test_what_is_bounded_in_advance_has_a_value(dpcompose, method):
    arguments = (*BEHIND, "--seed", 1, "--epsilon", 0.5, "--jobs", 1, "--method", method)
    event = dpcompose(*arguments, "--json").json
    assert event["tail"]["no_value"] == event["delta"]["no_value"] == ""
    assert "no value" not in dpcompose(*arguments).out


MENU = """
from simulator import RandomizedResponse
from simulator.adversaries import Rule

WEAK = ((WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.1)),)
NOISY = ((WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)),)
"""
RULES = {
    "not closing": """
def step(state, i, answer, coins):
    return state * 1.1 + (answer if i > 0 else 0.0), 0

mine = Rule(step, WEAK, 0.0)
""",
    "accumulating": """
def step(state, i, answer, coins):
    return state + (answer if i > 0 else 0.0), 0

mine = Rule(step, NOISY, 0.0)
""",
    "coin kept": """
def step(state, i, answer, coins):
    return (coins.random() if i == 0 else state), 0

mine = Rule(step, WEAK, 0.0)
""",
}
COMPLAINTS = {
    "not closing": "count them instead",
    "accumulating": "keeps the answer as a number in its state",
    "coin kept": "as a number in its state",
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_cannot_be_enumerated(dpcompose, adversary_file, monkeypatch, name):
    monkeypatch.setattr("simulator.engine.enumerated.state_count.MOST_NODES", 500)
    mine = adversary_file(MENU + RULES[name], "mine")
    complaint = dpcompose(
        "estimate-rare", mine, "--family", "pure:0.1", "--rounds", 14, "--trials", 100,
        "--epsilon", 0.9, "--jobs", 1, "--method", "covering",
    ).complaint  # fmt: skip
    assert COMPLAINTS[name] in complaint


@pytest.mark.sampled
@pytest.mark.parametrize("theta", ["1e12", "1e17"])
def test_a_theta_that_leaves_no_digits(dpcompose, theta):
    complaint = dpcompose(
        *BEHIND, "--epsilon", 0.5, "--jobs", 1, "--method", f"tilted:{theta}"
    ).complaint
    assert "digits" in complaint


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("tilted:0.5", "0 of 100 trials hit the event: try more trials"),
        ("auto", "no trial hit the event, which is rarer than 1e-300: give a smaller epsilon"),
    ],
)
def test_an_event_that_no_trial_reached_has_ends_and_exit_code_3(dpcompose, method, reason):
    run = dpcompose(
        "estimate-rare", "press-when-ahead", "--family", "pure:0.1", "--rounds", 20,
        "--trials", 100, "--epsilon", 1.99, "--jobs", 1, "--method", method,
    )  # fmt: skip
    assert run.code == 3
    assert reason in run.err
    assert "Pr[L > epsilon] at 1.99:  between 0 and " in run.out


@pytest.mark.parametrize("method", ["auto", "covering"])
def test_an_event_beyond_all_losses_has_probability_zero(dpcompose, method):
    run = dpcompose(
        "estimate-rare", "press-when-ahead", "--family", "pure:0.1", "--rounds", 10,
        "--trials", 100, "--epsilon", 1, "--jobs", 1, "--method", method,
    )  # fmt: skip
    assert run.code == 0
    assert "Pr[L > epsilon] at 1:  0 [0, 0] (the family allows no such loss)" in run.out


GENERATOR = """
def mine(coins):
    answer = 0.0
    bold = coins.random() < 1e-3
    while True:
        if bold and answer < 0.5:
            answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 1.0)
        else:
            answer = yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)
"""


@pytest.mark.parametrize("method", ["auto", "covering"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_generator_of_a_file_is_covered(dpcompose, adversary_file, method, jobs):
    mine = adversary_file(GENERATOR, "mine")
    event = dpcompose(
        "estimate-rare", mine, "--family", "pure:1", "--rounds", 12, "--trials", 5000,
        "--epsilon", 2, "--jobs", jobs, "--method", method, "--json",
    ).json  # fmt: skip
    assert event["method"] == "covering"
    assert event["delta"]["upper"] < 1.2 * event["delta"]["lower"]
