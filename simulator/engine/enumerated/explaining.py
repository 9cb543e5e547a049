"""Whether an adversary's states are enumerated, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.adversaries.contract import Rule
from simulator.adversaries.program.rules import rule_of_generator
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.engine.enumerated.enumeration import automaton_of, refusals_of
from simulator.foundations.errors import NotApplicable
from simulator.foundations.wording import count_of
from simulator.theory.guarantees.interface import Guarantee


def enumerability(adversary: Callable[..., Any], family: Guarantee, rounds: int) -> list[str]:
    """Lines on the states of an adversary over some rounds, or on why they are not enumerated."""
    menu = None
    try:
        rule = adversary
        if not isinstance(rule, Rule):
            rule = rule_of_generator(adversary, family, ADD_REMOVE)
        menu = Menu.of(rule, family, ADD_REMOVE)
        found = automaton_of(menu, rounds)
    except NotApplicable as refused:
        reasons = dict.fromkeys([str(refused), *(refusals_of(menu, rounds) if menu else ())])
        if len(reasons) == 1:
            return [f"Its states are not enumerated: {refused}"]
        return ["Its states are not enumerated:", *(f"  {reason}" for reason in reasons)]
    nodes = max(leaves.nodes for leaves in found.segments)
    over = count_of(rounds, "round")
    return [f"Its states are enumerated, at most {nodes} in one of {over}: for exact answers"]
