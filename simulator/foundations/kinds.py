"""Which argument of a call that failed is not of the kind that the signature states.

Read at an error alone, see :mod:`simulator.foundations.attached`: no kind is checked that did no
harm.
"""

from __future__ import annotations

import dataclasses
import inspect
import numbers
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, Sized
from os import PathLike
from types import BuiltinFunctionType, FunctionType, GenericAlias, UnionType
from typing import Any

from simulator.foundations.errors import InvalidInput, raised, users_place

_ITEMS = 100
"""How many items of a list are looked at."""
_LISTS = frozenset({
    "Sequence", "Iterable", "Iterator", "Collection", "list", "tuple", "set", "frozenset", "Set",
})  # fmt: skip
_ARRAYS = frozenset({"ArrayLike", "NDArray", "ndarray", "Floats"})
_WORDS = {
    "float": "a number", "int": "a whole number", "str": "text", "bool": "True or False",
    "Mapping": "a mapping", "dict": "a mapping", "Callable": "a function", "PathLike": "a path",
    **dict.fromkeys(_LISTS, "a list"), **dict.fromkeys(_ARRAYS, "an array of numbers"),
}  # fmt: skip


def raise_named(
    name: str,
    function: FunctionType,
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    error: Exception,
) -> None:
    """Raise InvalidInput for the argument of a call that explains its error, if there is one."""
    if isinstance(error, AssertionError | OSError | ImportError | StopIteration):
        return
    try:
        bound = inspect.signature(function).bind(*arguments, **named).arguments
    except TypeError:  # Python's own message names what is missing
        return
    for parameter, value, annotation in _each(function, bound):
        culprit = getattr(error, "obj", named) is value  # an AttributeError knows its object
        if culprit or not fits(value, annotation, function):
            raise InvalidInput(
                f"{name}: {parameter} must be {_in_words(annotation)}, not {_shown(value)}"
            ) from error
        if isinstance(value, int) and value.bit_length() > 63:  # numpy takes it for an object
            raise InvalidInput(f"{name}: {parameter} must be within 64 bits") from error
    for field, value, annotation, module in _fields(arguments, bound):
        if not fits(value, annotation, module):
            raise InvalidInput(
                f"{name}: its {field} must be {_in_words(annotation)}, not {_shown(value)}"
            ) from error
    if isinstance(error, IndexError | ValueError) and not users_place(error):
        if "broadcast" in str(error) or "indices for array" in str(error):
            raise InvalidInput(f"{name}: arrays of these shapes do not fit ({error})") from error
        for parameter, value, _ in _each(function, bound):
            if "truth value of an array" in str(error) and bool(getattr(value, "shape", False)):
                raise InvalidInput(f"{name}: {parameter} must not be an array") from error
            if isinstance(value, Sized) and not len(value):
                raise InvalidInput(f"{name}: {parameter} must not be empty") from error
            if "index out of range" in str(error) and isinstance(value, list | tuple):
                raise InvalidInput(f"{name}: {parameter} has too few items") from error
    if isinstance(error, TypeError) and not users_place(error):
        for parameter, value, _ in _each(function, bound):
            if isinstance(value, BuiltinFunctionType | type):  # it has no line of its own
                raise InvalidInput(f"{name}: {parameter} cannot be called so ({error})") from error
    if isinstance(error, OverflowError | ZeroDivisionError | FloatingPointError) or (
        isinstance(error, ValueError) and str(error) == "math domain error"
    ):
        if users_place(error):  # it is a function of theirs that was called
            raise InvalidInput(f"{name}: your code raised {raised(error)}") from error
        raise InvalidInput(
            f"{name}: a number is outside the range of floats ({error}); give less extreme ones"
        ) from error


