"""A room imports only from rooms below it, and no shelf; the theory stands alone; no rings.

The imports of every module are read off its syntax tree, wherever in the module they stand.
"""

import sys

import pytest

from tests.helpers.rooms import FLOORS, ROOMS, SHELVES, table
from tests.helpers.sources import PACKAGE, imports, is_package, modules, nodes

ON = {shelf.name: shelf.on for shelf in SHELVES}

ALONE = {"theory": {"foundations", "theory"}, "foundations": {"foundations"}}
"""Rooms that may import nothing else of the project."""

ONLY = {
    "joblib": ("simulator.runner.",),
    "click": ("simulator.doors.cli", *(f"simulator.{shelf.name}.commands" for shelf in SHELVES)),
    "pytest": ("simulator.auditing.pytest_plugin",),
    "numba": (
        "simulator.engine.compiled.compiling",
        "simulator.engine.compiled.entry",
        "simulator.engine.compiled.machine_code",
    ),
}
"""Third-party packages, and the beginnings of the names of modules that may import them."""

THEORY_PACKAGES = {"lazy_loader", "numpy", "scipy"}


def room_of(module):
    """The room of a dotted module name of the project."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def breaches(name, imported):
    """What a module's imports break."""
    room = room_of(name)
    if room not in FLOORS and room not in ON:
        return [f"{name} is in no room: give {room} a floor"]
    found = []
    for other in sorted(imported):
        top = other.partition(".")[0]
        if top != "simulator":
            if not name.startswith(ONLY.get(top, "")):
                found.append(f"{name} imports {top}, which belongs to {', '.join(ONLY[top])}")
            if room == "theory" and top not in THEORY_PACKAGES and not is_standard(top):
                found.append(f"{name} imports {top}; the theory has numpy and scipy only")
            continue
        below = room_of(other)
        if (name, other) == ("simulator", "simulator.foundations.attached"):
            continue  # the root hands out its names through the door of Python
        if room in ALONE and below not in ALONE[room]:
            found.append(f"{name} imports {other}, but {room} stands alone")
        elif below in ON:
            if room in FLOORS:
                found.append(f"{name} imports {other}, but the core imports no shelf")
            elif room != below and below not in ON[room]:
                found.append(f"{name} imports {other}, but {room} does not stand on {below}")
        elif room in FLOORS and FLOORS.get(below, 99) > FLOORS[room]:
            found.append(
                f"{name} (floor {FLOORS[room]}) imports {other} (floor {FLOORS.get(below)})"
            )
    return found


def is_standard(top):
    return top in sys.stdlib_module_names


def ring(graph):
    """One ring of modules that import each other, or nothing."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return None
        path.append(name)
        found = next(filter(None, map(visit, sorted(graph.get(name, ())))), None)
        path.pop()
        done.add(name)
        return found

    return next(filter(None, map(visit, sorted(graph))), None)


def rooms_graph(sources):
    """{room: other rooms that its modules import}."""
    known = set(sources)
    graph = {}
    for name, source in sources.items():
        others = {
            room_of(other)
            for other in imports(name, nodes(source), known)
            if other.partition(".")[0] == "simulator"
        }
        graph.setdefault(room_of(name), set()).update(others - {room_of(name)})
    return graph


def test_a_room_imports_only_from_rooms_below():
    sources = modules()
    known = set(sources)
    assert len(known) > 50
    found = [
        breach
        for name, source in sources.items()
        for breach in breaches(name, imports(name, nodes(source), known))
    ]
    assert found == []


def test_contributing_has_the_map_that_is_enforced():
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert table() in text, "put in what `python -m tests.helpers.rooms` prints"
    there = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert there == {each.name for each in (*ROOMS, *SHELVES)}


def test_no_two_rooms_import_each_other():
    assert ring(rooms_graph(modules())) is None


def test_no_two_modules_import_each_other():
    sources = modules()
    known = set(sources)
    graph = {name: imports(name, nodes(source), known) for name, source in sources.items()}
    within = {name: found & known for name, found in graph.items() if not is_package(name)}
    assert ring(within) is None


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        (
            "simulator.data.databases",
            "from simulator.mechanisms import Laplace",
            "simulator.data.databases (floor 2)",
        ),
        (
            "simulator.data.queries.sums",
            "from ...runner import simulate",
            "imports simulator.runner",
        ),
        (
            "simulator.data.queries",
            "from . import sums\nfrom ... import runner",
            "imports simulator.runner",
        ),
        ("simulator.mechanisms.laplace", "import simulator.adversaries.contract", "(floor 4)"),
        (
            "simulator.engine.compiled.plain_kernel",
            "def late():\n    from simulator.analysis.result import Result",
            "(floor 7)",
        ),
        (
            "simulator.theory.bounds.best",
            "from simulator.data.databases import Database",
            "stands alone",
        ),
        ("simulator.theory.inverse", "from simulator import seeds", "stands alone"),
        ("simulator.theory.inverse", "import numba", "numpy and scipy only"),
        ("simulator.engine.block", "from joblib import Parallel", "imports joblib"),
        ("simulator.attic", "import numpy", "give attic a floor"),
        ("simulator.engine.block", "import simulator.worst.search", "the core imports no shelf"),
        ("simulator.worst.search", "import simulator.teaching", "worst does not stand on teaching"),
    ],
)
def test_the_check_sees_what_is_wrong(name, line, found):
    known = set(modules())
    assert found in " ".join(breaches(name, imports(name, nodes(line), known)))


def test_the_check_sees_a_ring():
    ringed = {
        "simulator.runner.worker": "import simulator.engine.views.views",
        "simulator.engine.views.views": "import simulator.runner.worker",
    }
    assert ring(rooms_graph(ringed)) == ["engine", "runner"]
