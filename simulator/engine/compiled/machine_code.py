"""A kernel's machine code as bytes, which later processes play without numba.

numba takes longer to import than most plays take. So a kernel is called through one function of C,
whose arguments are written into an array of 64-bit words: numbers as they are, of an array the
address and the shape, of a generator the addresses of its state and functions, which numpy
publishes. numba compiles this function; llvmlite, which is quick to import, makes machine code of
it and loads it. Each one has its symbols to itself: what it shares with the process are functions
of C, by name.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from simulator.engine.promises import UNSURE

WORD = ctypes.c_int64
NUMBERS = 7
"""What a kernel returns: four whole numbers and three floats."""
DTYPES = {"d": "float64", "l": "int64", "q": "int64"}
"""Of the arrays that a kernel takes."""
IN_C = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "floor", "fma", "fmod", "hypot",
    "lgamma", "log", "log10", "log1p", "log2", "memcpy", "memmove", "memset", "nearbyint", "pow",
    "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
}  # fmt: skip
"""Functions of C that machine code may call."""
POWER = "dpcompose_pow"
"""The name of C's pow in machine code. Compilers that know it replace pow(x, 2.0) by x * x, which
may be rounded otherwise."""

_NEVER = "define void @NRT_MemInfo_call_dtor(ptr %0) {\n  unreachable\n}"
_ENTRY = "i32 (ptr, ptr, ptr, ptr, ptr)"
"""How numba calls: the result, the error, and three arguments; returns 0 where none is raised."""


class NotStored(Exception):
    """A kernel that cannot be called or loaded in this way."""


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
    """Machine code of one kernel for arguments of one kind.

    Attributes
    ----------
    symbol : the name of its function.
    needs : the functions of C that it calls.
    machine : an object file of this machine.
    """

    symbol: str
    needs: tuple[str, ...]
    machine: bytes


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
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code.machine))
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


def of_c(name: str) -> None:
    """Let machine code call a function of C by its name, or by :data:`POWER`; raises NotStored."""
    import llvmlite.binding as llvm

    if llvm.address_of_symbol(name) is None:
        # the library of CPython; not a global variable, which no digest of a kernel would cover
        library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        function = getattr(library, "pow" if name == POWER else name, None)
        if function is None:
            raise NotStored(f"this machine has no {name}")
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def this_machine() -> Any:
    """Return llvmlite's description of this machine, for which it writes and loads code."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(),
        opt=3, reloc="default", codemodel="jitdefault", jit=True,
    )  # fmt: skip


def code_of(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Code:
    """The machine code of a kernel, compiled by numba, for arguments of such kinds.

    The kernel returns :data:`NUMBERS` numbers. Raises NotStored, and what numba raises.
    """
    import llvmlite.binding as llvm
    import numba
    from numba import types

    pointers = [types.CPointer(one) for one in (types.int64, types.float64, types.float64)]
    try:
        made = numba.cfunc(types.void(*pointers), error_model="numpy")(entry_of(kernel, arguments))
    except (numba.errors.NumbaError, AttributeError) as error:
        raise NotStored(f"numba {numba.__version__} cannot compile it: {error}") from error
    module = llvm.parse_assembly(made.inspect_llvm())
    # arrays and generators without an owner are never freed
    module.link_in(llvm.parse_assembly(_NEVER))
    symbol = made.native_name.removeprefix("cfunc.")
    functions = {each.name: each for each in module.functions if not each.is_declaration}
    if symbol not in functions or str(functions[symbol].global_value_type) != _ENTRY:
        raise NotStored(f"numba {numba.__version__} calls otherwise")
    for name, each in functions.items():
        if name != symbol:
            each.linkage = llvm.Linkage.internal
    target = this_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options()))
    needs = set()
    for each in module.functions:
        if each.is_declaration:
            of_compiler = each.name.startswith("llvm.")
            name = each.name.split(".")[1] if of_compiler else each.name
            if name in IN_C or name == POWER:
                needs.add(name)
            elif not of_compiler:
                raise NotStored(f"it calls {name}")
    shared = [each.name for each in module.global_variables if each.is_declaration]
    if shared:
        raise NotStored(f"it reads {shared[0]}")
    return Code(symbol, tuple(sorted(needs)), target.emit_object(module))


