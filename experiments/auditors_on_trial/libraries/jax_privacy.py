"""The estimators of ``jax_privacy.auditing.CanaryScoreAuditor``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.auditors_on_trial.games import GAUSSIAN, AuditGame, Runs, Scores
from experiments.auditors_on_trial.subjects import AuditorUnderTest

ONE: tuple[Runs, ...] = ("one run",)
EITHER: tuple[Runs, ...] = ("one run", "many runs")
_IMPORTS = "from jax_privacy.auditing import *"
RESAMPLES = 200


def _not_gaussian(game: AuditGame) -> str:
    if game.family == GAUSSIAN:
        return ""
    return "its name and its docstring say that it is an estimate by Gaussian DP"


def _estimate(game: AuditGame) -> str:
    return (
        "its docstring: bootstrapped quantiles are not to be read as a confidence interval of the "
        "true epsilon"
    )


def _made(
    module: Any, call: Callable[[Any, float, float, int], Any]
) -> Callable[[Scores, float, float, int], float]:
    def bound(scores: Scores, level: float, delta: float, seed: int) -> float:
        return float(call(module.CanaryScoreAuditor(*scores), level, delta, seed))

    return bound


def _code(call: str) -> str:
    return f"bound = CanaryScoreAuditor(inside, outside).{call}"


def auditors() -> list[AuditorUnderTest]:
    """The estimators with a level, each by its defaults, and one by a split."""
    from jax_privacy import auditing

    def split(seed: int) -> Any:
        return auditing.Split(seed=seed)

    def resampled(level: float, seed: int) -> Any:
        return auditing.BootstrapParams(num_samples=RESAMPLES, quantiles=(level,), seed=seed)

    return [
        AuditorUnderTest(
            name="epsilon_clopper_pearson",
            runs=EITHER,
            bound=_made(auditing, lambda a, level, d, s: a.epsilon_clopper_pearson(level, d)),
            claims="a lower bound on epsilon, significance = allowed probability of failure",
            remark="that scores must be independent is not in its docstring; the paper that it "
            "names, arXiv 2101.04535, draws each score from a model of its own",
            imports=_IMPORTS,
            code=_code("epsilon_clopper_pearson({level}, {delta})"),
        ),
        AuditorUnderTest(
            name="epsilon_clopper_pearson, split",
            runs=EITHER,
            bound=_made(
                auditing,
                lambda a, level, d, s: a.epsilon_clopper_pearson(
                    level, d, threshold_strategy=split(s)
                ),
            ),
            claims="the same, with a threshold from half of the scores",
            imports=_IMPORTS,
            code=_code(
                "epsilon_clopper_pearson({level}, {delta}, threshold_strategy=Split(seed=seed))"
            ),
        ),
        AuditorUnderTest(
            name="epsilon_one_run",
            runs=EITHER,
            bound=_made(auditing, lambda a, level, d, s: a.epsilon_one_run(level, d)),
            claims="a lower bound on epsilon for a single round of auditing (arXiv 2305.08846)",
            imports=_IMPORTS,
            code=_code("epsilon_one_run({level}, {delta})"),
        ),
        AuditorUnderTest(
            name="epsilon_one_run_fdp",
            runs=ONE,
            bound=_made(auditing, lambda a, level, d, s: a.epsilon_one_run_fdp(level, d)),
            claims="a lower bound on epsilon for a single round of auditing (arXiv 2410.22235)",
            remark="it rejects Gaussian trade-off functions, and gives the epsilon of the last one "
            "rejected: a bound for Gaussian mechanisms alone. The docstring does not say so; the "
            "paper treats one trade-off function at a time",
            imports=_IMPORTS,
            code=_code("epsilon_one_run_fdp({level}, {delta})"),
            share=0.5,
        ),
        AuditorUnderTest(
            name="epsilon_from_gdp",
            runs=EITHER,
            bound=_made(auditing, lambda a, level, d, s: a.epsilon_from_gdp(level, d)),
            claims="an estimate of epsilon with GDP, significance = allowed probability of failure",
            outside=_not_gaussian,
            remark="it takes the absolute value of a difference of two upper limits, so that error "
            "rates near 1 count as evidence in reverse, which needs lower limits; so bounds are "
            "false in Gaussian games as well, and without any information",
            imports=_IMPORTS,
            code=_code("epsilon_from_gdp({level}, {delta})"),
        ),
        AuditorUnderTest(
            name="epsilon_raw_counts, bootstrap",
            runs=EITHER,
            bound=_made(
                auditing,
                lambda a, level, d, s: a.epsilon_raw_counts(
                    delta=d, bootstrap_params=resampled(level, s)
                )[0],
            ),
            claims=f"a quantile (here the level) of {RESAMPLES} bootstrapped estimates",
            outside=_estimate,
            imports=_IMPORTS,
            code="parameters = BootstrapParams(num_samples="
            f"{RESAMPLES}, quantiles=({{level}},), seed=seed)\n"
            + _code("epsilon_raw_counts(delta={delta}, bootstrap_params=parameters)[0]"),
            share=0.25,
        ),
    ]
