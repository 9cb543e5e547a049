"""The public names: each list stands once, as ``__all__`` of its module or its ``__init__.pyi``.

The modules below are public, everything else is not; see "The public surface" in CONTRIBUTING.md.
"""

import ast
import importlib
import inspect
import itertools
import subprocess
import sys
import warnings
from enum import Enum
from pathlib import Path
from types import FunctionType, SimpleNamespace

import pytest

import simulator
from experiments import stages
from simulator.foundations.attached import behind_door, furnish
from tests.helpers.public import NAMESPACES
from tests.helpers.rooms import SHELVES
from tests.helpers.sources import PACKAGE, nodes, texts


def constants_with_docstrings(module):
    """Names that a file of the module assigns, with a string right below that says what it is."""
    found = set()
    folder = Path(module.__file__).parent.relative_to(PACKAGE).as_posix().removeprefix(".")
    for path, text in texts().items():
        body = nodes(text)[0].body if path.startswith(folder) else ()
        for node, below in itertools.pairwise(body):
            if not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node]
            found |= {getattr(getattr(t, "target", t), "id", None) for t in targets}
    return found


@pytest.mark.parametrize("module", ["simulator", *NAMESPACES])
def test_every_public_name_can_be_imported_and_is_documented(module):
    home = importlib.import_module(module)
    constants = constants_with_docstrings(home)
    names = home.__all__
    assert len(set(names)) == len(names)
    for name in names:
        public = getattr(home, name)
        if not (inspect.isclass(public) or inspect.isroutine(public)):
            if name in constants:
                continue
            public = type(public)
            assert public.__module__.startswith("simulator."), f"write below {name} what it is"
        text = inspect.getdoc(public)
        assert text, name
        assert not text.startswith(f"{name}("), f"dataclass has made up what {name} is"


def around_the_door(home):
    """The public functions of a module, and classes made by a function, that have no door.

    The door names the argument whose kind is wrong; see simulator/foundations/attached.py.
    """
    found = []
    for name in home.__all__:
        public = getattr(home, name)
        if isinstance(public, type):
            is_protocol = getattr(public, "_is_protocol", False)  # nothing is made of it
            if not (issubclass(public, BaseException | Enum) or is_protocol):
                public = public.__init__
        elif inspect.isgeneratorfunction(public):  # callers may ask what it is
            continue
        if isinstance(public, FunctionType) and public.__code__ is not BEHIND.__code__:
            found.append(name)
    return found


BEHIND = behind_door(lambda: None, "an example")


@pytest.mark.parametrize("module", ["simulator", *NAMESPACES])
def test_no_public_name_goes_round_the_door_of_python(module):
    assert around_the_door(importlib.import_module(module)) == []


def test_a_public_name_that_goes_round_the_door_is_found():
    room = SimpleNamespace(__all__=["named", "wrapped", "Made"])
    room.named, room.wrapped = len_of, behind_door(len_of, "wrapped")
    room.Made = type("Made", (), {"__init__": lambda self: None})
    assert around_the_door(room) == ["named", "Made"]
    vars(room)["__name__"] = "tests.room"
    del room.__all__[2]
    furnish(vars(room))
    assert around_the_door(room) == []


def len_of(values):
    return len(values)


def test_the_root_has_the_names_of_a_first_program_and_the_namespaces():
    assert len(simulator.__all__) <= 16
    rooms = {name.split(".")[1] for name in NAMESPACES} - {shelf.name for shelf in SHELVES}
    assert set(dir(simulator)) == {*simulator.__all__, *rooms}
    stub = ast.parse(Path(simulator.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    (listed,) = (node for node in stub.body if isinstance(node, ast.Assign))
    assert set(ast.literal_eval(listed.value)) == {*dir(simulator), "__version__"}
    given = {}
    exec("from simulator import *", given)
    assert set(given) - {"__builtins__"} == set(simulator.__all__)


def test_editors_complete_the_names_of_stubs():
    """A stub hands out a name that it imports only as itself (PEP 484): editors complete those."""
    stubs = sorted(Path(simulator.__file__).parent.rglob("*.pyi"))
    nodes = [node for path in stubs for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    imported = [name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names]
    assert len(imported) > 300
    assert [name.name for name in imported if name.asname != name.name] == []


def test_no_name_warns_that_has_not_moved():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in dir(simulator):
            getattr(simulator, name)
    with pytest.raises(AttributeError, match="_absent"):
        assert simulator._absent is None


def test_importing_the_package_loads_nothing_heavy():
    loaded = subprocess.run(
        [sys.executable, "-c", "import simulator, sys; print(*sys.modules)"],
        cwd=stages.ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert "simulator" in loaded
    assert not {"numpy", "scipy", "numba", "matplotlib", "joblib", "click"} & set(loaded)