def entry_of(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """A function ``entry(words, floats, found)`` that calls the kernel with what the words say.

    ``floats`` has the address of ``words``.
    """
    import numba

    coins = numba.typeof(np.random.default_rng(0))
    names: dict[str, Any] = {
        "kernel": kernel, "carray": numba.carray, "coins": _generator_from_words(coins),
        **{f"{kind}_at": _pointer_from_word(kind) for kind in set(DTYPES.values())},
    }  # fmt: skip
    count = 0

    def word(letter: str = "w") -> str:
        nonlocal count
        count += 1
        return f"{letter}[{count - 1}]"

    def text(value: Any) -> str:
        nonlocal count
        if isinstance(value, np.ndarray):
            at = f"{DTYPES[value.dtype.char]}_at({word()})"
            return f"carray({at}, ({''.join(f'{word()}, ' for _ in range(value.ndim))}))"
        if isinstance(value, tuple):
            made = f"({''.join(f'{text(each)}, ' for each in value)})"
            if type(value) is tuple:
                return made
            names[type(value).__name__] = type(value)
            return f"{type(value).__name__}{made}"
        if isinstance(value, np.random.Generator):
            first, count = count, count + 6
            return f"coins(words, {first})"
        if isinstance(value, float):
            return word("f")
        return f"({word()} != 0)" if isinstance(value, bool | np.bool_) else word()

    call = ", ".join(map(text, arguments))
    lines = [
        "def entry(words, floats, found):",
        f"    w, f = carray(words, ({count},)), carray(floats, ({count},))",
        f"    ended = kernel({call})",
        *(f"    found[{place}] = ended[{place}]" for place in range(NUMBERS)),
    ]
    exec("\n".join(lines), names)
    entry: Callable[..., Any] = names["entry"]
    return entry


def _pointer_from_word(dtype: str) -> Any:
    """A compiled function that makes an address a pointer: ``carray`` takes no whole number."""
    import numba
    from numba.extending import intrinsic

    pointer = numba.types.CPointer(numba.from_dtype(np.dtype(dtype)))

    @intrinsic
    def pointer_at(context, address):  # type: ignore[no-untyped-def]
        def to_pointer(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.inttoptr(arguments[0], context.get_value_type(pointer))

        return pointer(numba.types.intp), to_pointer

    return pointer_at


def _generator_from_words(coins: Any) -> Any:
    """A compiled function of the words and a place, from which on six are a generator's addresses.

    The generator has no owner.
    """
    import numba
    from llvmlite import ir
    from numba.extending import intrinsic

    bits, place_type = numba.typeof(np.random.SFC64(0)), numba.types.int64
    fields = ("state_address", "state", "fnptr_next_uint64", "fnptr_next_uint32",
              "fnptr_next_double", "bit_generator")  # fmt: skip

    @intrinsic
    def generator(context, words, place):  # type: ignore[no-untyped-def]
        def assemble(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            words, place = arguments
            whole, part = context.make_helper(builder, coins), context.make_helper(builder, bits)
            for number, name in enumerate(fields):
                at = builder.add(place, ir.Constant(place.type, number))
                setattr(part, name, builder.load(builder.gep(words, [at])))
            part.parent = ir.Constant(part.parent.type, None)
            whole.bit_generator = part._getvalue()
            whole.meminfo = ir.Constant(whole.meminfo.type, None)
            whole.parent = ir.Constant(whole.parent.type, None)
            return whole._getvalue()

        return coins(numba.types.CPointer(place_type), place_type), assemble

    return generator
