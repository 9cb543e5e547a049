"""Running checks and holding their verdicts against the recorded ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from simulator.claims.model import Claim, Finding, Verdict
from simulator.errors import Refusal


@dataclass(frozen=True)
class Result:
    """A claim, what its check found, and how long that took."""

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
            **self.finding.as_dict(),
        }


def run(claims: Iterable[Claim], tell: Callable[[Result], None] | None = None) -> list[Result]:
    """Check the claims one after another; ``tell`` is called with each result as it comes."""
    results = []
    for claim in claims:
        started = time.perf_counter()
        finding = _decide(claim)
        results.append(Result(claim, finding, time.perf_counter() - started))
        if tell is not None:
            tell(results[-1])
    return results


def _decide(claim: Claim) -> Finding:
    try:
        return claim.run()
    except Refusal as refusal:  # an estimate that would lie decides nothing
        return Finding(Verdict.UNDECIDED, str(refusal))


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else str(value)
