"""Where numba is not installed a line says so, and rules play uncompiled to the same bits."""

import json
import subprocess
import sys

import pytest

from simulator.engine.block import play_block, prepared_engine
from simulator.engine.sampling import Covering, Tilted
from simulator.engine.specification import Specification
from tests.helpers.games import ANYTHING, FINITE, PRESS, PureDP

PROGRAM = """
import sys
sys.modules["numba"] = None  # as if it were not installed
import json
from simulator.engine.compiled import worth
worth.WORTH_COMPILING = worth.WORTH_A_LOOK = 0
from tests.engine.test_without_numba import outcomes
print(json.dumps(outcomes()))
"""


def outcomes():
    """The complaint and the losses of plain, tilted and covering play."""
    found = []
    for rule, family, sampling in (
        (PRESS, PureDP(0.2), None),
        (PRESS, PureDP(0.2), Tilted(2.0)),
        (FINITE, ANYTHING, Covering(2.0)),
    ):
        s = Specification(rule, family, 8, 20, 7, sampling=sampling)
        engine = prepared_engine(s)
        found.append([engine.complaint if engine else "", play_block(s, 0, 0).losses.tolist()])
    return found


@pytest.mark.usefixtures("compiles")
def test_rules_play_uncompiled():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    without, compiled = json.loads(run.stdout), outcomes()
    assert [losses for _, losses in without] == [losses for _, losses in compiled]
    assert [complaint for complaint, _ in compiled] == [""] * 3
    assert all("numba is not installed" in complaint for complaint, _ in without[:2])
