"""Digests of files: of their bytes, and of what they mean."""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIGITS = 12
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
    if name.endswith("/") and path.is_dir():
        names = sorted(each.name for each in path.iterdir())
        return digest("\n".join(each for each in names if each[0] not in "._").encode())
    return digest(path.read_bytes()) if path.is_file() else ""


@cache
def of_meaning(name: str) -> str:
    """The digest of what a file means; "" where there is none.

    Of Python it is the code without comments, docstrings and layout, of pyproject.toml the entry
    points, of every other file the bytes. Python's versions may write the same code otherwise, so
    this is compared only where the bytes differ.
    """
    path = ROOT / name
    if not path.is_file():
        return of_bytes(name)
    if path.suffix in (".py", ".pyi"):
        try:
            return digest(code(path.read_text(encoding="utf-8")).encode())
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # a merge's conflict, say
            return of_bytes(name)
    if name == "pyproject.toml":
        try:
            project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
            return digest(json.dumps(project["entry-points"], sort_keys=True).encode())
        except (ValueError, LookupError, TypeError, RecursionError):
            return of_bytes(name)
    return of_bytes(name)


@cache
def is_hidden(name: str) -> bool:
    """Whether Python reads another file in place of this one: a package of the same name."""
    return name.endswith(".py") and (ROOT / name[:-3] / "__init__.py").is_file()


def forget() -> None:
    """Read every file anew: some may have changed."""
    of_bytes.cache_clear()
    of_meaning.cache_clear()
    is_hidden.cache_clear()


def code(source: str) -> str:
    """Python code without its comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.unparse(tree)