def _each(function: FunctionType, bound: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """The name, the value and the annotation of each argument; of ``*values`` of each."""
    parameters = inspect.signature(function).parameters
    for name, value in bound.items():
        parameter = parameters[name]
        text = parameter.annotation if isinstance(parameter.annotation, str) else "Any"
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        for each in value if parameter.kind is parameter.VAR_POSITIONAL else (value,):
            yield name, each, text


def _fields(
    arguments: Sequence[Any], bound: Mapping[str, Any]
) -> Iterator[tuple[str, Any, str, dict[str, Any]]]:
    """Name, value, annotation, and the names of the module, of each field of a method's object."""
    made = bound.get("self")
    if not dataclasses.is_dataclass(made) or not arguments:
        return
    names = vars(sys.modules[type(made).__module__])
    for field in dataclasses.fields(made):
        if isinstance(field.type, str) and hasattr(made, field.name):
            yield field.name, getattr(made, field.name), field.type, names


def fits(value: Any, annotation: str, names: FunctionType | dict[str, Any]) -> bool:
    """Whether a value may be of the kind that an annotation states, so far as that can be seen.

    ``names`` are those of the module of the annotation, or a function in it.
    """
    if isinstance(names, FunctionType):
        names = names.__globals__
    return any(_fits(value, *_parts(each), names) for each in _split(annotation, "|"))


def _fits(value: Any, kind: str, inner: list[str], names: dict[str, Any]) -> bool:
    if kind == "None":
        return value is None
    if kind == "float":
        return isinstance(value, numbers.Real) or _is_number(value)
    if kind in ("int", "bool"):
        try:
            operator.index(value)
        except TypeError:
            return kind == "bool" and type(value).__name__ == "bool_"
        return True
    if kind in ("str", "bytes"):
        return isinstance(value, str if kind == "str" else bytes)
    if kind == "Callable":
        return callable(value)
    if kind in ("Mapping", "dict"):
        return isinstance(value, Mapping)
    if kind in _ARRAYS:
        return _is_array(value) and (kind == "ArrayLike" or bool(getattr(value, "shape", ())))
    if kind in _LISTS:
        return _is_list_of(value, kind, inner, names)
    found = names.get(kind)
    if isinstance(found, UnionType | GenericAlias) or type(found).__module__ == "typing":
        text = str(found)
        return "~" in text or kind in text or fits(value, text, names)
    if found is None and kind[:1].isupper() and len(kind) == 1:
        return True  # a variable that stands for any type
    if kind == "PathLike":
        return isinstance(value, PathLike)
    if kind in ("Any", "object", "Literal", "type", "Self"):
        return kind != "type" or isinstance(value, type)
    bases = {each.__name__ for each in type(value).__mro__}
    # a user's class may have what a protocol states; of others it would be one of its bases
    stranger = type(value).__module__.partition(".")[0] not in ("simulator", "numpy", "builtins")
    return kind in bases or (stranger and getattr(found, "_is_protocol", False))


def _is_list_of(value: Any, kind: str, inner: list[str], names: dict[str, Any]) -> bool:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    unordered = isinstance(value, Set | Mapping)
    if unordered and kind not in ("Set", "set", "frozenset", "Iterable", "Collection"):
        return False
    if isinstance(value, Iterator):  # its items are spent
        return kind in ("Iterable", "Iterator")
    if not hasattr(value, "__len__") and kind != "Iterable":
        return False
    try:
        items = [item for item, _ in zip(value, range(_ITEMS))]
    except TypeError:  # an array without a dimension
        return False
    if kind == "tuple" and inner and inner[-1] != "...":
        return len(items) == len(inner) and all(
            fits(item, text, names) for item, text in zip(items, inner)
        )
    return not inner or all(fits(item, inner[0], names) for item in items)


def _is_number(value: Any) -> bool:
    if isinstance(value, str | bytes) or getattr(value, "dtype", "") == "O":
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_array(value: Any) -> bool:
    """Whether a value is an array of numbers, or makes one."""
    import numpy as np  # slow to import; it is there by then

    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError, OverflowError):
        return False


def _parts(annotation: str) -> tuple[str, list[str]]:
    """The name of a kind without its modules, and what stands in its brackets."""
    name, _, rest = annotation.strip().strip("'\"").partition("[")
    return name.rpartition(".")[2].strip(), _split(rest.strip().removesuffix("]"), ",")


def _split(text: str, at: str) -> list[str]:
    """The parts of an annotation between signs that stand in no brackets."""
    depth, parts = 0, [""]
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if sign == at and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except Exception:  # what was made by hand may not print
        return f"a {type(value).__name__}"


def _in_words(annotation: str) -> str:
    kinds = [_parts(each)[0] for each in _split(annotation, "|")]
    words = [_WORDS.get(kind, kind if kind == "None" else f"a {kind}") for kind in kinds]
    return re.sub(r"\ba (?=[AEIOU])", "an ", " or ".join(dict.fromkeys(words)))
