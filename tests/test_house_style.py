"""What every module of the package keeps to, read off its syntax tree.

No function takes more than five positional arguments, and no class name is defined twice.
"""

import ast
from collections import Counter
from pathlib import Path

import pytest

import simulator

PACKAGE = Path(simulator.__file__).parent
MOST = 5
KERNELS = {
    "play/plain_kernel.py": {"kernel"},
    "play/tilted_kernel.py": {"kernel"},
    "play/covering.py": {"kernel", "draw", "no_draw"},
}
"""Functions that numba compiles and calls by position."""


def trees():
    """{path within the package: syntax tree} of every module."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


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


def too_many(tree, excepted=frozenset()):
    """The functions and dataclasses that take more than MOST positional arguments, with counts."""
    found = []
    for parent in ast.walk(tree):
        for node in ast.iter_child_nodes(parent):
            count = 0
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = positional_of_function(node, isinstance(parent, ast.ClassDef))
            elif isinstance(node, ast.ClassDef):
                count = positional_of_dataclass(node)
            if count > MOST and node.name not in excepted:
                found.append((node.name, count))
    return found


def test_nothing_takes_more_than_five_positional_arguments():
    found = {path: too_many(tree, KERNELS.get(path, frozenset())) for path, tree in trees().items()}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}


def test_no_class_name_is_defined_twice():
    names = Counter(
        node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in names.items() if times > 1] == []


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
    assert too_many(ast.parse(source)) == found
