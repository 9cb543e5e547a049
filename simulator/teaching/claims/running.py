"""Running checks and comparing their verdicts with the recorded ones."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from simulator.foundations.children import guarded
from simulator.foundations.errors import DpcomposeError, InvalidInput, Refusal
from simulator.foundations.stages import stage
from simulator.foundations.validation import whole
from simulator.runner.interruption import shielded
from simulator.teaching.claims.model import Claim, Finding, Verdict
from simulator.teaching.claims.registry import find


@dataclass(frozen=True)
class ClaimResult:
    """A claim, the finding of its check, and the time it took."""

    claim: Claim
    finding: Finding
    seconds: float

    @property
    def as_recorded(self) -> bool:
        """Whether the verdict is the recorded one."""
        return self.finding.verdict is self.claim.expected

    def as_dict(self) -> dict[str, Any]:
        """Everything but the time, so that equal results make equal files."""
        claim = self.claim
        return {
            "id": claim.id,
            "source": claim.source.cite,
            "place": claim.place,
            "statement": claim.statement,
            "parameters": {name: _plain(value) for name, value in claim.parameters.items()},
            "expected": str(claim.expected),
            "as_recorded": self.as_recorded,
            "fault": str(claim.fault) if claim.expected.is_complaint else None,
            **self.finding.as_dict(),
        }


OnResult = Callable[[ClaimResult], None]


def run(
    claims: Iterable[Claim], on_result: OnResult | None = None, jobs: int = 1
) -> list[ClaimResult]:
    """Check the claims.

    Parameters
    ----------
    claims : checked and returned in this order.
    on_result : called with each result as it comes.
    jobs : worker processes; -1 for every core. Each takes a second or two to start, and can
        check the ledger's claims only.

    Raises InvalidInput for ``jobs`` below 1, or for several jobs and a claim that is not in the
    ledger; DpcomposeError if a worker dies.
    """
    listed = list(claims)
    workers = min((os.cpu_count() or 1) if jobs == -1 else whole("jobs", jobs), len(listed))
    coming = enumerate(map(_checked, listed)) if workers <= 1 else _in_workers(listed, workers)
    found: dict[int, ClaimResult] = {}
    with stage("claims", len(listed)) as advance:
        for place, result in coming:
            found[place] = result
            advance()
            if on_result is not None:
                on_result(result)
    return [found[place] for place in range(len(listed))]


def _in_workers(claims: Sequence[Claim], workers: int) -> Iterator[tuple[int, ClaimResult]]:
    """Results as they come. A worker receives an id: not every check could be pickled."""
    for claim in claims:
        if find(claim.id) is not claim:
            raise InvalidInput(f"claim {claim.id} is not the ledger's; check it with one job")
    before = {*multiprocessing.active_children()}
    try:
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    except (OSError, ImportError, NotImplementedError) as error:  # no semaphores
        raise InvalidInput(f"no worker can be started here ({error}); check with one job") from None
    try:
        with guarded(), shielded():  # all workers are started here
            places = {pool.submit(_checked_by_id, c.id): place for place, c in enumerate(claims)}
        for done in as_completed(places):
            finding, seconds = done.result()
            yield places[done], ClaimResult(claims[places[done]], finding, seconds)
    except BrokenProcessPool:
        raise DpcomposeError("a worker died while it checked claims; try one job") from None
    except BaseException:  # Ctrl-C: a check may take many seconds; do not wait for it
        for worker in {*multiprocessing.active_children()} - before:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _checked_by_id(id: str) -> tuple[Finding, float]:
    result = _checked(find(id))
    return result.finding, result.seconds


def _checked(claim: Claim) -> ClaimResult:
    started = time.perf_counter()
    finding = _decide(claim)
    return ClaimResult(claim, finding, time.perf_counter() - started)


def _decide(claim: Claim) -> Finding:
    try:
        return claim.run()
    except Refusal as refusal:  # an unreliable estimate decides nothing
        return Finding(Verdict.UNDECIDED, str(refusal))


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else str(value)
