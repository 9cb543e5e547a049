"""Outcomes and tallies read from storage, checked against the specification."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.tally import PLAIN, WEIGHTED, Tally, counted_in
from simulator.engine.promises import limit_of
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of

_COIN_WORDS = 6
_VIEW_ARRAYS = ("trials", "coins", "answers")


def stored_tally(
    specification: Specification,
    experiment: int,
    block: int,
    named: Mapping[str, np.ndarray],
    *,
    blocks: int,
) -> Tally | None:
    """The tally of stored arrays; None where it has fewer trials or views than needed.

    Raises InvalidInput for arrays that the specification's blocks cannot produce.
    """
    s = specification
    where = f"experiment {experiment}, block {block}"
    if experiment not in (0, 1) or not 0 <= block < block + blocks <= s.blocks:
        raise InvalidInput(f"{where} is stored, but is not a block of this run")
    expected = {PLAIN if s.sampling is None else WEIGHTED, "digests"}
    if differing := sorted((expected | ({"trace"} if s.trace else set())) ^ set(named)):
        raise InvalidInput(
            f"{where} is stored with too many or too few arrays: {', '.join(differing)}"
        )
    try:
        _, bins = counted_in(named)
    except InvalidInput as error:
        raise InvalidInput(f"{where} is stored with {error}") from None
    digests = named["digests"]
    most = (blocks - 1) * s.block_size + s.trials_in(block + blocks - 1)
    problem = _trace_problem(s, bins.trials, named)
    if digests.dtype != np.uint64 or digests.shape != (blocks,):
        problem = f"digests of type {digests.dtype} and shape {digests.shape}"
    if bins.trials > most:
        problem = f"{count_of(bins.trials, 'loss', 'losses')} for {count_of(most, 'trial')}"
    if bins.unknown:
        problem = "losses that are not numbers"
    problem = problem or _too_large(s, np.concatenate((bins.least, bins.largest)))
    if problem:
        raise InvalidInput(f"{where} is stored with {problem}")
    if bins.trials < most or s.views_in(block):
        return None
    return Tally(experiment, block, blocks, bins, digests, trace=named.get("trace"))


def stored_outcome(
    specification: Specification, experiment: int, block: int, named: Mapping[str, np.ndarray]
) -> Outcome | None:
    """The outcome of the arrays of ``Outcome.arrays``; None where trials or views are missing.

    These are missing from a last block of a smaller run, or from a block of a run that kept fewer
    views. Raises InvalidInput for arrays of other names, types, shapes or ranges than the
    specification's blocks have.
    """
    s = specification
    if experiment not in (0, 1) or not 0 <= block < s.blocks:
        raise InvalidInput(
            f"experiment {experiment}, block {block} is stored, but is not a block of this run"
        )
    trials = len(named["losses"]) if named.get("losses", np.zeros(())).ndim == 1 else 0
    kept = len(named["trials"]) if named.get("trials", np.zeros(())).ndim == 1 else 0
    _check_names(s, experiment, block, named, kept)
    problem = (
        _losses_problem(s, block, trials, named)
        or _trace_problem(s, trials, named)
        or _views_problem(s, block, kept, named)
    )
    if problem:
        raise InvalidInput(f"experiment {experiment}, block {block} is stored with {problem}")
    if trials < s.trials_in(block) or kept < s.views_in(block):
        return None
    return Outcome.of_arrays(experiment, block, named)


def _check_names(
    s: Specification, experiment: int, block: int, named: Mapping[str, np.ndarray], kept: int
) -> None:
    expected = {"losses"}
    expected |= {"trace"} if s.trace else set()
    expected |= {"log_weights"} if s.sampling is not None else set()
    expected |= set(_VIEW_ARRAYS) if kept or "trials" in named else set()
    if differing := sorted(expected ^ set(named)):
        raise InvalidInput(
            f"experiment {experiment}, block {block} is stored with too many or too few arrays: "
            + ", ".join(differing)
        )


def _losses_problem(
    s: Specification, block: int, trials: int, named: Mapping[str, np.ndarray]
) -> str:
    if not 1 <= trials <= s.trials_in(block):
        own = count_of(s.trials_in(block), "trial")
        return f"{count_of(trials, 'loss', 'losses')} for {own}"
    for name in ("losses", "log_weights"):
        array = named.get(name)
        if array is None:
            continue
        if array.dtype != np.float64 or array.shape != (trials,):
            return f"{name} of type {array.dtype} and shape {array.shape}"
        # losses may be unknown only where every view of the block is kept
        views = len(named.get("trials", ()))
        if np.isnan(array).any() and (name != "losses" or views != trials):
            return f"{name} that are not numbers"
    if "log_weights" in named and (named["log_weights"] == np.inf).any():
        return "infinite weights"
    return _too_large(s, named["losses"])


def _too_large(s: Specification, losses: np.ndarray) -> str:
    """A line on the first loss beyond what the family allows in all rounds; else empty."""
    most = s.rounds * limit_of(s.family).constant
    if math.isinf(most):
        return ""
    beyond = losses[np.abs(losses) > most]
    if not beyond.size:
        return ""
    return f"a loss of {float(beyond[0]):.6g}, where {s.family} allows {most:.6g} in all rounds"


def _trace_problem(s: Specification, trials: int, named: Mapping[str, np.ndarray]) -> str:
    trace = named.get("trace")
    if trace is None:
        return ""
    if trace.dtype != np.float64 or trace.shape != (3, s.rounds):
        return f"a trace of type {trace.dtype} and shape {trace.shape}"
    counts = trace[2]
    if not np.isfinite(trace).all() or (trace[1] < 0.0).any():
        return "a trace that is out of range"
    if not ((counts >= 0) & (counts <= trials) & (counts == np.floor(counts))).all():
        return "a trace that counts other than the block's trials"
    return ""


def _views_problem(s: Specification, block: int, kept: int, named: Mapping[str, np.ndarray]) -> str:
    if "trials" not in named:
        return ""
    trials, coins, answers = (named[name] for name in _VIEW_ARRAYS)
    most = s.trials_in(block) if np.isnan(named["losses"]).any() else s.views_in(block)
    if not 1 <= kept <= most:
        return f"{count_of(kept, 'view')} for {s.views_in(block)} to be kept"
    if trials.dtype.kind not in "iu" or coins.dtype != np.uint64:
        return f"views of types {trials.dtype} and {coins.dtype}"
    if coins.shape != (kept, _COIN_WORDS) or answers.shape[:2] != (kept, s.rounds):
        return f"views of shapes {coins.shape} and {answers.shape}"
    if (trials != block * s.block_size + np.arange(kept)).any():
        return "views of other trials"
    if (coins[:, 4] > 1).any() or (coins[:, 5] >= 2**32).any():
        return "coins that are out of range"
    if answers.dtype.kind not in "fiub":
        return f"answers of type {answers.dtype}"
    return ""
