"""The audit of black boxes: processor time, throughput, and the power that the draws buy."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.benchmarks.measure import Line, fresh

_PROGRAM = """
import json, time
import numpy as np
import sklearn.ensemble, sklearn.linear_model
from simulator import PureDP
from simulator.auditing import audit

def laplace(scale):
    return lambda value, n, rng: value + rng.laplace(0.0, scale, n)

def run(scale, samples, seed=0, **how):
    start = time.process_time()
    result = audit(laplace(scale), 0.0, 1.0, claimed=PureDP(0.1), samples=samples, seed=seed,
                   bits=False, **how)
    return result, time.process_time() - start

run(10.0, 10_000)
{what}
"""

_TIME = """
result, seconds = run(10.0, 1_000_000)
print(json.dumps({"seconds": seconds, "epsilon": result.epsilon, "samples": result.samples}))
"""

_THROUGHPUT = """
seconds = [run(10.0, samples, stop_early=False)[1] for samples in (10_000_000, 30_000_000)]
rng = np.random.default_rng(0)
start = time.process_time()
for _ in range(40):
    laplace(10.0)(0.0, 131_072, rng)
bare = 40 * 131_072 / (time.process_time() - start)
print(json.dumps({"rate": 4e7 / (seconds[1] - seconds[0]), "seconds": seconds, "bare": bare}))
"""

_POWER = """
found = [run(9.0, 1_000_000, seed)[0] for seed in range(40)]
print(json.dumps({
    "caught": sum(each.violated for each in found) / len(found),
    "mean_samples": sum(each.samples for each in found) / len(found),
    "false_alarm": 1e-6,
}))
"""


_BESIDE_HAND = """
from functools import partial
from simulator.analysis.estimation.paired_ratio import log_ratio_lower

def by_hand():
    rng = np.random.default_rng(0)
    first, second = (laplace(1.0)(value, 1_000_000, rng) < 0.0 for value in (0.0, 1.0))
    only = [int(np.count_nonzero(a & ~b)) for a, b in ((first, second), (second, first))]
    return log_ratio_lower(*only, int(np.count_nonzero(first)), 1_000_000)

def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start

def audited(claimed, stop_early):
    return audit(laplace(1.0), 0.0, 1.0, claimed=claimed, bits=False, stop_early=stop_early)

ratios = {}
for claimed in ("pure:1", "approx:1,1e-5", "gdp:1.232", "zcdp:0.37", "renyi:2,0.62"):
    works = by_hand, partial(audited, claimed, True), partial(audited, claimed, False)
    # in turn, and the least of each: other processes only make a run slower
    hand, early, whole = map(min, zip(*([seconds(work) for work in works] for _ in range(5))))
    ratios |= {f"{claimed}, stop_early=True": early / hand,
               f"{claimed}, stop_early=False": whole / hand}
print(json.dumps(ratios))
"""

_SMALL = """
from simulator.auditing import assert_private

def counted(rows, n, rng):
    return len(rows) + rng.geometric(0.7, n) - rng.geometric(0.7, n)

def seconds(seed):
    start = time.process_time()
    assert_private(counted, [1] * 3, [1] * 4, claimed="pure:1.3", samples=1000, seed=seed)
    return time.process_time() - start

seconds(0)
print(json.dumps({"seconds": min(seconds(seed) for seed in range(9))}))
"""

_TABLES = """
import pandas as pd
from simulator.auditing.evidence.answers import settled

rng = np.random.default_rng(0)
tables = [
    pd.DataFrame({"n": rng.laplace(size=3)}, index=["a", "b", "c"]) for _ in range(2000)
]


def seconds():
    start = time.process_time()
    settled(tables)
    return (time.process_time() - start) / len(tables)

print(json.dumps({"seconds": min(seconds() for _ in range(5))}))
"""


def program(what: str) -> str:
    """The program of one figure, run in a new process."""
    return _PROGRAM.replace("{what}", what)


def audits() -> Iterator[Line]:
    """Laplace noise on trial at epsilon = 0.1, both inputs drawn by numpy."""
    detail = fresh(program(_TIME))
    yield Line(
        "audit of Laplace, 10^6 draws per input", detail["seconds"], "s", 5.0,
        at_least=False, detail=detail,
    )  # fmt: skip
    ratios = fresh(program(_BESIDE_HAND))
    worst = max(ratios, key=lambda name: ratios[name])
    yield Line(
        "audit of honest Laplace, dearest claim", ratios[worst], "times a threshold test by hand",
        20.0, at_least=False, detail=ratios,
    )  # fmt: skip
    early = max(
        ratios[name] / ratios[name.replace("True", "False")] for name in ratios if "True" in name
    )
    yield Line(
        "audit of honest Laplace, stop_early", early, "times without", 1.2, at_least=False,
        detail=ratios,
    )  # fmt: skip
    detail = fresh(program(_SMALL))
    yield Line(
        "assert_private of a noisy count, 1000 draws", 1000.0 * detail["seconds"], "ms", 100.0,
        at_least=False, detail=detail,
    )  # fmt: skip
    detail = fresh(program(_TABLES))
    yield Line(
        "a DataFrame as an answer, read", 1e3 * detail["seconds"], "ms a draw", 0.1,
        at_least=False, detail=detail,
    )  # fmt: skip
    detail = fresh(program(_THROUGHPUT))
    yield Line(
        "audit, throughput once it has learned", detail["rate"] / 1e6, "million draws/s", 10.0,
        detail=detail,
    )  # fmt: skip
    detail = fresh(program(_POWER))
    yield Line(
        "audit, noise a tenth too small: share caught", detail["caught"], "of 40 audits", 0.9,
        detail=detail,
    )  # fmt: skip


BENCHMARKS = (audits,)
