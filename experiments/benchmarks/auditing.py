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
