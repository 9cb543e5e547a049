"""A script's own classes reach the workers, and are the same there."""

import subprocess
import sys

import pytest

OPENING = """
import math
from dataclasses import dataclass
from simulator import Database, Laplace, PureDP, counting_query, simulate
from simulator.data import ADD_REMOVE
from simulator.mechanisms import Mechanism

everyone = Database({"alice": 1})
without = everyone.remove("alice")
alice = counting_query("alice")
"""

PLAIN = """
class Stake:
    def __init__(self, epsilon):
        self.epsilon = epsilon

stake = Stake(0.1)

def ask():
    return Laplace(alice, stake.epsilon)
"""

DATACLASS = """
@dataclass(frozen=True)
class Coin(Mechanism):
    query: object
    epsilon: float

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(self.epsilon)

    def sample(self, database, noise, relation=ADD_REMOVE):
        bit = self.query(database)
        return bit if noise.random() < 1 / (1 + math.exp(-self.epsilon)) else 1 - bit

    def log_likelihood_ratio(self, answer, first, second, relation=ADD_REMOVE):
        return self.epsilon * (
            float(answer == self.query(first)) - float(answer == self.query(second))
        )

coin = Coin(alice, 0.1)

def ask():
    return coin
"""

CLOSING = """
def adversary(coins):
    while True:
        yield without, everyone, ask()

if __name__ == "__main__":
    results = [
        simulate(adversary, PureDP(0.2), 5, 20_000, jobs=jobs, progress=False) for jobs in (1, 2)
    ]
    assert (results[0].losses(0) == results[1].losses(0)).all()
    print("the same")
"""


@pytest.mark.nightly
@pytest.mark.parametrize("body", [PLAIN, DATACLASS])
def test_a_class_of_the_script_plays_on_two_workers(tmp_path, body):
    script = tmp_path / "script.py"
    script.write_text(OPENING + body + CLOSING)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stdout == "the same\n", done.stderr
