"""Play both experiments and return their result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from simulator.adversaries.loading import game_of
from simulator.analysis.likelihoods import require_likelihoods, require_tests
from simulator.analysis.result import Result
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.sampling import Sampling
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.runner.fitting import most_trials
from simulator.runner.play import checked_experiments, checked_jobs, fitted, run_in
from simulator.runner.pool import require_workers
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee


def simulate(
    adversary: Callable[..., Any] | str,
    family: Guarantee | str,
    rounds: int,
    trials: int | None = None,
    *,
    seconds: float | None = None,
    seed: int = 0,
    relation: Relation = ADD_REMOVE,
    experiments: Sequence[int] = (0, 1),
    jobs: int | None = None,
    keep_views: int = 0,
    trace: bool = False,
    block_size: int = 0,
    sampling: Sampling | None = None,
    filter: Filter | str | None = None,
    out: str | PathLike[str] | None = None,
    progress: bool | None = None,
    trust: bool = True,
    keep: str | None = None,
) -> Result:
    """Play Compose(adversary, family, rounds, b) for b = 0 and 1, ``trials`` times each.

    Parameters
    ----------
    adversary : a generator function ``answer = yield database_0, database_1, mechanism`` that
        receives its coins, or a :class:`~simulator.adversaries.contract.Rule`; or a name of the
        library, as ``"press-when-ahead"``, or ``"path/to/file.py:function"``; of a file with one
        adversary ``"path/to/file.py"``.
    family : the class that the mechanisms must belong to, as ``PureDP(0.2)`` or ``"pure:0.2"``.
    rounds, trials : k, and how often each experiment is played.
    seconds : play as many trials as fit into this time, without compilation and the start of
        workers, and at most ``trials`` if given. Their number is fixed before the first trial
        (:mod:`simulator.runner.fitting`), and the result is that of a run with so many ``trials``.
        With ``out`` they are added to the stored ones. They take at most a quarter of the memory.
    seed : the root seed; results are a function of it and of the other parameters above.
    relation : ``ADD_REMOVE``, ``REPLACE_ONE``, or ``Group(ADD_REMOVE, k)`` for k records at once.
    experiments : which of 0 and 1 to play.
    jobs : parallel workers, -1 for every core; by default those of ``joblib.parallel_config``, or
        every core. Within ``parallel_config("dask")`` or ``("ray")`` the cluster plays, with
        all of its workers, unless ``jobs`` is 1.
    keep_views : keep the views of the first so many trials, for ``result.replay``.
    trace : record the moments of the loss along the rounds, for ``result.moments``.
    block_size : trials that share one seed, part of the identity; 0 chooses it.
    sampling : ``Tilted(theta)`` or a steered measure to draw from when large losses are rare;
        the estimates are then weighted. None draws from the experiments themselves.
    filter : a privacy filter before every query, or its text, as ``"sum:5"``. A query that it
        refuses is not run, costs nothing, and has the answer NaN.
    out : a folder to store every finished block in, and to resume from. ``trials`` and
        ``keep_views`` may be raised when a run is resumed: only the blocks that the larger run
        lacks are played, and the result is that of one larger run.
    progress : whether to show a bar; by default if standard error is a terminal.
    trust : whether to accept the likelihoods that mechanisms declare. With False the challenges
        that were met, and every entry of a rule's menu, are tested with fresh draws (``examine``),
        the more the smaller their declared losses; the probability that any correct likelihood
        fails is at most 1e-6. Of challenges that differ in numbers or records alone, 16 are tested;
        of numbers that a compiled program computes, those of each block's first 65,536 rounds
        count. ``result.likelihoods`` says how many were tested, and what error would have failed.
    keep : "losses" keeps each of them, 8 bytes per trial. "summary" counts them in bins of four
        significant digits, so that memory does not grow with the trials; estimates say by how much
        that widens them, and ``result.losses()`` is refused. By default losses up to ten million
        trials and a summary beyond, with their weights if ``sampling`` has some. No draw depends
        on it, and a folder of losses may be continued as a summary.

    Raises
    ------
    InvalidInput : a parameter is invalid, or the adversary cannot be sent to a process.
    Breach : the adversary broke the rules; the message has the round, the trial and the values.
    WorkerLost : a worker process died twice while it played the same block.
    ClusterLost : the scheduler of a cluster, or every worker, was lost.
    FalseLikelihood : ``trust`` is False, and a mechanism does not draw as it declares.

    Source: Roth 2011 (Lecture 4), Algorithm 1.

    >>> from simulator import simulate
    >>> result = simulate("press-when-ahead", "pure:0.2", 10, trials=100, jobs=1, progress=False)
    >>> estimate = result.tail(0.5)                 # Pr[L > 0.5] in experiment 0
    >>> 0 <= estimate.lower <= estimate.value <= estimate.upper <= 1
    True
    """
    if trials is None and seconds is None:
        raise InvalidInput("give the number of trials, or the seconds to play")
    adversary, family = game_of(adversary, family, rounds)
    if isinstance(filter, str):
        filter = parse_filter(filter)
    played = checked_experiments(experiments)
    counted = keep != "losses"
    specification = Specification(
        adversary, family, rounds, most_trials(played, counted) if trials is None else trials, seed,
        relation=relation, block_size=block_size, keep_views=keep_views, trace=trace,
        sampling=sampling, filter=filter, trust=bool(trust), keep=keep,
    )  # fmt: skip
    checked_jobs(jobs)
    require_workers(jobs)
    if seconds is not None:
        specification = fitted(specification, played, jobs, out, progress, seconds=seconds)
    if not specification.trust:
        require_tests()
    result = Result.of(run_in(out, specification, played, jobs, progress))
    if result.challenges:
        tested = require_likelihoods(result.challenges, relation, specification.seed)
        result = replace(result, likelihoods=tested)
    return result
