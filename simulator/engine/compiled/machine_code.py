"""A kernel's machine code as bytes, which later processes play without numba.

numba takes longer to import than most plays take. So a kernel is called through one function of C,
whose arguments are written into an array of 64-bit words: numbers as they are, of an array the
address and the shape, of a generator the addresses of its state and functions, which numpy
publishes. numba compiles this function; llvmlite, which is quick to import, links it with the
assembly of a step, makes machine code of it and loads it. Each one has its symbols to itself: what
it shares with the process are functions of C, by name.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from simulator.adversaries.program.compiling import BEGIN, STEP
from simulator.engine.compiled.entry import DTYPES, NUMBERS, entry_of
from simulator.engine.compiled.functions_of_c import NotStored, is_of_c, of_c
from simulator.engine.promises import UNSURE

WORD = ctypes.c_int64

_DESTRUCTOR = "NRT_MemInfo_call_dtor"
_NEVER = f"define internal void @{_DESTRUCTOR}(ptr %0) {{\n  unreachable\n}}"
_ENTRY = "i32 (ptr, ptr, ptr, ptr, ptr)"
"""How numba calls: the result, the error, and three arguments; returns 0 where none is raised."""


def words_of(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int]]:
    """The kinds of some values, which fix their code, and their words.

    Raises NotStored for what has none, OverflowError for a number beyond 64 bits.
    """
    kinds: list[Any] = []
    words: list[int] = []
    for value in values:
        if isinstance(value, np.ndarray):
            if value.dtype.char not in DTYPES or not value.flags.c_contiguous:
                raise NotStored(f"an array of {value.dtype}, strides {value.strides}")
            kinds.append((DTYPES[value.dtype.char], value.ndim))
            words += (value.ctypes.data, *value.shape)
        elif isinstance(value, tuple):
            inner, found = words_of(value)
            kinds.append((type(value).__name__, inner))
            words += found
        elif isinstance(value, np.random.Generator):
            kinds.append("generator")
            words += _draws_of(value)
        elif isinstance(value, float):
            kinds.append("float")
            words += struct.unpack("q", struct.pack("d", value))
        elif isinstance(value, bool | np.bool_):
            kinds.append("bool")
            words.append(int(value))
        elif isinstance(value, int | np.integer):
            if not -(1 << 63) <= value < 1 << 63:
                raise OverflowError(f"{value} does not fit into 64 bits")
            kinds.append("int")
            words.append(int(value))
        else:
            raise NotStored(f"an argument of {type(value).__name__}")
    return tuple(kinds), words


def _draws_of(coins: np.random.Generator) -> list[int]:
    """The addresses of a generator's state and of its functions."""
    found = coins.bit_generator.ctypes
    functions = (found.next_uint64, found.next_uint32, found.next_double)
    return [
        found.state_address,
        found.state.value,
        *(ctypes.cast(each, ctypes.c_void_p).value or 0 for each in functions),
        found.bit_generator.value,
    ]


class Code(NamedTuple):
    """The code of one kernel for arguments of one kind.

    Attributes
    ----------
    symbol : the name of its function.
    needs : the functions of C that it calls.
    code : LLVM's bitcode, or an object file of this machine.
    foreign : what it calls of numba or reads of this process; then it lives in this process alone.
    """

    symbol: str
    needs: tuple[str, ...]
    code: bytes
    foreign: tuple[str, ...] = ()


class Loaded:
    """Machine code in this process, called with the words of the arguments.

    Raises NotStored where a function of C that it needs is missing.
    """

    def __init__(self, code: Code) -> None:
        import llvmlite.binding as llvm

        for name in code.needs:
            of_c(name)
        try:
            self.code = code
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), this_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code.code))
            self._engine.finalize_object()
            address = self._engine.get_function_address(code.symbol)
        except RuntimeError as error:
            raise NotStored(str(error)) from None
        if not address:
            raise NotStored(f"there is no {code.symbol}")
        self._function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 5)(address)

    def __call__(self, words: list[int]) -> tuple[Any, ...]:
        """What the kernel returns; (UNSURE,) where Python would raise."""
        given, found = (WORD * len(words))(*words), (ctypes.c_double * NUMBERS)()
        unread = (WORD * 4)()
        if self._function(unread, unread, given, given, found):
            return (UNSURE,)
        a, b, c, d, *floats = found
        return (int(a), int(b), int(c), int(d), *floats)


def this_machine() -> Any:
    """Return llvmlite's description of this machine, for which it writes and loads code."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(),
        opt=3, reloc="default", codemodel="jitdefault", jit=True,
    )  # fmt: skip


def compiled(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Code:
    """The bitcode of a kernel without its step, compiled by numba, for arguments of such kinds.

    The kernel returns :data:`NUMBERS` numbers. Raises NotStored, and what numba raises.
    """
    import llvmlite.binding as llvm
    import numba
    from numba import types

    pointers = [types.CPointer(one) for one in (types.int64, types.float64, types.float64)]
    for name in (BEGIN, STEP):  # numba loads what it compiles; nothing calls it there
        if llvm.address_of_symbol(name) is None:
            llvm.add_symbol(
                name, ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p).value
            )
    try:
        made = numba.cfunc(types.void(*pointers), error_model="numpy")(entry_of(kernel, arguments))
    except (numba.errors.NumbaError, AttributeError) as error:
        raise NotStored(f"numba {numba.__version__} cannot compile it: {error}") from error
    module = llvm.parse_assembly(made.inspect_llvm())
    symbol = made.native_name.removeprefix("cfunc.")
    functions = {each.name: each for each in module.functions if not each.is_declaration}
    if symbol not in functions or str(functions[symbol].global_value_type) != _ENTRY:
        raise NotStored(f"numba {numba.__version__} calls otherwise")
    for name, each in functions.items():
        if name != symbol:
            each.linkage = llvm.Linkage.internal
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, _pass_builder())
    needs, foreign = _needs(module)
    foreign += [each.name for each in module.global_variables if each.is_declaration]
    if not foreign:
        # arrays and generators without an owner are never freed
        module.link_in(llvm.parse_assembly(_NEVER))
    return Code(symbol, tuple(needs), module.as_bitcode(), tuple(foreign))


def linked(kernel: Code, step: str) -> Code:
    """The machine code of a kernel with a step, which is assembly or "" for a kernel without one.

    Raises NotStored.
    """
    import llvmlite.binding as llvm

    module = llvm.parse_bitcode(kernel.code)
    if step:
        part = llvm.parse_assembly(step)
        part.triple, part.data_layout = module.triple, module.data_layout
        module.link_in(part)
        for name in (BEGIN, STEP):
            module.get_function(name).linkage = llvm.Linkage.internal
        passes = _pass_builder()
        passes.getModulePassManager().run(module, passes)
    needs, foreign = _needs(module)
    needs = sorted({*needs, *foreign, *kernel.foreign})
    return Code(kernel.symbol, tuple(needs), this_machine().emit_object(module), kernel.foreign)


def _pass_builder() -> Any:
    """LLVM's passes for speed."""
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    return llvm.create_pass_builder(this_machine(), options)


def _needs(module: Any) -> tuple[list[str], list[str]]:
    """The functions of C that a module calls, and others but its step."""
    needs, foreign = [], []
    for each in module.functions:
        if each.is_declaration:
            of_compiler = each.name.startswith("llvm.")
            name = each.name.split(".")[1] if of_compiler else each.name
            if is_of_c(name):
                needs.append(name)
            elif not of_compiler and name not in (BEGIN, STEP, _DESTRUCTOR):
                foreign.append(name)
    return needs, foreign
