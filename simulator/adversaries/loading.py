"""Load an adversary from its text: a library name, or ``path/to/file.py:function``.

A file with one adversary needs no ``:function``.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import inspect
import runpy
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from simulator.adversaries.contract import Rule
from simulator.adversaries.registry import make
from simulator.foundations.errors import DpcomposeError, InvalidInput, raised
from simulator.foundations.strangers import MOST_OF_A_PROGRAM, read_bytes
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

_MODULE = "dpcompose_adversary"
_USED = frozenset({"simulator", "numpy", "scipy", "numba", "joblib", "click", "rich", "matplotlib"})
"""Modules that this program uses: a file beside an adversary does not take their place."""
_run: set[str] = set()


def find_adversary(text: str, family: Guarantee, rounds: int) -> Callable[..., Any]:
    """Return the adversary that ``text`` names.

    Raises InvalidInput when the name, the file or the function is not there, or when the file
    raises.
    """
    if text.endswith(".py"):
        return _only_adversary(text)
    path, colon, function = text.rpartition(":")
    if not colon or not path.endswith(".py"):
        return make(text, family, rounds)
    return from_file(path, function, "adversary")


def game_of(
    adversary: Callable[..., Any] | str, family: Guarantee | str, rounds: int
) -> tuple[Callable[..., Any], Guarantee]:
    """Return the adversary and the family; either may be given as the command line's text."""
    chosen = parse_guarantee(family) if isinstance(family, str) else family
    if not isinstance(chosen, Guarantee):
        raise InvalidInput(
            f"the family must be a guarantee such as PureDP(0.2), not {family!r:.80}"
        )
    if isinstance(adversary, str):
        adversary = find_adversary(adversary, chosen, rounds)
    return adversary, chosen


def from_file(path: str, function: str, what: str) -> Callable[..., Any]:
    """Return the callable ``function`` of a user's file; ``what`` describes it in errors.

    The file is run as a module of its own, not as ``__main__``, and may import what lies beside it.
    Raises InvalidInput when the file or the function is not there, or when the file raises.
    """
    names = names_in(path, f"the {what} {function!r}")
    found = names.get(function)
    if not callable(found):
        choices = [name for name, value in names.items() if name[0] != "_" and _is_playable(value)]
        near = difflib.get_close_matches(function, choices, n=3, cutoff=0.3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise InvalidInput(f"{path} has no {what} {function!r}{hint}")
    return cast(Callable[..., Any], found)


def _only_adversary(path: str) -> Callable[..., Any]:
    """Return the only generator function or rule that a file defines; raises InvalidInput."""
    names = names_in(path, "an adversary")
    defined = {name: value for name, value in names.items() if name[0] != "_"}
    found = {name: value for name, value in defined.items() if _is_adversary(value)}
    if len(found) == 1:
        return cast(Callable[..., Any], next(iter(found.values())))
    if found:
        raise InvalidInput(
            f"{path} has {len(found)} adversaries: {', '.join(found)}; name one, as "
            f"{path}:{next(iter(found))}"
        )
    playable = [name for name, value in defined.items() if _is_playable(value)]
    hint = f"; its functions are {', '.join(playable)}" if playable else ""
    raise InvalidInput(f"{path} has no adversary, which is a generator function or a Rule{hint}")


def names_in(path: str, wanted: str) -> dict[str, Any]:
    """Run a user's file and return what it defines; ``wanted`` is for the error without a file."""
    if not Path(path).exists():
        raise InvalidInput(f"no file {path!r} to read {wanted} from")
    source = read_bytes(path, MOST_OF_A_PROGRAM)  # a regular file, of a size to compile
    folder = Path(path).resolve().parent
    _require_unambiguous(path, _shadowed(source, folder))
    if str(folder) not in sys.path:
        # to stay, for worker processes; last, so that nothing in it takes the place of a module
        # that this program is still to import, here or in a worker
        sys.path.append(str(folder))
    _run.add(path)
    try:
        return runpy.run_path(path, run_name=_MODULE)
    except DpcomposeError as error:
        raise type(error)(f"{path}: {error}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of a user
        raise InvalidInput(f"{path} raised {raised(error)}") from error


def _shadowed(source: bytes, folder: Path) -> dict[str, str]:
    """The modules that a file imports and that lie beside it, but are found elsewhere, and where.

    Those of the standard library and those that this program uses are left out: the installed one
    is meant, as it is in any process where it has been imported.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}  # the file is run, and its error is reported
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    found = {}
    for name in sorted(names - sys.stdlib_module_names - _USED):
        if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists():
            with contextlib.suppress(ImportError, ValueError):
                origin = getattr(find_spec(name), "origin", None)
                if origin and folder not in Path(origin).resolve().parents:
                    found[name] = origin
    return found


def _require_unambiguous(path: str, shadowed: Mapping[str, str]) -> None:
    """Raise InvalidInput where a file imports a name that lies beside it and is installed too."""
    for name, origin in shadowed.items():
        raise InvalidInput(
            f"{path} imports {name}, which is a file beside it and an installed module ({origin}); "
            "rename the file beside it"
        )


def any_file_was_run() -> bool:
    """Whether this process has loaded a user's file."""
    return bool(_run)


def _is_playable(value: Any) -> bool:
    """Whether a file defines this as something to play, rather than imports it."""
    if isinstance(value, type):
        return False
    written = value.step if isinstance(value, Rule) else value
    owner = written if hasattr(written, "__qualname__") else type(written)
    return callable(value) and getattr(owner, "__module__", None) == _MODULE


def _is_adversary(value: Any) -> bool:
    """Whether a file defines this as a rule or a generator function."""
    called = value if inspect.isroutine(value) else getattr(value, "__call__", None)  # noqa: B004
    return _is_playable(value) and (isinstance(value, Rule) or inspect.isgeneratorfunction(called))
