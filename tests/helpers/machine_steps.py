"""Steps of programs as machine code that Python calls, without a kernel."""

from __future__ import annotations

import ctypes
import struct

import llvmlite.binding as llvm
import numpy as np

from simulator.adversaries import Rule
from simulator.adversaries.program.compiling import BEGIN, STEP, STOPPED, Step, step_of
from simulator.adversaries.program.forms import Do, Machine, MenuEntry, Segment, Slot, Wait
from simulator.adversaries.program.operations import DRAWS, TYPED
from simulator.adversaries.program.rules import ProgramRule
from simulator.engine.compiled.functions_of_c import is_of_c, of_c
from simulator.engine.compiled.machine_code import this_machine


class Move(ctypes.Structure):
    """What a step returns."""

    _fields_ = (("move", ctypes.c_int64), ("parameter", ctypes.c_double))


class MachineStep:
    """A step as machine code; ``words`` is its state."""

    def __init__(self, step: Step, optimised: bool = True) -> None:
        module = llvm.parse_assembly(step.text)
        module.verify()
        target = this_machine()
        if optimised:
            builder = llvm.create_pass_builder(
                target, llvm.create_pipeline_tuning_options(speed_level=3)
            )
            builder.getModulePassManager().run(module, builder)
        for each in module.functions:
            name = each.name.split(".")[1] if each.name.startswith("llvm.") else each.name
            if each.is_declaration and is_of_c(name):
                of_c(name)
        self._engine = llvm.create_mcjit_compiler(module, target)
        self._engine.finalize_object()
        address = self._engine.get_function_address
        pointer = ctypes.c_void_p
        self._begin = ctypes.CFUNCTYPE(None, pointer, pointer)(address(BEGIN))
        self._step = ctypes.CFUNCTYPE(Move, pointer, ctypes.c_int64, ctypes.c_double, pointer)(
            address(STEP)
        )
        self._first = np.array(step.state, dtype=np.int64)
        self.words = np.zeros_like(self._first)
        self.begin()

    def begin(self) -> None:
        """Go back to the first state."""
        self._begin(self.words.ctypes.data, self._first.ctypes.data)

    def __call__(self, i: int, answer: float, coins: np.random.Generator) -> tuple[int, float]:
        """The move and the parameter of a round."""
        bits = coins.bit_generator.ctypes.bit_generator.value
        found = self._step(self.words.ctypes.data, i, answer, bits)
        return found.move, found.parameter


def by_code(program: ProgramRule) -> Rule:
    """A rule that kernels in Python play: its step calls the machine code of a program's step."""
    code = MachineStep(program.step)

    def step(state, i, answer, coins):
        if i == 0:
            code.begin()
        return state, *code(i, answer, coins)

    return Rule(step, program.menu, name=program.name)


def as_word(value: float) -> int:
    """A number as a word of a state."""
    if isinstance(value, float):
        return struct.unpack("q", struct.pack("d", value))[0]
    return int(value)


class Operation:
    """One operation of the closed form as machine code: ``(stops, result)`` of its operands."""

    def __init__(
        self, operation: str, base: str, table: tuple = (), optimised: bool = True
    ) -> None:
        draw = operation.partition("coins.")[2]
        typed = DRAWS[draw][2] if draw else TYPED[operation, base]
        given = {"lookup": "int"}.get(operation, base)
        count = sum(f"{{{n}}}" in typed.text + typed.before for n in range(2))
        self.result = typed.result.removeprefix("np_")
        operands = tuple(Slot(name, given) for name in "ab"[:count])
        found = Slot("r", typed.result)
        do = Do(found, operation, operands, base, table)
        rounds = [Wait(0, None, 1, None, operands), Wait(0, None, 1, None, (*operands, found))]
        segments = (Segment(end=rounds[0]), Segment(does=[do], end=rounds[1]))
        machine = Machine("operation", __file__, segments, (MenuEntry(None, None, None),))
        self._step = MachineStep(step_of(machine), optimised)
        self._coins = np.random.default_rng(0)
        self._count = count

    def __call__(self, *operands: float, coins: np.random.Generator | None = None) -> tuple:
        """Whether it stops, and its result."""
        words = [as_word(each) for each in operands[: self._count]]
        self._step.words[: 1 + len(words)] = [1, *words]
        move, _ = self._step(0, 0.0, coins or self._coins)
        word = self._step.words[1 + self._count]
        if self.result == "float":
            return move == STOPPED, float(word.view(np.float64))
        return move == STOPPED, (bool if self.result == "bool" else int)(word)
