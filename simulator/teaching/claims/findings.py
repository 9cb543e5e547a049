"""Findings from numbers: the comparisons that several checks share."""

from __future__ import annotations

import math

from simulator.analysis.estimation import BoundOutcome, BoundVerdict
from simulator.teaching.claims.model import Finding, Method, Verdict

TIGHT = 1.01
"""A bound within one percent of what is attained counts as tight."""
ROUNDING = 1e-9
"""Relative rounding allowed of exact computations."""
NOTHING = 1e-15
"""Absolute rounding allowed where the claimed number is 0, as at epsilon = 0."""

_OF_OUTCOME = {
    BoundOutcome.HOLDS: Verdict.NOT_TIGHT,
    BoundOutcome.VIOLATED: Verdict.FAILS,
    BoundOutcome.UNDECIDED: Verdict.UNDECIDED,
}


def number(value: float) -> str:
    """The number as text for a table, with six significant digits."""
    return f"{value:.6g}"


def at_most(attained: float, claimed: float) -> bool:
    """Whether ``attained`` is at most ``claimed``, up to rounding."""
    return attained <= (NOTHING if claimed == 0.0 else claimed * (1.0 + ROUNDING) + 1e-300)


def upper_bound(
    attained: float,
    claimed: float,
    what: str,
    *,
    printed: str = "",
    right: str = "",
    note: str = "",
    method: Method = "exact",
    false_alarm: float | None = None,
) -> Finding:
    """Judge "``what`` is at most ``claimed``" by the largest value that is attained.

    Fails when ``attained`` exceeds ``claimed`` by more than rounding; holds when it comes within
    one percent; else holds, not tight. ``printed`` and ``right`` default to the two numbers.
    """
    verdict = Verdict.NOT_TIGHT
    if not at_most(attained, claimed):
        verdict = Verdict.FAILS
    elif claimed <= attained * TIGHT:
        verdict = Verdict.HOLDS
    return Finding(
        verdict,
        f"{what}: {number(attained)}, claimed at most {number(claimed)}",
        method=method,
        slack=claimed / attained if attained > 0.0 else math.inf,
        printed=printed or f"{what} at most {number(claimed)}",
        right=right or f"{what} reaches {number(attained)}",
        false_alarm=false_alarm,
        note=note,
        attained=attained,
        claimed=claimed,
    )


def equal(
    computed: float,
    claimed: float,
    what: str,
    *,
    relative: float = ROUNDING,
    printed: str = "",
    right: str = "",
    note: str = "",
) -> Finding:
    """Judge "``what`` is ``claimed``" by an exact computation, within ``relative`` rounding."""
    same = math.isclose(computed, claimed, rel_tol=relative, abs_tol=1e-300)
    return Finding(
        Verdict.HOLDS if same else Verdict.FAILS,
        f"{what}: {number(computed)}, claimed {number(claimed)}",
        printed=printed or f"{what} = {number(claimed)}",
        right=right or f"{what} = {number(computed)}",
        note=note,
        attained=computed,
        claimed=claimed,
    )


def decided(
    decision: BoundVerdict, what: str, *, printed: str = "", right: str = "", note: str = ""
) -> Finding:
    """The finding of a statistical test of ``what`` <= bound; undecided keeps its interval."""
    interval = f"[{number(decision.lower)}, {number(decision.upper)}]"
    return Finding(
        _OF_OUTCOME[decision.outcome],
        f"{what}: {number(decision.value)} in {interval}, claimed at most {number(decision.bound)}",
        method="simulation",
        slack=decision.slack,
        printed=printed or f"{what} at most {number(decision.bound)}",
        right=right or f"{what} at least {number(decision.lower)}",
        false_alarm=decision.false_alarm,
        note=note,
        attained=decision.value,
        claimed=decision.bound,
    )


def follows(given: float, needed: float, measured: str, *, printed: str, right: str) -> Finding:
    """Judge whether a cited theorem gives at most ``needed``, so that it supports a true claim."""
    supported = at_most(given, needed)
    return Finding(
        Verdict.HOLDS if supported else Verdict.DOES_NOT_FOLLOW,
        measured,
        printed=printed,
        right=right,
        attained=given,
        claimed=needed,
    )


def statement(
    true: bool, measured: str, *, printed: str = "", right: str = "", note: str = ""
) -> Finding:
    """Judge an exact yes-or-no statement."""
    return Finding(
        Verdict.HOLDS if true else Verdict.FAILS,
        measured,
        printed=printed or "as stated",
        right=right or measured,
        note=note,
    )
