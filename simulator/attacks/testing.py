"""An assertion for test suites: no adversary that a search finds breaks a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.attacks.search import FoundAdversary, find_adversary
from simulator.foundations.validation import open_probability


class AdversaryFound(AssertionError):
    """A claim is broken; the message ends with the program that breaks it.

    ``result`` is the :class:`~simulator.attacks.search.FoundAdversary`.

    >>> from simulator.attacks import AdversaryFound, assert_no_adversary
    >>> try:
    ...     assert_no_adversary((0.9, 0.0), "randomized-response:0.5", rounds=2, seconds=2)
    ... except AdversaryFound as error:
    ...     print(error.result.verdict)
    broken
    """

    def __init__(self, message: str, result: FoundAdversary) -> None:
        super().__init__(message)
        self.result = result


def assert_no_adversary(
    claim: Any,
    menu: Any = None,
    *,
    seconds: float = 20.0,
    false_alarm: float = 1e-6,
    seed: int = 0,
    replay: Sequence[str] = (),
    **options: Any,
) -> FoundAdversary:
    """Search for an adversary; raise AdversaryFound where one gets more than is promised.

    Parameters
    ----------
    claim, menu, options : as for :func:`~simulator.attacks.search.find_adversary`.
    seconds : of processor time for the search, about.
    false_alarm : the probability, in (0, 1), that a claim that holds fails. It is spent on plays of
        the one program that was chosen; an exact value needs nothing of it.
    seed : of the draws, >= 0.
    replay : commands that replay a failure, for its message.

    Raises
    ------
    AdversaryFound : the claim is broken.
    InvalidInput, NotApplicable : as find_adversary.

    >>> from simulator.attacks import assert_no_adversary
    >>> assert_no_adversary((1.1, 0.0), "randomized-response:0.5", rounds=2, seconds=2).verdict
    'sound'
    """
    __tracebackhide__ = True
    alarm = open_probability("false_alarm", false_alarm)
    found = find_adversary(
        claim, menu, seconds=seconds, seed=seed, confidence=1.0 - alarm, **options
    )
    if found.verdict == "broken":
        raise AdversaryFound(_message(found, replay), found)
    return found


def _message(found: FoundAdversary, replay: Sequence[str]) -> str:
    program, measured = found.program, found.measured
    if found.shortest is not None and found.shortest_measured is not None:
        program, measured = found.shortest, found.shortest_measured
    lines = [
        f"{found.claim} is broken: an adversary gets delta {measured} where {found.claim.delta:g} "
        "is promised",
    ]
    if measured.delta.lower <= found.claim.delta:
        lines.append(
            f"the table of the exact search gets {found.searched}; this program a part of it"
        )
    lines += [f"replay: {command}" for command in replay]
    return "\n".join([*lines, "", program.source])
