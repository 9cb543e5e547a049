"""A program under a family and a relation: a rule over a menu of checked challenges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, Rule, check_mechanism
from simulator.adversaries.program.compiling import Step, step_of
from simulator.adversaries.program.fixed import interval, is_settled
from simulator.adversaries.program.forms import Machine, MenuEntry
from simulator.adversaries.program.machine import check_challenges, machine_of
from simulator.adversaries.program.reading import read
from simulator.data.databases import Database, Relation
from simulator.foundations.errors import NotApplicable
from simulator.mechanisms import Free, ScalarMechanism
from simulator.mechanisms.base import ScalarPair
from simulator.theory.guarantees.interface import Guarantee


@dataclass(frozen=True)
class ProgramRule(Rule):
    """The rule that a machine is; it lives in one process.

    ``state`` is the words of its first state. ``read_from`` is the rule whose step was read; None
    of a generator.
    """

    step: Step
    _: KW_ONLY
    machine: Machine
    read_from: Rule | None = None


def rule_of_generator(
    adversary: Callable[..., Any], family: Guarantee, relation: Relation
) -> ProgramRule:
    """The program of a generator adversary as a rule.

    Raises NotApplicable, with the reason: NotRead names the file, the line and the construct.
    """
    return rule_of(machine_of(read(adversary)), family, relation)


def program_of_rule(rule: Rule) -> ProgramRule:
    """The program of a rule's step, over the same menu; raises NotRead."""
    machine = machine_of(read(rule))
    step = step_of(machine)
    return ProgramRule(
        step, rule.menu, state=step.state, name=rule.name, machine=machine, read_from=rule
    )


def rule_of(machine: Machine, family: Guarantee, relation: Relation) -> ProgramRule:
    """The program as a rule; raises NotApplicable where its menu needs Python."""
    menu = tuple(challenge_of(entry, family, relation) for entry in machine.menu)
    check_challenges(machine)
    step = step_of(machine)
    return ProgramRule(step, menu, state=step.state, name=machine.name, machine=machine)


def challenge_of(entry: MenuEntry, family: Guarantee, relation: Relation) -> Challenge:
    """A challenge of the menu, of which every property holds in all rounds.

    A computed parameter may have any value that the family allows. Raises NotApplicable.
    """
    made: Any = entry.mechanism
    if isinstance(made, tuple):
        kind, fixed = made[0], dict(made[1])
        name = kind.parameter_name

        def make(parameter: Any) -> ScalarMechanism:
            mechanism: ScalarMechanism = kind(**fixed, **{name: parameter})
            return mechanism

        ends = interval(lambda x: check_mechanism(make(x), family, relation))
        if ends is None:
            raise NotApplicable(f"no {name} of {kind.__name__} is in the family {family}")
        mechanism, example = make(Free(*ends)), make(ends[1])
    else:
        mechanism = example = made
    databases = entry.database_0, entry.database_1
    if not all(type(each) is Database for each in databases):
        raise NotApplicable("a database is of a class of the user's")
    if not is_settled((*databases, example)):
        raise NotApplicable(f"{example!r} may differ from round to round")
    try:
        pair = example.pair(*databases, relation)
        answer = pair.sample(0, np.random.default_rng(0))
    except Exception as error:
        raise NotApplicable(f"{example!r} cannot be played: {error}") from None
    if type(pair) is not ScalarPair or type(answer) is not float:
        raise NotApplicable(f"{example!r} does not answer with a number")
    return Challenge(*databases, mechanism)
