"""Whether an adversary's states are enumerated, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.adversaries.contract import Rule
from simulator.adversaries.program.rules import rule_of_generator
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.engine.enumerated.enumeration import automaton_of
from simulator.foundations.errors import NotApplicable
from simulator.foundations.wording import count_of
from simulator.theory.guarantees.interface import Guarantee


def enumerability(adversary: Callable[..., Any], family: Guarantee, rounds: int) -> str:
    """A line on the states of an adversary over some rounds, or on why they are not enumerated."""
    try:
        rule = adversary
        if not isinstance(rule, Rule):
            rule = rule_of_generator(adversary, family, ADD_REMOVE)
        found = automaton_of(Menu.of(rule, family, ADD_REMOVE), rounds)
    except NotApplicable as refused:
        return f"Its states are not enumerated: {refused}"
    nodes = max(leaves.nodes for leaves in found.segments)
    over = count_of(rounds, "round")
    return f"Its states are enumerated, at most {nodes} in one of {over}: for exact answers"
