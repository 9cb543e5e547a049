"""The function of C by which a kernel is called with words, as numba compiles it.

Arrays and generators are put together from their addresses, without an owner.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from simulator.engine.compiled.functions_of_c import IN_NUMPY, NotStored, of_c

NUMBERS = 7
"""What a kernel returns: four whole numbers and three floats."""
DTYPES = {"d": "float64", "l": "int64", "q": "int64"}
"""Of the arrays that a kernel takes."""


def entry_of(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """A function ``entry(words, floats, found)`` that calls the kernel with what the words say.

    ``floats`` has the address of ``words``.
    """
    names: dict[str, Any] = {"kernel": kernel, "coins": _generator_from_words()}
    count = 0

    def word(letter: str = "words") -> str:
        nonlocal count
        count += 1
        return f"{letter}[{count - 1}]"

    def text(value: Any) -> str:
        nonlocal count
        if isinstance(value, np.ndarray):
            kind, first, count = DTYPES[value.dtype.char], count, count + 1 + value.ndim
            name = f"{kind}_{value.ndim}"
            if name not in names:
                names[name] = _array_from_words(kind, value.ndim)
            return f"{name}(words, {first})"
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
            return word("floats")
        return f"({word()} != 0)" if isinstance(value, bool | np.bool_) else word()

    call = ", ".join(map(text, arguments))
    lines = [
        "def entry(words, floats, found):",
        f"    ended = kernel({call})",
        *(f"    found[{place}] = ended[{place}]" for place in range(NUMBERS)),
    ]
    exec("\n".join(lines), names)
    entry: Callable[..., Any] = names["entry"]
    return entry


def _array_from_words(dtype: str, ndim: int) -> Any:
    """A compiled function of the words and a place, where an address and a shape are an array's.

    The array has no owner.
    """
    import numba
    from llvmlite import ir
    from numba.extending import intrinsic

    array = numba.types.Array(numba.from_dtype(np.dtype(dtype)), ndim, "C")

    @intrinsic
    def array_at(context, words, place):  # type: ignore[no-untyped-def]
        def assemble(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            words, place = arguments
            made = context.make_helper(builder, array)
            address, *shape = (
                builder.load(builder.gep(words, [builder.add(place, ir.Constant(place.type, n))]))
                for n in range(1 + ndim)
            )
            size = ir.Constant(place.type, np.dtype(dtype).itemsize)
            lengths = strides = ir.Constant(ir.ArrayType(place.type, ndim), ir.Undefined)
            items = ir.Constant(place.type, 1)
            for axis in reversed(range(ndim)):
                lengths = builder.insert_value(lengths, shape[axis], axis)
                strides = builder.insert_value(strides, builder.mul(items, size), axis)
                items = builder.mul(items, shape[axis])
            made.shape, made.strides, made.nitems, made.itemsize = lengths, strides, items, size
            made.data = builder.inttoptr(address, made.data.type)
            made.meminfo = ir.Constant(made.meminfo.type, None)
            made.parent = ir.Constant(made.parent.type, None)
            return made._getvalue()

        return array(words, place), assemble

    return array_at


def _generator_from_words() -> Any:
    """A compiled function of the words and a place, from which on six are a generator's addresses.

    The generator has no owner.
    """
    import numba
    from llvmlite import ir
    from numba.extending import intrinsic

    coins, bits = generators_type(), numba.typeof(np.random.SFC64(0))
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

        return coins(words, place), assemble

    return generator


@cache
def generators_type() -> Any:
    """A type of generators whose commonest draws take little to compile; the rest are numba's."""
    import numba
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, models, overload_method, register_model

    bits_of = numba.typeof(np.random.SFC64(0))

    class LeanGenerator(types.NumPyRandomGeneratorType):
        def __init__(self) -> None:
            super().__init__("dpcompose_generator")
            self.name = "dpcompose_generator"

    @register_model(LeanGenerator)
    class LeanGeneratorModel(models.StructModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            owner = types.MemInfoPointer(types.voidptr)
            members = [("bit_generator", bits_of), ("meminfo", owner), ("parent", types.pyobject)]
            super().__init__(manager, kind, members)

    def draws(method: str, call: Callable[..., Any]) -> None:
        @intrinsic
        def drawn(context, coins):  # type: ignore[no-untyped-def]
            def draw(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
                whole = context.make_helper(builder, coins, arguments[0])
                bits = context.make_helper(builder, bits_of, whole.bit_generator)
                return call(builder, bits)

            return types.float64(coins), draw

        @overload_method(LeanGenerator, method)
        def of_coins(coins):  # type: ignore[no-untyped-def]
            def draw(coins):  # type: ignore[no-untyped-def]
                return drawn(coins)

            return draw

    def next_double(builder, bits):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(ir.DoubleType(), [bits.state.type])
        function = builder.inttoptr(bits.fnptr_next_double, kind.as_pointer())
        return builder.call(function, [bits.state])

    def by_numpy(name: str) -> Callable[..., Any]:
        def call(builder, bits):  # type: ignore[no-untyped-def]
            found = builder.module.globals.get(name)
            if found is None:
                kind = ir.FunctionType(ir.DoubleType(), [bits.bit_generator.type])
                found = ir.Function(builder.module, kind, name)
            return builder.call(found, [bits.bit_generator])

        return call

    draws("random", next_double)
    for name in IN_NUMPY:
        try:
            of_c(name)
        except NotStored:  # numpy hides it: numba compiles its own
            continue
        draws(name.removeprefix("random_"), by_numpy(name))
    return LeanGenerator()
