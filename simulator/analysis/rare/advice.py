"""Which method answers a question that another one refuses, or answers by ends alone."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum

from simulator.analysis.estimation import Estimate
from simulator.analysis.rare.choosing import TABLE
from simulator.analysis.rare.drawing import plain_trials
from simulator.analysis.rare.question import Question
from simulator.analysis.rare.reading import RareChoice, RareEvent
from simulator.analysis.rare.rehearsal import Rehearsals
from simulator.engine.challenges import LossUnknown
from simulator.engine.sampling import Sampling
from simulator.foundations.errors import DpcomposeError, NotApplicable, Refusal

FEW_TRIALS = 1000
"""The most trials that show what a method gives."""


class Gives(IntEnum):
    """What a method gives: nothing, ends alone, or a value too."""

    NONE = 0
    ENDS = 1
    VALUE = 2


WORDS = {Gives.VALUE: "applies", Gives.ENDS: "gives ends alone"}


@contextlib.contextmanager
def advised(question: Question, method: str | Sampling) -> Iterator[None]:
    """Add to a refusal the method that gives more: ``auto``, or else splitting."""
    try:
        yield
    except LossUnknown:
        raise
    except (NotApplicable, Refusal) as error:
        for name in ("auto", "splitting"):
            if name != method and (answer := answer_of(name, question)):
                raise type(error)(f'{error}; the method "{name}" {WORDS[answer]}') from error
        raise


def answer_of(name: str, question: Question) -> Gives:
    """What a method gives, played with at most FEW_TRIALS trials."""
    s = question.specification
    fewer = replace(s, trials=min(s.trials, FEW_TRIALS))
    setting = replace(question.setting, out=None, progress=False)
    tried = replace(question, specification=fewer, setting=setting)
    try:
        way = TABLE[name](tried, Rehearsals.of(fewer, question.experiment))
        event = RareChoice(tried, way, 0, 0.0).play().read()
    except DpcomposeError:
        return Gives.NONE
    estimates = estimates_of(event)
    if not any(found.no_value for found in estimates):
        return Gives.VALUE
    known = any(found.lower > 0.0 or found.upper < most_of(found, event) for found in estimates)
    return Gives.ENDS if known else Gives.NONE


def with_advice(event: RareEvent, question: Question, method: str | Sampling) -> RareEvent:
    """The event, with the method that has a value added to the reason why it has none."""
    reasons = [found.no_value for found in estimates_of(event) if found.no_value]
    if not reasons:
        return event
    if method != "auto" and answer_of("auto", question) is Gives.VALUE:
        advice = 'the method "auto" has one'
    elif all("try" in reason for reason in reasons):
        return event
    elif needed := plain_trials(question.delta or event.tail.lower):
        advice = f'the method "plain" has one from {needed:.2g} trials on'
    else:
        advice = "a method has one only if the states of the adversary can be enumerated"
    assert event.play is not None
    return replace(event.play, advice=advice).event(event.epsilon, event.delta.confidence)


def estimates_of(event: RareEvent) -> list[Estimate]:
    """The estimates of an event."""
    return [each for each in (event.at_delta, event.tail, event.delta) if each is not None]


def most_of(found: Estimate, event: RareEvent) -> float:
    """The trivial upper end of an estimate."""
    return math.inf if found is event.at_delta else 1.0
