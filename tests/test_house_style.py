"""What every module of the package keeps to, read off its text and its syntax tree.

No function takes more than five positional arguments, no class name is defined twice, no module has
more than 400 lines or uses a private name of another library, and some words are not used.
"""

import ast
import re
from collections import Counter

import pytest

from tests.helpers.quick import QUICK, files
from tests.helpers.rooms import ROOMS
from tests.helpers.sources import PACKAGE, nodes, nodes_of_all, texts

MOST = 5
KERNELS = {
    "engine/enumerated/covering.py": {"kernel", "draw", "no_draw"},
}
"""Functions that numba compiles and calls by position."""


def is_named(node, name):
    return ast.unparse(node).rpartition(".")[2] == name


def positional_of_function(node, in_class):
    """How many arguments a call may give by position, the instance or class not counted."""
    given = len(node.args.posonlyargs) + len(node.args.args)
    static = any(is_named(decorator, "staticmethod") for decorator in node.decorator_list)
    return given - (in_class and not static)


def positional_of_dataclass(node):
    """How many fields the constructor of a dataclass takes by position; 0 of any other class."""
    made = [d for d in node.decorator_list if is_named(getattr(d, "func", d), "dataclass")]
    keywords = [word for d in made for word in getattr(d, "keywords", ())]
    if not made or any(k.arg == "kw_only" and k.value.value for k in keywords):
        return 0
    count = 0
    for field in (each for each in node.body if isinstance(each, ast.AnnAssign)):
        if is_named(field.annotation, "KW_ONLY"):
            break
        value = ast.unparse(field.value) if field.value else ""
        hidden = "kw_only=True" in value or "init=False" in value
        count += not hidden and "ClassVar" not in ast.unparse(field.annotation)
    return count


def too_many(among, excepted=frozenset()):
    """The functions and dataclasses that take more than MOST positional arguments, with counts."""
    classes = [node for node in among if isinstance(node, ast.ClassDef)]
    in_class = {id(node) for each in classes for node in each.body}
    found = [(node.name, positional_of_dataclass(node)) for node in classes]
    found += [
        (node.name, positional_of_function(node, id(node) in in_class))
        for node in among
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(name, count) for name, count in found if count > MOST and name not in excepted]


def test_nothing_takes_more_than_five_positional_arguments():
    found = {
        path: too_many(among, KERNELS.get(path, frozenset()))
        for path, among in nodes_of_all().items()
    }
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}


def test_no_class_name_is_defined_twice():
    names = Counter(
        node.name
        for among in nodes_of_all().values()
        for node in among
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in names.items() if times > 1] == []


LINES = 400


def test_no_module_has_more_than_400_lines():
    lengths = {path: len(text.splitlines()) for path, text in texts().items()}
    assert {path: length for path, length in lengths.items() if length > LINES} == {}


PRIVATE = ("core", "externals")
"""Packages within numba and joblib that are not public, though no underscore says so."""

DOCUMENTED = {"os._exit", "sys._getframe"}
"""Names of the standard library's manual that begin with an underscore."""

GATED = {"runner/lifetime.py"}
"""Modules that may use private names, behind a look at the version and with a public fallback."""


def is_private(name):
    return name in PRIVATE or (name.startswith("_") and not name.endswith("__"))


def private_names(among):
    """The private names of other libraries that a module imports, or reads off what it imports."""
    ours, found = {}, []
    for node in among:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                ours[alias.asname or top] = alias.name if alias.asname else top
                found.append(alias.name)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                ours[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                found.append(f"{node.module}.{alias.name}")
    for node in among:
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            top, _, rest = ast.unparse(node).partition(".")
            if top in ours and re.fullmatch(r"[\w.]+", rest):
                found.append(f"{ours[top]}.{rest}")
    return {
        name
        for name in found
        if not name.startswith(("simulator", "__future__"))
        and name not in DOCUMENTED
        and any(map(is_private, name.split(".")[1:]))
    }


def test_no_private_name_of_another_library_is_used():
    found = {path: private_names(among) for path, among in nodes_of_all().items()}
    assert {path: found[path] for path in found if found[path] and path not in GATED} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from numba.core import types", {"numba.core.types"}),
        ("import numpy as np\nnp.random._pickle", {"numpy.random._pickle"}),
        ("import joblib\njoblib.externals", {"joblib.externals"}),
        ("import sys\nsys._current_frames()", {"sys._current_frames"}),
        ("from simulator.runner import _tasks\nimport numba\nnumba.__version__", set()),
    ],
)
def test_private_names_are_found(source, found):
    assert private_names(nodes(source)) == found


BANNED = re.compile(
    r"(?<![a-z])(asked|told|foretells?|foretold|lest|dearer|anybody(?:'s)?|for ever|of the house"
    r"|by (?:its|his) word|of no use)(?![a-z])",
    re.IGNORECASE,
)
"""Idioms, and words that treat code as a person: not in names, comments, docstrings or messages."""


def banned_words():
    """How often each banned word stands in the package."""
    return Counter(word.lower() for text in texts().values() for word in BANNED.findall(text))


STILL_USED = {"of no use": 1}
"""How often they still stand in the package; these numbers only shrink."""


def test_no_banned_word_is_used():
    assert {word: n for word, n in banned_words().items() if n > STILL_USED.get(word, 0)} == {}


