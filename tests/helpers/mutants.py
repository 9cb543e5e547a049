"""Small changes of a module's code, each at one place of its syntax tree.

A *site* is a node and a kind of change: a comparison and its other operator, a number and the next
one. :func:`mutants` lists all sites of a source, and :func:`drawn` takes some of many: those whose
label, with the seed, has the smallest digest. So each site has the same chance, and a site stays
drawn when other code changes. Where a kind has two changes, a digest chooses as well.

No site is in a docstring, annotation, f-string, pattern, assertion, in what is raised (its words;
that it is raised is a site), under ``if TYPE_CHECKING``, or in the value of a name like
``__all__``. Left out too is what cannot but end in a NameError: the only assignment of a name.
"""

import ast
import hashlib
from typing import NamedTuple

OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
EXTREMA = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
COMMUTE = {*EXTREMA, "logaddexp", "hypot", "gcd"}
"""Functions of which the order of the arguments is no site: nothing would change."""
OF_TYPES = {"isinstance", "issubclass", "cast", "TypeVar", "NewType", "ParamSpec"}
"""Functions whose arguments are types."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SHOWN = 24
"""Characters of a text that are shown before and after what changes in it."""


class Mutant(NamedTuple):
    """A change of a module: ``text`` takes the place of the bytes from ``start`` to ``end``."""

    module: str
    function: str
    """The qualified name of the function; of a class, or nothing, for what is run by import."""
    line: int
    kind: str
    change: str
    start: int
    end: int
    text: str
    same: int
    """How many sites of the function before this one have the same change."""
    imported: bool
    """Whether the code is run when the module is imported."""

    @property
    def label(self):
        """What the mutant is, in one line that does not change with code elsewhere."""
        again = f" ({self.same + 1})" if self.same else ""
        function = self.function.replace(".<locals>", "") or "module"
        return f"{self.module}: {function}: {self.change}{again}"

    def planted_in(self, source):
        """The source with the change."""
        code = source.encode()
        return (code[: self.start] + self.text.encode() + code[self.end :]).decode()


def number(text):
    """A number that is a function of a text, and looks drawn by chance."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def drawn(found, count, seed):
    """``count`` of the mutants found, each with the same chance."""
    return sorted(found, key=lambda each: number(f"{seed} {each.label}"))[:count]


def mutants(source, module="", seed=0):
    """One mutant for each site of a source."""
    return _Sites(source, module, seed).found


