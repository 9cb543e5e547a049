"""Play a rule by its kernel, as the text on standard input says; print how many were compiled."""

import sys

import numpy as np

from simulator import Database, Laplace, PureDP, counting_query
from simulator.adversaries import rule
from simulator.data import ADD_REMOVE
from simulator.engine.compiled import stored_code
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.sampling import Tilted

without, alice = Database({"bob": 1}), Database({"alice": 1, "bob": 1})
query = counting_query("alice", lambda record: record == "alice")


def rule_of(bound, every):
    @rule(menu=[(without, alice, Laplace(query, 0.1)), (without, alice, Laplace(query, 0.2))])
    def press(state, i, answer, coins):
        return state + coins.random(), 1 if answer > bound and i % every == 0 else 0

    return press


def plain(bound, every=1):
    engine = Engine.build(rule_of(bound, every), PureDP(0.2), ADD_REMOVE)
    assert not engine.complaint, engine.complaint
    losses = np.empty(50)
    engine.play(0, np.random.default_rng(1), np.random.default_rng(2), losses, 20)
    return losses


def tilted(bound, every=1):
    engine = TiltedEngine.build(rule_of(bound, every), PureDP(0.2), ADD_REMOVE)
    losses, log_weights = np.empty(50), np.empty(50)
    engine.play(
        1,
        Tilted(0.5),
        20,
        np.random.default_rng(1),
        np.random.default_rng(2),
        losses=losses,
        log_weights=log_weights,
    )
    return np.concatenate((losses, log_weights))


compiled = []
real = stored_code.compiled


def by_numba(kernel, arguments):
    """Count a kernel, and compile it."""
    compiled.append(kernel)
    return real(kernel, arguments)


if __name__ == "__main__":
    stored_code.compiled = by_numba
    exec(sys.stdin.read())
    print(len(compiled))
