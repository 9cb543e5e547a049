"""An audit of exact size, in place of the real one: of the bits that the first input gives."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.stats import binom

from simulator.auditing import audits as auditing
from simulator.auditing.audits.spending import Spending
from simulator.foundations.seeds import Stream, generator


@cache
def chances(hits, samples, limit):
    """Pr[more than hits ones], Pr[just as many]."""
    return binom.sf(hits, samples, limit), binom.pmf(hits, samples, limit)


def audit(mechanism, input_0, input_1, *, claimed, samples, confidence, seed, **_):
    """Reject when input 0 gives more ones than randomized response does; randomised at the edge.

    A randomized response that just keeps its claim is rejected with probability 1 - confidence
    exactly.
    """
    noise = generator(seed, 0, Stream.MECHANISM_0, 0)
    limit = 1.0 / (1.0 + np.exp(-claimed.pure_epsilon))
    hits = int(np.sum(mechanism(input_0, samples, noise)))
    more, equal = chances(hits, samples, limit)
    chance = more + noise.random() * equal
    event = SimpleNamespace(
        words="answer = 1", favours=0, hits_0=hits, hits_1=0, draws=samples,
        probability_0=hits / samples, probability_1=0.0,
    )  # fmt: skip
    violated = bool(chance <= 1.0 - confidence)
    return SimpleNamespace(
        verdict="violated" if violated else "not violated", violated=violated, claimed=claimed,
        epsilon=0.123,
        delta=0.0456, at_epsilon=claimed.pure_epsilon, at_delta=0.0, event=event,
        evidence=-np.log(chance), samples=samples, budget=samples, detectable=1.0,
        transcript=("1",), pair=f"{input_0} and {input_1}", pair_number=0,
        seed=seed, confidence=confidence, reproducible=True, seconds=0.0,
        divergence="", advice=list, warnings=(), unaudited="",
        found=["epsilon >= 0.123 at delta = 0"],
    )  # fmt: skip


def install(monkeypatch=None):
    """Put it in the place of the real one."""
    if monkeypatch is None:
        auditing.audit = audit
    else:
        monkeypatch.setattr(auditing, "audit", audit)


MECHANISMS = """
    import numpy as np
    from simulator import PureDP

    P = 1 / (1 + np.exp(-1.0))

    def honest(bit, n, rng):
        return (rng.random(n) < (P if bit else 1 - P)).astype(int)

    def constant(bit, n, rng):
        return np.full(n, bit)
"""
STUB = "from tests.auditing.pytest_plugin import stub_audit\nstub_audit.install()\n"


def summary(result):
    """(assertions, spent, budget, samples) of the line in the terminal summary."""
    (line,) = [line for line in result.outlines if line.startswith("dpcompose: ")]
    found = re.fullmatch(
        r"dpcompose: (\d+) assertions?, false-alarm budget (\S+) of (\S+) spent, ([\d,]+) samples,"
        r" \d+\.\d s",
        line,
    )
    return int(found[1]), float(found[2]), float(found[3]), int(found[4].replace(",", ""))


def spent_by(assertions, budget=1e-6):
    running = Spending(budget)
    return sum(running.spend() for _ in range(assertions))