def test_banned_words_are_found_in_names_and_prose():
    text = "what_is_asked, told: the Told, as foretold; toldo, tasked, lasted"
    assert BANNED.findall(text) == ["asked", "told", "Told", "foretold"]


COLLAPSED = re.compile(
    r"\b[A-Z]\w+ -{4,}|^ +(?:Attributes|Parameters|Returns|Raises|Args):$", re.MULTILINE
)
"""A heading of a docstring that is not on a line of its own above its dashes."""


def test_the_headings_of_docstrings_stand_alone():
    for path, text in texts().items():
        assert not COLLAPSED.findall(text), path
    assert COLLAPSED.findall("    Parameters ---------- sample : it\n    Attributes:\n")


def docstrings_that_only_point(among):
    """The functions and classes whose docstring begins with "See", and says nothing itself."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
    return [
        getattr(node, "name", "")
        for node in among
        if isinstance(node, kinds) and (ast.get_docstring(node) or "").startswith("See ")
    ]


def test_a_docstring_says_what_is_returned_or_done():
    found = {path: docstrings_that_only_point(among) for path, among in nodes_of_all().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_docstring_that_only_points_is_found():
    source = (
        "class C:\n    def f(self):\n        'See :meth:`B.f`.'\n    def g(self):\n        'It.'"
    )
    assert docstrings_that_only_point(nodes(source)) == ["f"]


def test_every_room_has_quick_tests_that_are_there():
    assert {room.name for room in ROOMS} <= set(QUICK)
    assert [path for path in files() if not (PACKAGE.parent / path).exists()] == []


POLL = 0.1
"""Seconds between two looks at a sign that a test waits for."""
NO_END = "what a limit ends"
SLOW = "what is slow"
SLEEPERS = {
    "auditing/audits/test_audit.py": NO_END,
    "auditing/conformance/rubbish.py": NO_END,
    "auditing/conformance/stubborn.py": NO_END,
    "experiments/test_site_sources.py": f"{NO_END}, and time that is not the processor's",
    "foundations/test_single_flight.py": SLOW,
    "helpers/clusters.py": SLOW,
    "runner/test_fitting.py": SLOW,
    "runner/store/test_stretches.py": "a kill at any moment, each of which must do",
}
"""Files of tests that sleep otherwise than between two looks, and what sleeps in them."""


def fixed_waits(tree):
    """The calls of ``sleep`` that are not short ones in a loop until a sign is there."""
    looks = {
        id(call)
        for loop in ast.walk(tree)
        if isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant)
        for call in ast.walk(loop)
        if isinstance(call, ast.Call)
        and re.fullmatch(r"\d*\.?\d+", seconds := ", ".join(map(ast.unparse, call.args)))
        and float(seconds) <= POLL
    }
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and is_named(node.func, "sleep") and id(node) not in looks
    ]


def test_no_test_waits_a_fixed_time():
    """On a busy machine it is too short for another process, and on an idle one wasted."""
    folder = PACKAGE.parent / "tests"
    found = {
        path.relative_to(folder).as_posix(): fixed_waits(ast.parse(text))
        for path in sorted(folder.rglob("*.py"))
        if "sleep(" in (text := path.read_text(encoding="utf-8"))
    }
    assert {path: calls for path, calls in found.items() if calls and path not in SLEEPERS} == {}
    assert {path for path in SLEEPERS if not found[path]} == set(), "these need no exception"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("time.sleep(0.6)\nprocess.interrupt()", 1),
        ("from time import sleep\nsleep(0.01)", 1),
        ("while not sign():\n    time.sleep(0.5)", 1),
        ("while True:\n    time.sleep(0.01)", 1),
        ("while not sign():\n    time.sleep(seconds)", 1),
        ("while not sign():\n    time.sleep(0.05)", 0),
        ("for _ in range(99):\n    time.sleep(0.02)", 1),
    ],
)
def test_a_fixed_wait_is_found(source, count):
    assert len(fixed_waits(ast.parse(source))) == count


FIELDS = "".join(f"    x{i}: int\n" for i in range(6))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(a, b, c, d, e, g): ...", [("f", 6)]),
        ("def f(a, b, c, /, d, e, g): ...", [("f", 6)]),
        ("def f(a, b, c, d, e, *, g): ...", []),
        ("class C:\n  def f(self, a, b, c, d, e): ...", []),
        ("class C:\n  @staticmethod\n  def f(x, a, b, c, d, e): ...", [("f", 6)]),
        ("def outer():\n  def f(a, b, c, d, e, g): ...", [("f", 6)]),
        (f"@dataclass(frozen=True)\nclass C:\n{FIELDS}", [("C", 6)]),
        (f"@dataclasses.dataclass\nclass C:\n{FIELDS}", [("C", 6)]),
        (f"@dataclass(frozen=True, kw_only=True)\nclass C:\n{FIELDS}", []),
        (f"@dataclass\nclass C:\n    _: KW_ONLY\n{FIELDS}", []),
        (f"@dataclass\nclass C:\n    x: ClassVar[int]\n{FIELDS}"[:-12], []),
        (f"class C:\n{FIELDS}", []),
    ],
)
def test_the_count_itself(source, found):
    assert too_many(nodes(source)) == found
