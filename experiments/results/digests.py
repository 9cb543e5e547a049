"""Digests of files: of their bytes, and of what they mean."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import tomllib
import warnings
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import decode_source
from pathlib import Path

from experiments.results.watch.sitecustomize import state

ROOT = Path(__file__).resolve().parents[2]
DIGITS = 12
TORN = (OSError, SyntaxError, ValueError, LookupError, TypeError, RecursionError, MemoryError)
"""What reading a file raises that a merge has left in conflict, say."""
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def digest(content: bytes) -> str:
    """The first hexadecimal digits of SHA-256."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


@cache
def of_bytes(name: str) -> str:
    """The digest of a file, by its name within the project; "" where there is none.

    Of a folder, whose name ends with a slash, it is that of the names of its files.
    """
    path = ROOT / name
    try:
        if name.endswith("/") and path.is_dir():
            return digest(os.fsencode(state(os.path.join(path, "")).replace("/", "\n")))
        return digest(path.read_bytes()) if path.is_file() else ""
    except OSError:
        return "unreadable"


@cache
def of_meaning(name: str) -> str:
    """The digest of what a file means; "" where there is none.

    Of Python it is the code without comments, docstrings and layout, of pyproject.toml the entry
    points and scripts, of every other file the bytes. Python's versions may write the same code
    otherwise, so this is compared only where the bytes differ.
    """
    path = ROOT / name
    with suppress(*TORN):
        if name.endswith((".py", ".pyi")):
            return digest(code(decode_source(path.read_bytes())).encode())
        if name == "pyproject.toml":
            project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
            points = {key: project[key] for key in ("entry-points", "scripts") if key in project}
            return digest(json.dumps(points, sort_keys=True).encode())
    return of_bytes(name)


@cache
def is_hidden(name: str) -> bool:
    """Whether Python reads another file in place of this one: a package, or an extension."""
    stem = str(ROOT / name.removesuffix(".py"))
    others = (os.path.join(stem, "__init__.py"), *(stem + each for each in EXTENSION_SUFFIXES))
    return name.endswith(".py") and any(map(os.path.isfile, others))


def forget() -> None:
    """Read every file anew: some may have changed."""
    of_bytes.cache_clear()
    of_meaning.cache_clear()
    is_hidden.cache_clear()


def code(source: str) -> str:
    """Python code without its comments, docstrings and layout."""
    with warnings.catch_warnings(action="ignore"):
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.unparse(tree)
