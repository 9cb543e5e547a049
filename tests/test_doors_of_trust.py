"""Files, children and terminals are reached through one door each.

``foundations/files.py`` writes what this program makes, ``foundations/strangers.py`` reads what it
has not made, ``foundations/children.py`` starts processes, and ``doors/cli/output.py`` prints. Each
other call that does so is found on the syntax trees, and stands in a list here with its reason.
"""

import ast
from functools import cache

import pytest

from tests.helpers.sources import nodes, nodes_of_all

STORE = "blocks of a run: appended to a file that open_regular has opened, in a folder of ours"
KERNEL = "a file of the kernel"
OURS = "a file of this package"
PRIVATE = "within a folder that only its owner can write"

WRITERS = {
    "simulator/foundations/files.py": "the door",
    "simulator/runner/store/assembly.py": STORE,
    "simulator/runner/store/folder.py": STORE,
    "simulator/doors/cli/process.py": "the streams of the process",
    "simulator/auditing/conformance/worker.py": "the pipe to the parent",
    "simulator/analysis/plots/style.py": "savefig into memory",
    "simulator/runner/prompt_exit.py": "standard error, before an immediate exit",
}
READERS = {
    "simulator/foundations/files.py": "the door",
    "simulator/foundations/strangers.py": "the door",
    "simulator/foundations/private_folder.py": PRIVATE,
    "simulator/engine/compiled/stored_code.py": PRIVATE,
    "simulator/runner/store/assembly.py": STORE,
    "simulator/runner/store/folder.py": STORE,
    "simulator/runner/store/locking.py": STORE,
    "simulator/runner/store/log.py": "the heading of a record, whose length and form are checked",
    "simulator/runner/store/manifest.py": "canonical JSON that was made in the same line",
    "simulator/runner/memory.py": KERNEL,
    "simulator/runner/store/provenance.py": f"{KERNEL}, and the sources of this package",
    "simulator/doors/cli/__init__.py": OURS,
    "simulator/studies/report.py": OURS,
    "simulator/doors/cli/process.py": "the streams of the process",
    "simulator/auditing/conformance/worker.py": f"{KERNEL}, and the parent's requests",
    "simulator/auditing/conformance/client.py": "one line of a child, of bounded length",
    "simulator/worst/filters/certificate_format.py": "a checker that stands alone; given a text",
}
STARTERS = {
    "simulator/runner/lifetime.py": "ends joblib's workers",
    "simulator/foundations/children.py": "the door",
    "simulator/runner/pool.py": "within children.guarded",
    "simulator/runner/calls.py": "within children.guarded",
    "simulator/teaching/claims/running.py": "within children.guarded",
}
PRINTERS = {
    "simulator/doors/cli/output.py": "the door",
    "simulator/doors/cli/process.py": "the traceback of a fault of ours, made printable",
    "simulator/runner/progress.py": "a line above the bars, made printable",
    "simulator/auditing/conformance/worker.py": "the pipe to the parent",
}

