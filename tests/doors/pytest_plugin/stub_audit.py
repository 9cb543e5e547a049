"""An audit of exact size, in place of the real one: of the bits that the first input gives."""

from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.stats import binom

from simulator.foundations.seeds import Stream, generator
from simulator.trials import auditing


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
        divergence="", advice=list, warnings=(),
    )  # fmt: skip


def install(monkeypatch=None):
    """Put it in the place of the real one."""
    if monkeypatch is None:
        auditing.audit = audit
    else:
        monkeypatch.setattr(auditing, "audit", audit)
