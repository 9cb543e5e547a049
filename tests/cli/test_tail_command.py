"""At an atom of the loss the commands print one number, and it is the true one."""

import pytest

from simulator.theory.loss_atoms import repeated_atoms

GAME = ("fixed-worst-case", "--family", "pure:0.1", "--rounds", 30, "--trials", 200_000)
SETTINGS = ("--seed", 1, "--epsilon", 0.2, "--jobs", 1, "--json")


def test_run_and_tail_agree_with_the_exact_tail(dpcompose):
    exact = repeated_atoms(0.1, 30).tail(0.2)
    assert exact == pytest.approx(0.3933, abs=5e-5)
    report = dpcompose("run", *GAME, *SETTINGS).json["experiments"]
    for b in (0, 1):
        event = dpcompose("tail", *GAME, *SETTINGS, "--method", "plain", "--experiment", b).json
        (point,) = report[str(b)]["points"]
        for end in ("value", "lower", "upper"):
            assert event["tail"][end] == point["tail"][end]
        assert point["tail"]["lower"] <= exact <= point["tail"]["upper"]