WRITE_CALLS = {
    "os": {"rename", "replace", "link", "symlink", "open", "fdopen", "mkfifo", "write"},
    "shutil": {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move"},
    "tempfile": {"mkstemp", "NamedTemporaryFile"},
    "np": {"save", "savez", "savez_compressed", "savetxt"},
    "json": {"dump"},
    "pickle": {"dump"},
    "joblib": {"dump"},
}
READ_CALLS = {
    "np": {"load", "loadtxt", "genfromtxt", "fromfile", "memmap"},
    "json": {"load", "loads"},
    "tomllib": {"load", "loads"},
    "pickle": {"load", "loads"},
    "joblib": {"load"},
    "os": {"open", "fdopen"},
    "io": {"open"},
    "yaml": {"load", "safe_load"},
}
START_CALLS = {
    "subprocess": {"run", "Popen", "call", "check_call", "check_output", "getoutput"},
    "os": {"system", "popen", "fork", "execv", "execve", "execvp", "spawnv", "posix_spawn"},
    "multiprocessing": {"Process", "Pool", "get_context", "Manager"},
    "joblib": {"Parallel"},
}
PRINT_CALLS = {"click": {"echo", "secho"}, "sys.stderr": {"write"}, "sys.stdout": {"write"}}


def calls_of(among):
    """(module or receiver, name, call) of every call; a bare name has the module ''.

    ``from json import loads`` is the same as ``json.loads``.
    """
    origins = {}
    for node in among:
        if isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                origins[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                origins[alias.asname or alias.name] = (alias.name, None)
    for node in among:
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            module, name = origins.get(node.func.id, ("", node.func.id))
            yield module, name or node.func.id, node
        elif isinstance(node.func, ast.Attribute):
            receiver = dotted(node.func.value)
            module = ".".join(filter(None, origins.get(receiver, (receiver,))))
            yield {"numpy": "np"}.get(module, module), node.func.attr, node


def dotted(node):
    """The name of a receiver, as ``self.display.console``; "?" for what is no name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def mode_of(call, place):
    """The mode of a call of ``open``, as text; "?" where it is not a literal."""
    given = [*call.args[place : place + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    return (given[0].value if isinstance(given[0], ast.Constant) else "?") if given else "r"


def opens(module, name, call):
    """The mode in which a call opens a file by ``open(...)`` or ``path.open(...)``, or ""."""
    if module == "" and name == "open":
        return mode_of(call, 1)
    if name == "open" and module not in ("os", "", "webbrowser", "io"):
        literal = call.args and isinstance(call.args[0], ast.Constant)
        text = literal and isinstance(call.args[0].value, str)
        named = {k.arg for k in call.keywords} & {"mode", "encoding", "newline"}
        return mode_of(call, 0) if text or named or not call.args else ""
    return ""


def writes(module, name, call):
    if name in WRITE_CALLS.get(module, ()):
        return True
    if mode := opens(module, name, call):
        return not set(mode) <= set("rbt")
    if name in ("savefig", "touch", "tofile", "to_pickle", "rename", "symlink_to", "hardlink_to"):
        return True
    if name in ("write_text", "write_bytes"):
        return isinstance(call.func, ast.Attribute) and module != "simulator.foundations.files"
    # Path.replace takes one argument; that of a text takes two, dataclasses.replace keywords
    return (
        name == "replace"
        and isinstance(call.func, ast.Attribute)
        and len(call.args) == 1
        and not call.keywords
    )


def reads(module, name, call):
    if name in READ_CALLS.get(module, ()):
        return True
    if mode := opens(module, name, call):
        return "r" in mode or "?" in mode
    return name == "open_regular" or (
        name in ("read_text", "read_bytes")
        and isinstance(call.func, ast.Attribute)
        and module != "simulator.foundations.strangers"
    )


def starts(module, name, call):
    return name in START_CALLS.get(module, ()) or name in (
        "ProcessPoolExecutor",
        "get_reusable_executor",
    )


def prints(module, name, call):
    if module == "" and name == "print":
        return True
    return name in PRINT_CALLS.get(module, ()) or (name == "print" and "console" in module)


RULES = {
    "write": (writes, WRITERS),
    "read": (reads, READERS),
    "start": (starts, STARTERS),
    "print": (prints, PRINTERS),
}


def found_in(source, rule):
    """The calls in a source that a rule is about."""
    does = RULES[rule][0]
    return [
        ast.unparse(call)
        for module, name, call in calls_of(nodes(source))
        if does(module, name, call)
    ]


@cache
def calls_of_all():
    """{path: calls} of every module of the package."""
    return {f"simulator/{path}": list(calls_of(among)) for path, among in nodes_of_all().items()}


@pytest.mark.parametrize("rule", RULES)
def test_nothing_goes_round_a_door(rule):
    does, allowed = RULES[rule]
    found = {}
    for path, calls in calls_of_all().items():
        if theirs := [ast.unparse(each[2]) for each in calls if does(*each)]:
            found[path] = theirs
    assert {path: calls for path, calls in found.items() if path not in allowed} == {}
    assert set(allowed) <= set(found), "these need no exception any more"


SHIELDED = {
    "simulator/runner/pool.py": "parallel",
    "simulator/runner/calls.py": "_pool",
    "simulator/teaching/claims/running.py": "_in_workers",
}
"""The functions that make a pool of workers."""


@pytest.mark.parametrize("path", SHIELDED)
def test_a_pool_is_made_within_children_guarded(path):
    among = nodes_of_all()[path.removeprefix("simulator/")]
    named = [n for n in among if isinstance(n, ast.FunctionDef) and n.name == SHIELDED[path]]
    assert "guarded()" in ast.unparse(named[0])


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("write", "open(path, 'w')"),
        ("write", "open(path, mode=mode)"),
        ("write", "path.open('ab')"),
        ("write", "path.write_text('x', encoding='utf-8')"),
        ("write", "figure.savefig(path)"),
        ("write", "import numpy as np\nnp.savez(path, x=x)"),
        ("write", "from json import dump\ndump(value, file)"),
        ("write", "Path(temporary).replace(path)"),
        ("write", "import os\nos.replace(a, b)"),
        ("write", "import shutil\nshutil.copyfile(a, b)"),
        ("read", "open(path)"),
        ("read", "path.open(encoding='utf-8')"),
        ("read", "path.open()"),
        ("read", "Path(path).read_text()"),
        ("read", "import tomllib\ntomllib.loads(text)"),
        ("read", "from json import loads as parse\nparse(text)"),
        ("read", "import numpy\nnumpy.load(path)"),
        ("read", "open_regular(path, 'rb')"),
        ("start", "import subprocess\nsubprocess.run(['ls'])"),
        ("start", "from subprocess import Popen\nPopen(['ls'])"),
        ("start", "import joblib\njoblib.Parallel(2)"),
        ("start", "from concurrent.futures import ProcessPoolExecutor as P\nP(2)"),
        ("start", "import multiprocessing as m\nm.Process()"),
        ("print", "print(line, file=sys.stderr)"),
        ("print", "import click\nclick.echo(line)"),
        ("print", "sys.stderr.write(line)"),
        ("print", "self.display.console.print(line)"),
    ],
)
def test_what_goes_round_is_found(rule, source):
    assert len(found_in(source, rule)) == 1


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("write", "text.replace('a', 'b')"),
        ("write", "from dataclasses import replace\nreplace(point, x=1)"),
        ("write", "from simulator.foundations.files import write_text\nwrite_text(path, text)"),
        ("read", "from simulator.foundations import strangers\nstrangers.read_text(path)"),
        ("read", "self.table.open(ANNOUNCED)"),
        ("start", "search.run(0)"),
        ("print", "say(line)"),
    ],
)
def test_what_goes_through_is_not(rule, source):
    assert found_in(source, rule) == []