def _shown(old, new):
    """A change in short: what two texts share is left out, but for a few characters."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    first, last = max(same - SHOWN, 0), max(tail - SHOWN, 0)
    parts = [("… " if first else "") + each[first : len(each) - last] + (" …" if last else "")
             for each in (old, new)]  # fmt: skip
    return " -> ".join(" ".join(each.split()) for each in parts)


class _Sites(ast.NodeVisitor):
    def __init__(self, source, module, seed):
        code = source.encode()
        self.starts = [0]
        for line in code.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.module, self.seed, self.found, self.seen = module, seed, [], {}
        self.scopes, self.names, self.types = [], [], 0
        self.visit(ast.parse(source))

    def add(self, kind, node, *others):
        """Note a site where ``node`` becomes one of some nodes; None is the statement left out."""
        old = ast.unparse(node)
        function = ".".join(self.scopes).removesuffix(".<locals>")
        chosen = others[number(f"{self.seed} {self.module} {function} {old}") % len(others)]
        new = "pass" if chosen is None else ast.unparse(chosen)
        change = _shown(old, new)
        same = self.seen[function, change] = self.seen.get((function, change), -1) + 1
        imported = not self.names or self.names[-1] is None
        text = f"({new})" if isinstance(node, ast.expr) else new
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        self.found.append(
            Mutant(
                self.module, function, node.lineno, kind, change, start, end, text, same, imported
            )
        )

    def changed(self, node, **fields):
        """A copy of a node with other fields."""
        return type(node)(**dict(ast.iter_fields(node)) | fields)

    def all(self, nodes):
        for node in nodes:
            if node is not None:
                self.visit(node)

    # what is not entered

    def visit_JoinedStr(self, node):
        pass

    visit_Assert = visit_Import = visit_ImportFrom = visit_JoinedStr

    def visit_Raise(self, node):
        self.add("raise left out", node, None)

    def visit_Match(self, node):
        for case in node.cases:
            self.all([case.guard, *case.body])

    def _function(self, node):
        self.all(node.decorator_list)
        self.all([*node.args.defaults, *node.args.kw_defaults])
        self.scopes.append(node.name)
        self.names.append([each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)]
                          + [each.id for each in ast.walk(node) if isinstance(each, ast.Name)
                             and isinstance(each.ctx, ast.Store)])  # fmt: skip
        self.scopes.append("<locals>")
        self.all(node.body)
        self.names.pop()
        del self.scopes[-2:]

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node):
        self.all([*node.decorator_list, *(each.value for each in node.keywords)])
        self.scopes.append(node.name)
        self.names.append(None)
        self.all(node.body)
        self.names.pop()
        self.scopes.pop()

    # statements

    def _left_out(self, node, targets):
        names = self.names[-1] if self.names else None
        if names is not None and all(
            names.count(each.id) > 1
            if isinstance(each, ast.Name)
            else not isinstance(each, ast.Tuple)
            for each in targets
        ):
            self.add("assignment left out", node, None)

    def visit_Assign(self, node):
        if not any(
            isinstance(each, ast.Name) and each.id.startswith("__") for each in node.targets
        ):
            self._left_out(node, node.targets)
            self.all([*node.targets, node.value])

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self._left_out(node, [node.target])
            self.all([node.target, node.value])

    def visit_AugAssign(self, node):
        self.add("assignment left out", node, None)
        if type(node.op) in OTHER:
            self.add("operator", node, self.changed(node, op=OTHER[type(node.op)]()))
        self.all([node.target, node.value])

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call) and self.names:
            self.add("call left out", node, None)
        self.generic_visit(node)

    def visit_Return(self, node):
        if node.value is not None and ast.unparse(node.value) != "None":
            self.add("return", node, ast.Return(ast.Constant(None)))
            self.visit(node.value)

    # conditions

    def _condition(self, test):
        if not isinstance(test, ast.Constant):
            self.add("condition", test, ast.Constant(True), ast.Constant(False))
            self.visit(test)

    def visit_If(self, node):
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self._condition(node.test)
            self.all(node.body)
        self.all(node.orelse)

    def visit_While(self, node):
        self._condition(node.test)
        self.all([*node.body, *node.orelse])

    def visit_IfExp(self, node):
        self._condition(node.test)
        self.all([node.body, node.orelse])

    def visit_comprehension(self, node):
        self.visit(node.iter)
        for each in node.ifs:
            self._condition(each)

    # expressions

    def visit_Compare(self, node):
        for place, op in enumerate(node.ops):
            ops = list(node.ops)
            ops[place] = OTHER[type(op)]()
            self.add("comparison", node, self.changed(node, ops=ops))
        self.generic_visit(node)

    def visit_BinOp(self, node):
        of_texts = any(isinstance(each, ast.JoinedStr | ast.List)
                       or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes))
                       for each in (node.left, node.right))  # fmt: skip
        of_types = isinstance(node.op, ast.BitOr) and (self.types or not self.names)
        if type(node.op) in OTHER and not of_texts and not of_types:
            self.add("operator", node, self.changed(node, op=OTHER[type(node.op)]()))
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        self.add("and, or", node, self.changed(node, op=OTHER[type(node.op)]()))
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            self.add("not left out", node, node.operand)
        elif isinstance(node.op, ast.USub):
            self.add("sign", node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            self.add("constant", node, ast.Constant(not value))
        elif isinstance(value, int):
            self.add("constant", node, ast.Constant(value + 1))
        elif isinstance(value, float):
            self.add("constant", node, ast.Constant(2 * value if value else 1.0))

    def visit_Call(self, node):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in OF_TYPES:
            self.types += 1
            self.generic_visit(node)
            self.types -= 1
            return
        if name in EXTREMA:
            func = (ast.Name(EXTREMA[name]) if isinstance(node.func, ast.Name)
                    else self.changed(node.func, attr=EXTREMA[name]))  # fmt: skip
            self.add("min, max", node, self.changed(node, func=func))
        args, keywords = node.args, node.keywords
        plain = not any(isinstance(each, ast.Starred) for each in args)
        shorter = [
            self.changed(node, keywords=keywords[:place] + keywords[place + 1 :])
            for place, each in enumerate(keywords)
            if each.arg is not None
        ]
        if plain and args:
            shorter.append(self.changed(node, args=args[:-1]))
        if len(args) + len(keywords) > 1 and shorter:
            self.add("argument left out", node, *shorter)
        swapped = [
            self.changed(
                node, args=[*args[:place], args[place + 1], args[place], *args[place + 2 :]]
            )
            for place in range(len(args) - 1)
            if ast.dump(args[place]) != ast.dump(args[place + 1])
        ]
        if plain and swapped and name not in COMMUTE:
            self.add("arguments swapped", node, *swapped)
        self.generic_visit(node)
