"""What a recorded pipeline showed: findings, losses, and the mechanism to blame."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from simulator.foundations.wording import count_of
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.interface import Guarantee

KEPT, VIOLATED, UNDECIDED = "kept", "violated", "undecided"
REUSED = "noise reused"


@dataclass(frozen=True)
class PipelineFinding:
    """One breach.

    Attributes
    ----------
    kind : ``control flow``, ``argument``, ``output``, ``sensitivity``, ``noise reused``, ``cost``.
    certain : whether it is proven by this pair of runs; if not, ``text`` says what is missing.
    text : what was found, one line.
    call : the number of the call to blame, from 0, or None.
    name, where : of that call: the function, and ``FILE:LINE``.
    """

    kind: str
    certain: bool
    text: str
    _: KW_ONLY
    call: int | None = None
    name: str = ""
    where: str = ""

    def __str__(self) -> str:
        at = f" [call {self.call}: {self.name} at {self.where}]" if self.call is not None else ""
        return f"{self.kind}: {self.text}{at}"


@dataclass(frozen=True)
class RecordedCall:
    """One call of a mechanism, on both databases.

    ``distance`` is that of its inputs (for noise: in scales of the noise), ``cost`` its epsilon
    alone where one is known, ``loss`` the privacy loss at the answer.
    """

    number: int
    name: str
    where: str
    _: KW_ONLY
    distance: float
    cost: str
    sensitivity: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class PipelineReport:
    """The result of :func:`simulator.auditing.record`.

    Attributes
    ----------
    databases : both.
    claimed : the guarantee that was tested, or None.
    calls : every call whose input moved, in order.
    findings : the certain ones first.
    total : how many calls the run made.
    loss : the privacy loss of the run at its answers, or None where a density is not known.
    epsilon : certified ends of the composed epsilon of this pair at ``delta``, or None.
    delta : at which ``epsilon`` holds.
    seed : of the runs that found this; :func:`simulator.auditing.record` with it and the databases
        finds it again.
    notes : what limits the result.

    >>> from simulator.auditing import mechanism, record
    >>> @mechanism("total", guarantee="pure:0.1", sensitivity=1)
    ... def noisy(total, rng):
    ...     return total + rng.laplace(scale=10.0)
    >>> def pipeline(values, rng):
    ...     return noisy(len(values), rng)
    >>> report = record(pipeline, [1, 1, 0], [1, 1], claimed="pure:0.1")
    >>> report.verdict, len(report.calls), round(report.epsilon.upper, 4)
    ('kept', 1, 0.1)
    """

    _: KW_ONLY
    databases: tuple[Any, Any]
    claimed: Guarantee | None
    calls: tuple[RecordedCall, ...]
    findings: tuple[PipelineFinding, ...]
    total: int
    loss: float | None = None
    epsilon: Bracket | None = None
    delta: float = 0.0
    seed: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """``violated``, ``undecided`` (something differs, and nothing is proven) or ``kept``."""
        if any(each.certain for each in self.findings):
            return VIOLATED
        return UNDECIDED if self.findings else KEPT

    @property
    def violated(self) -> bool:
        """Whether a finding is certain."""
        return self.verdict == VIOLATED

    @property
    def blamed(self) -> PipelineFinding | None:
        """The first finding, certain ones before others."""
        return self.findings[0] if self.findings else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "verdict": self.verdict,
            "claimed": None if self.claimed is None else str(self.claimed),
            "databases": [repr(each) for each in self.databases],
            "calls": [vars(each) for each in self.calls],
            "total_calls": self.total,
            "findings": [vars(each) for each in self.findings],
            "loss": self.loss,
            "seed": self.seed,
            "delta": self.delta,
            "epsilon": None if self.epsilon is None else [self.epsilon.lower, self.epsilon.upper],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        claim = f" (claimed {self.claimed})" if self.claimed is not None else ""
        lines = [f"{self.verdict}{claim}: {count_of(self.total, 'call')} recorded"]
        for place, database in enumerate(self.databases):
            lines.append(f"  database {place}   {database!r:.200}")
        for finding in self.findings:
            lines.append(f"  {'' if finding.certain else 'undecided: '}{finding}")
        for each in self.calls[:12]:
            limit = "" if each.sensitivity is None else f" (declared {each.sensitivity:.6g})"
            loss = "" if each.loss is None else f", loss {each.loss:.6g}"
            lines.append(
                f"  call {each.number:<4} {each.name} at {each.where}: inputs "
                f"{each.distance:.6g} apart{limit}, {each.cost}{loss}"
            )
        if len(self.calls) > 12:
            lines.append(f"  ... and {count_of(len(self.calls) - 12, 'more call', 'more calls')}")
        if self.epsilon is not None:
            lines.append(
                f"  composed     epsilon in [{self.epsilon.lower:.8g}, {self.epsilon.upper:.8g}] "
                f"at delta = {self.delta:g}, for this pair"
            )
        if self.loss is not None:
            lines.append(f"  this run     privacy loss {self.loss:.6g}")
        lines += [f"  note         {note}" for note in self.notes]
        return "\n".join(lines)
