"""The modules of the package as texts and syntax trees, each parsed and walked once for all tests.

Nobody may change the nodes: other tests read them.
"""

import ast
from functools import cache
from pathlib import Path

import simulator

PACKAGE = Path(simulator.__file__).parent


@cache
def texts():
    """{path within the package: text} of every module."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def nodes(source):
    """The nodes of a source's syntax tree, the module first."""
    return tuple(ast.walk(ast.parse(source)))


def nodes_of_all():
    """{path within the package: nodes} of every module."""
    return {path: nodes(source) for path, source in texts().items()}


def modules():
    """{dotted name: source} of the whole package."""
    found = {}
    for path, source in texts().items():
        parts = ("simulator", *path.removesuffix(".py").split("/"))
        found[".".join(parts).removesuffix(".__init__")] = source
    return found


def is_package(name):
    """Whether a dotted name is that of a folder."""
    return (PACKAGE.parent / Path(*name.split(".")) / "__init__.py").exists()


def imports(name, among, known):
    """The dotted names that nodes of a module import; ``from a import b`` is a.b if a module."""
    found = set()
    for node in among:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name if is_package(name) else name.rpartition(".")[0]
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            inner = {f"{base}.{alias.name}" for alias in node.names}
            found |= (inner & known) or {base}
    return found - {name}
