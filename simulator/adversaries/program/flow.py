"""Facts of instructions that need no values: which variables are read later, which are few."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.adversaries.program.forms import Apply, End, Instruction, Jump, Pause


def following(instructions: Sequence[Instruction], at: int) -> tuple[int, ...]:
    """The instructions that may come next."""
    instruction = instructions[at]
    if isinstance(instruction, End):
        return ()
    if isinstance(instruction, Jump):
        return (at + 1, instruction.to) if instruction.test else (instruction.to,)
    return (at + 1,)


def reads(instruction: Instruction) -> tuple[str, ...]:
    """The variables that an instruction reads."""
    if isinstance(instruction, Apply):
        return instruction.operands
    if isinstance(instruction, Jump):
        return (instruction.test,) if instruction.test else ()
    return (instruction.challenge,) if isinstance(instruction, Pause) else ()


def live_before(instructions: Sequence[Instruction]) -> list[frozenset[str]]:
    """For each instruction, the variables that it or a later one reads."""
    live: list[frozenset[str]] = [frozenset()] * len(instructions)
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(instructions))):
            instruction = instructions[at]
            after = frozenset().union(*(live[next_] for next_ in following(instructions, at)))
            target = getattr(instruction, "target", None)
            found = (after - {target}) | set(reads(instruction))
            if found != live[at]:
                live[at], changed = found, True
    return live


def leaders(instructions: Sequence[Instruction]) -> frozenset[int]:
    """The instructions at which some jump ends."""
    return frozenset(each.to for each in instructions if isinstance(each, Jump))


def few_values(instructions: Sequence[Instruction]) -> frozenset[str]:
    """The variables that take a few values, all of them written down.

    Each of their assignments is a constant, or is computed from such variables. A state of the
    machine may know the value of such a variable; one that is computed from itself may take any.
    """
    assigned: dict[str, list[Apply]] = {}
    others = {each.target for each in instructions if isinstance(each, Pause)}
    for each in instructions:
        if isinstance(each, Apply):
            assigned.setdefault(each.target, []).append(each)
    few: set[str] = set()
    while True:
        found = {
            name
            for name, made in assigned.items()
            if name not in others and all(set(each.operands) <= few for each in made)
        }
        if found == few:
            return frozenset(few)
        few = found
