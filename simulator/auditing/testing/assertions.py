"""Assertions on a mechanism, on an adaptive composition, and on an accountant."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from simulator.auditing import audits as auditing
from simulator.auditing.audits.audit import chosen_pairs
from simulator.auditing.audits.spending import LEAST, confidence
from simulator.auditing.testing.failure import (
    COMPOSITION,
    MECHANISM,
    explained,
    name_of,
    not_audited,
    with_replay,
)
from simulator.auditing.testing.replay import command
from simulator.foundations.errors import BrokenPromise, InvalidInput
from simulator.foundations.validation import false_alarm_of, finite
from simulator.theory.bounds.certified_epsilon import Rounds, certified_epsilon
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee


class PrivacyViolation(AssertionError):
    """A claim is violated, or nothing was audited that could violate it.

    ``result`` is the evidence: an AuditResult, a Bracket or an error.
    """

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def assert_private(
    mechanism: Callable[..., Any],
    input_0: Any = None,
    input_1: Any = None,
    *,
    claimed: Guarantee | str,
    samples: int = 1_000_000,
    false_alarm: float = 1e-6,
    seed: int = 0,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    length: int | None = None,
    replay: Sequence[str] = (),
    **options: Any,
) -> auditing.AuditResult:
    """Audit a black box; raise PrivacyViolation when its answers contradict the claim.

    Parameters
    ----------
    mechanism : ``mechanism(input, n, rng)``, ``mechanism(input, rng)`` or ``mechanism(input)``.
    input_0, input_1 : neighbouring inputs; or ``pairs``, or ``length``, as for the audit.
    claimed : a guarantee, or its text such as ``"approx:0.1,1e-6"``.
    samples : the most draws per input, over all pairs.
    false_alarm : the probability, in (0, 1), that a mechanism that keeps the claim fails, where
        ``samples`` suffice for one that breaks it to be found.
    seed : of the draws, >= 0.
    replay : commands that replay a failure, for its message.
    options : the other options of :func:`simulator.audit`, as ``time_limit``.

    Returns the audit's result, whose ``detectable`` is its power.

    Raises
    ------
    PrivacyViolation : the claim is broken, or nothing was audited: every answer is the same on
        both inputs, or ``samples`` are too few for so large a claim (the message says how many).
    InvalidInput : an invalid claim or argument.

    >>> from simulator.auditing import assert_private
    >>> def noisy(value, rng):
    ...     return value + rng.geometric(0.5) - rng.geometric(0.5)
    >>> assert_private(noisy, 0, 1, claimed="pure:1", samples=2000).violated
    False
    """
    __tracebackhide__ = True
    result = auditing.audit(
        mechanism, input_0, input_1, claimed=_guarantee("claimed", claimed), samples=samples,
        confidence=_confidence(false_alarm), seed=seed, pairs=pairs, length=length, **options,
    )  # fmt: skip
    if result.violated:
        searched = chosen_pairs(
            input_0, input_1, pairs, length, options.get("neighbours", "all coordinates")
        )
        again = command(mechanism, result, pairs=searched, length=length, options=options)
        message = explained(result, name_of(mechanism), MECHANISM, [*replay, *again])
        raise PrivacyViolation(message, result)
    if result.unaudited:
        raise PrivacyViolation(not_audited(result, name_of(mechanism), MECHANISM, replay), result)
    return result


def assert_composition(
    adversary: Callable[..., Any],
    family: Guarantee | str,
    rounds: int,
    *,
    claimed: Guarantee | str,
    samples: int = 100_000,
    false_alarm: float = 1e-6,
    seed: int = 0,
    replay: Sequence[str] = (),
    **options: Any,
) -> auditing.AuditResult:
    """Audit the views of an adaptive interaction; raise PrivacyViolation if they violate the claim.

    ``claimed`` is about all rounds together: the sum of what the rounds promise, what an accountant
    reports, or what a filter keeps. ``samples`` is the most trials per experiment; ``options`` are
    the others of :func:`simulator.auditing.audit_composition`, and everything else is as for
    :func:`assert_private`. It fails too if a declared loss exceeds the promised pure epsilon.

    >>> from simulator.auditing import assert_composition
    >>> result = assert_composition(
    ...     "fixed-worst-case", "pure:0.2", 3, claimed="pure:0.6", samples=200, jobs=1
    ... )
    >>> result.violated
    False
    """
    __tracebackhide__ = True
    try:
        result = auditing.audit_composition(
            adversary,
            _guarantee("family", family),
            rounds,
            claimed=_guarantee("claimed", claimed),
            samples=samples,
            confidence=_confidence(false_alarm),
            seed=seed,
            **options,
        )
    except BrokenPromise as error:
        raise PrivacyViolation(with_replay(str(error), replay), error) from None
    if result.violated:
        message = explained(result, name_of(adversary), COMPOSITION, replay)
        raise PrivacyViolation(message, result)
    if result.unaudited:
        raise PrivacyViolation(not_audited(result, name_of(adversary), COMPOSITION, replay), result)
    return result


def assert_accountant(
    claimed_epsilon: float, composition: Rounds, delta: float, *, loose: float | None = None
) -> Bracket:
    """Compare an accountant's epsilon with the certified one; nothing is drawn.

    Parameters
    ----------
    claimed_epsilon : what the accountant reports at ``delta``.
    composition : a Composition of guarantees, of which the worst adaptive adversary counts, or
        pairs (law or guarantee, rounds), as ``[(LaplaceLaw(0.1), 1000)]``.
    delta : in [0, 1).
    loose : fail as well where the claim is more than this factor, >= 1, above the truth.

    Returns the certified bracket of the truth. A claim between its ends passes.

    Raises
    ------
    PrivacyViolation : the claim is certainly below the truth, or looser than allowed, or is NaN or
        negative.
    InvalidInput : an invalid composition, delta or factor; a claim that is not a number.
    NotApplicable : there is no lower bound on the truth.

    >>> from simulator import PureDP
    >>> from simulator.auditing import assert_accountant
    >>> certified = assert_accountant(6.4, [(PureDP(0.1), 100)], delta=1e-6)
    >>> round(certified.upper, 4)
    4.7746
    """
    __tracebackhide__ = True
    if loose is not None and finite("loose", loose) < 1.0:
        raise InvalidInput(f"loose must be a factor of at least 1, not {loose!r}")
    try:
        if isinstance(claimed_epsilon, str):  # float() would read it
            raise TypeError
        claim = float(claimed_epsilon)
    except (TypeError, ValueError):
        raise InvalidInput(f"claimed_epsilon must be a number, not {claimed_epsilon!r}") from None
    truth = certified_epsilon(composition, delta)
    claims = f"the accountant claims epsilon = {claim:.10g} at delta = {delta:g}"
    known = f"the truth is in [{truth.lower:.10g}, {truth.upper:.10g}]"
    if math.isnan(claim) or claim < 0.0:
        raise PrivacyViolation(f"{claims}, which is no epsilon; {known}", truth)
    if claim < truth.lower:
        gap = truth.lower - claim
        share = f" ({gap / truth.lower:.2%})" if math.isfinite(gap) else ""
        raise PrivacyViolation(f"{claims}, too little by at least {gap:.4g}{share}; {known}", truth)
    if loose is not None and claim > loose * truth.upper:
        times = claim / truth.upper if truth.upper > 0.0 else math.inf
        raise PrivacyViolation(
            f"{claims}, at least {times:.4g} times the truth, and {loose:g} times is allowed; "
            f"{known}",
            truth,
        )
    return truth


def _guarantee(name: str, value: Guarantee | str) -> Guarantee:
    """A guarantee as it is, or read from its text."""
    if isinstance(value, str):
        return parse_guarantee(value)
    if not isinstance(value, Guarantee):
        raise InvalidInput(f"{name} must be a guarantee, as PureDP(0.1), not {value!r}")
    return value


def _confidence(false_alarm: float) -> float:
    alpha = false_alarm_of(false_alarm)
    if alpha < LEAST:
        raise InvalidInput(f"false_alarm must be at least {LEAST:.2g}, not {alpha:g}")
    return confidence(alpha)
