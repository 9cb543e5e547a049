"""How much of the package a first program needs: lines of the modules that it loads, and can load.

*Loaded* are the modules of this package in ``sys.modules`` after the program. The *closure* of a
module are those that it imports when it is imported, and so on; imports within functions are left
out, as they wait until they are needed.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simulator
from tests.helpers.sources import imports, is_package, modules, nodes

ROOT = Path(simulator.__file__).parent.parent

COUNT = """
import sys
files = {
    module.__file__
    for name, module in list(sys.modules.items())
    if name.partition(".")[0] == "simulator" and getattr(module, "__file__", None)
}
print("lines", sum(len(open(file, encoding="utf-8").readlines()) for file in files))
"""

FIRST_PROGRAM = re.search(
    r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
).group(1)


def lines_loaded(program):
    """The lines of this package's modules that a program has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", program + COUNT], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split("lines ")[-1])


@pytest.mark.parametrize(
    ("program", "most"),
    [
        ("from simulator import PureDP\nPureDP\n", 4_000),
        ("from simulator import simulate\nsimulate\n", 20_000),
        (FIRST_PROGRAM, 20_000),
    ],
    ids=["PureDP", "simulate", "README"],
)
def test_a_first_program_loads_little(program, most):
    assert lines_loaded(program) <= most


def top_level(source):
    """The nodes outside of the bodies of functions, and of what only a type checker sees."""
    found, open_ = [], [nodes(source)[0]]
    while open_:
        node = open_.pop()
        found.append(node)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            continue
        open_ += ast.iter_child_nodes(node)
    return found


def closure(start, sources):
    """The modules that are imported with the module ``start``, their packages included."""
    known, found, open_ = set(sources), set(), [start]
    while open_:
        name = open_.pop()
        if name in found or name not in known:
            continue
        found.add(name)
        open_ += imports(name, top_level(sources[name]), known)
        open_.append(name.rpartition(".")[0])
    return found


@pytest.mark.parametrize(
    ("module", "most"),
    [
        ("simulator.theory.guarantees.pure", 3_000),
        ("simulator.analysis.simulate", 20_000),
    ],
)
def test_a_closure_is_small(module, most):
    sources = modules()
    found = closure(module, sources)
    assert sum(sources[name].count("\n") for name in found) <= most


def test_the_closure_sees_what_a_module_imports():
    sources = {
        "simulator": "",
        "simulator.errors": "import simulator.data\ndef late():\n    import simulator.theory\n",
        "simulator.data": "",
        "simulator.theory": "",
    }
    assert closure("simulator.errors", sources) == {
        "simulator",
        "simulator.errors",
        "simulator.data",
    }
    assert is_package("simulator.data")
