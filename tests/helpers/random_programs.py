"""Adversaries that chance writes, and a walk that holds a step against its generator.

The grammar has what people write and what compilers get wrong: nested loops with rounds inside,
rare branches, whole numbers near 2^63, -0.0, NaN, ties, division by zero, types that change.
"""

import itertools
import linecache
import math
import random
import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from simulator import PureDP
from simulator.adversaries.program.compiling import STOPPED, step_of
from simulator.adversaries.program.forms import NotRead
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.compiled.programs import program_engine
from simulator.engine.specification import Specification
from simulator.foundations.errors import DpcomposeError, NotApplicable
from tests.helpers.machine_steps import MachineStep

PRELUDE = '''
import math
from simulator import Database, Laplace, RandomizedResponse, counting_query
from simulator.mechanisms import Geometric

NAN, INFINITE = math.nan, math.inf
EVERYONE = Database({"alice": 1, "bob": 1, "others": 398})
WITHOUT, NO_BOB = EVERYONE.remove("alice"), EVERYONE.remove("bob")
ALICE, BOB = counting_query("alice"), counting_query("bob")
WEAK, STRONG, COIN = Laplace(ALICE, 0.1), Laplace(ALICE, 0.2), RandomizedResponse(ALICE, 0.15)
STAKES = (0.05, 0.1, 0.2)
STEPS = [3, -1, 2, 9007199254740993]
BOLD = {1, 4, 5}
NAMED = {0: WEAK, 1: STRONG, 2: COIN}


def clipped(x, low=0.01):
    """A parameter that the family allows."""
    if not x > low:
        return low
    return min(x, 0.2)


def mixed(i, j, x, y, p):
    """A parameter in which every bit of the variables shows."""
    found = 0.1 + 0.01 * ((i % 7) / 7) - 0.01 * ((j % 11) / 11) + (0.003 if p else 0.0)
    for sign, z in ((1, x), (-1, y)):
        if z == z:
            found += math.copysign(0.001, z) + 0.01 * sign * math.tanh(z)
    return found


def collatz(n):
    """One step of a sequence that grows and falls."""
    return n // 2 if n % 2 == 0 else 3 * n + 1
'''

INTS = ("0", "1", "-1", "2", "3", "7", "62", "4000000001", "3037000500", "9223372036854775807",
        "-9223372036854775808", "2**53 + 1", "10**19")  # fmt: skip
BIG = ("2**63", "2**63 - 1", "-2**63", "-2**63 - 1", "2**62", "-2**62", "10**19", "2**64")
"""Whole numbers about the ends of what 64 bits hold."""
FLOATS = ("0.0", "-0.0", "0.5", "1.0", "-2.5", "1e308", "5e-324", "2.0**53", "NAN", "INFINITE",
          "0.1", "3.0", "1e-9")  # fmt: skip


class Author:
    """Writes one adversary; ``choose`` chooses one of several things.

    A ``finite`` one tosses no coins, and its mechanisms answer with 0 or 1.
    """

    def __init__(self, choose: Callable[[Sequence], object], finite: bool = False) -> None:
        self.choose, self.finite, self.loops, self.step = choose, finite, 0, False

    def pick(self, options: Sequence) -> object:
        """One of several things; without coins where there are none."""
        if self.finite and isinstance(options[0], str):
            options = [each for each in options if "coins" not in each]
        return self.choose(options)

    def program(self) -> str:
        """The source of a module with the function ``adversary``."""
        lines = [f"    {name} = {value}" for name, value in (
            ("i", self.pick(INTS[:7])), ("j", "0"), ("x", self.pick(FLOATS[:5])), ("y", "0.0"),
            ("p", "False"), ("m", "WEAK"), ("t", "(0, 0.5)"), ("answer", "0.0"), ("e", "0.1"),
        )]  # fmt: skip
        lines += self.body(1, 2) if self.chance(3) else []
        lines.append("    while True:")
        lines += self.body(2, 3)
        lines += self.round(2)
        lines += self.body(2, 2) if self.chance(2) else []
        return f"{PRELUDE}\n\ndef adversary(coins):\n" + "\n".join(lines) + "\n"

    def step_program(self) -> str:
        """The source of a module with the rule ``adversary``, whose step chance writes.

        Its menu answers with 0 or 1, and its last entry leaves the parameter free.
        """
        self.step = True
        start = f"({self.pick(INTS[:7])}, 0, {self.pick(FLOATS[:5])}, 0.0, False)"
        lines = ["    i, j, x, y, p = state", "    e, t = 0.1, (k, 0.5)"]
        lines += self.body(1, 3)
        move = self.pick((
            "3", "3", "3", f"{self.int(1)} % 4", f"1 if {self.bool(1)} else 3", f"{self.bool(1)}",
            f"(0, 3, 1, 3)[{self.int(1)} % 4]",
        ))  # fmt: skip
        lines.append(f"    return (i, j, x, y, p), {move}, mixed(i, j, x, y, p)")
        menu = (
            "MENU = [(WITHOUT, EVERYONE, RandomizedResponse(ALICE, e)) for e in STAKES]\n"
            "MENU.append((WITHOUT, EVERYONE, RandomizedResponse(ALICE, Free(0.01, 0.2))))\n"
        )
        text = "\n".join(lines)
        return (
            f"{PRELUDE}\nfrom simulator.adversaries import Rule\n"
            f"from simulator.mechanisms import Free\n\n{menu}\n\n"
            f"def step(state, k, answer, coins):\n{text}\n\n\n"
            f"adversary = Rule(step, tuple(MENU), {start})\n"
        )

    def chance(self, n: int) -> bool:
        """True once in n times."""
        return self.pick(range(n)) == 0

    def body(self, indent: int, depth: int) -> list[str]:
        """A few statements."""
        count = self.pick((1, 1, 2, 3))
        return [line for _ in range(count) for line in self.statement(indent, depth)]

    def statement(self, indent: int, depth: int) -> list[str]:
        """One statement, which may hold others."""
        pad = "    " * indent
        kind = self.pick(("set", "set", "set", "add", "pair", "if", "if", "for", "while", "round",
                          "few", "mechanism", "swap", "rare", "jump") if depth else
                         ("set", "add", "few", "mechanism", "pair"))  # fmt: skip
        if kind == "set":
            name, value = self.assignment(depth)
            return [f"{pad}{name} = {value}"]
        if kind == "add":
            sign = self.pick(("+", "-", "*", "//", "%", "**", "<<", "&"))
            if self.chance(2):
                return [f"{pad}x {self.pick(('+', '-', '*', '/', '%'))}= {self.float(2)}"]
            return [f"{pad}{self.pick('ij')} {sign}= {self.int(2)}"]
        if kind == "pair":
            return [f"{pad}t = ({self.int(1)}, {self.float(1)})"]
        if kind == "few":
            return [f"{pad}e = {self.pick(('0.05', '0.1', '0.2'))} if {self.bool(2)} else e"]
        if kind in ("round", "while", "mechanism") and self.step:
            return [f"{pad}i += 1 if answer > 0.5 else k"]
        if kind == "mechanism":
            return [f"{pad}m = {self.pick(('WEAK', 'STRONG', 'COIN'))}"]
        if kind == "swap":
            return [f"{pad}i, x, y = j, y, x" if self.chance(2) else f"{pad}i, j = j, i"]
        if kind == "rare" and not self.finite:
            return [f"{pad}if coins.random() < 0.03:", *self.body(indent + 1, depth - 1)]
        if kind == "if":
            lines = [f"{pad}if {self.bool(2)}:", *self.body(indent + 1, depth - 1)]
            if self.chance(2):
                lines += [f"{pad}else:", *self.body(indent + 1, depth - 1)]
            return lines
        if kind == "round":
            return self.round(indent)
        if kind == "jump" and self.loops:
            return [f"{pad}if {self.bool(1)}:", f"{pad}    {self.pick(('break', 'continue'))}"]
        if kind in ("rare", "jump"):
            return [f"{pad}i += 1"]
        self.loops += 1
        if kind == "while":
            lines = [f"{pad}while {self.bool(2)}:", *self.round(indent + 1)]
        else:
            over = self.pick((
                "range(3)", "range(i % 4)", "STAKES", "(WEAK, COIN)", "range(5, 0, -2)",
                "enumerate(STAKES)", "STEPS", "range(j, j + 2)",
            ))  # fmt: skip
            if over == "(WEAK, COIN)" and self.step:
                over = "range(k % 3)"
            name = {"STAKES": "x", "(WEAK, COIN)": "m", "enumerate(STAKES)": "j, e"}.get(over, "j")
            lines = [f"{pad}for {name} in {over}:"]
        lines += self.body(indent + 1, depth - 1)
        self.loops -= 1
        return lines

    def assignment(self, depth: int) -> tuple[str, str]:
        """A name and a value, mostly of its type."""
        name = self.pick(("i", "j", "x", "y", "p"))
        kind = self.pick(("own",) * 9 + ("int", "float", "bool"))
        kinds = {"i": "int", "j": "int", "x": "float", "y": "float", "p": "bool"}
        return name, getattr(self, kinds[name] if kind == "own" else kind)(depth + 1)

    def round(self, indent: int) -> list[str]:
        """A round."""
        pair = self.pick(("WITHOUT, EVERYONE", "WITHOUT, EVERYONE", "NO_BOB, EVERYONE"))
        mechanism = self.pick((
            *("Laplace(ALICE, mixed(i, j, x, y, p))",) * 8, "m",
            "Laplace(ALICE, e)", f"Laplace(ALICE, clipped({self.float(2)}))",
            f"STRONG if {self.bool(2)} else WEAK", f"NAMED[{self.int(1)} % 3]",
            f"Laplace(BOB if {self.bool(1)} else ALICE, 0.1)", "Laplace(counting_query('bob'), e)",
            f"Laplace(ALICE, STAKES[{self.int(1)} % 3])",
            f"Geometric(ALICE, clipped({self.float(1)}, 0.1))",
        ))  # fmt: skip
        if self.finite:
            parameter = self.pick(("e", "mixed(i, j, x, y, p)", "STAKES[1 if p else 0]"))
            mechanism = f"RandomizedResponse(ALICE, {parameter})"
        return ["    " * indent + f"answer = yield {pair}, {mechanism}"]

    def int(self, depth: int) -> str:
        """A whole number."""
        if not depth:
            return self.pick(("i", "j", "i", "k" if self.step else "j", "t[0]", *INTS))
        a, b = self.int(depth - 1), self.int(depth - 1)
        return self.pick((
            a, f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // {b})", f"({a} % {b})",
            f"({a} ** {self.pick('0123')})", f"({a} << {self.pick(('1', '3', 'j'))})",
            f"({a} + {self.pick(BIG)})",
            f"({a} >> 2)", f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"-{a}", f"~{a}",
            f"abs({a})", f"min({a}, {b})", f"max({a}, {b}, 3)", f"int({self.float(depth - 1)})",
            f"round({self.float(depth - 1)})", f"({a} if {self.bool(depth - 1)} else {b})",
            f"int(coins.integers({self.pick(('2', '1, 7', '0, 2**40'))}))", f"collatz({a})",
            f"STEPS[{a} % 4]", f"divmod({a}, {b})[1]", f"({self.bool(depth - 1)} + {a})",
            f"math.floor({self.float(depth - 1)})", f"int({self.bool(depth - 1)})",
        ))  # fmt: skip

    def float(self, depth: int) -> str:
        """A float."""
        if not depth:
            return self.pick(("x", "y", "answer", "answer", "t[1]", *FLOATS))
        a, b = self.float(depth - 1), self.float(depth - 1)
        return self.pick((
            a, f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"({a} // {b})",
            f"({a} % {b})", f"({a} ** {self.pick(('2', '0.5', '-1', '3', b))})", f"-{a}",
            f"abs({a})", f"min({a}, {b})", f"max({a}, {b})", f"float({self.int(depth - 1)})",
            f"({a} + {self.int(depth - 1)})", f"({self.int(depth - 1)} / {self.int(depth - 1)})",
            f"({a} if {self.bool(depth - 1)} else {b})", f"math.exp({a})", f"math.log({a})",
            f"math.sqrt({a})", f"math.log1p({a})", f"math.expm1({a})", f"math.tanh({a})",
            f"math.copysign({a}, {b})", "coins.random()", "coins.normal(0.0, 2.0)",
            "coins.uniform(-1, 1)", "coins.exponential()", f"clipped({a})",
            f"STAKES[{self.int(0)} % 3]", f"max({self.int(depth - 1)}, {a})",
            "0.05 * coins.integers(1, 4)",
        ))  # fmt: skip

    def bool(self, depth: int) -> str:
        """A truth value, or a number that counts as one."""
        if not depth:
            return self.pick(("p", "p", "True", "i", "answer > 0.5", "x"))
        sign = self.pick(("<", "<=", ">", ">=", "==", "!="))
        n, m, a = self.int(depth - 1), self.int(depth - 1), self.float(depth - 1)
        p, q = self.bool(depth - 1), self.bool(depth - 1)
        return self.pick((
            f"answer > {self.pick(('0.5', '0.0', 'x', '30.0'))}", f"{n} {sign} {m}",
            f"{n} {sign} {self.pick(BIG)}", f"{self.pick(BIG)} {sign} ({n} + {m})",
            f"{a} {sign} {n}", f"{a} {sign} {self.float(depth - 1)}", f"({p} and {q})",
            f"({p} or {q})", f"(not {p})",
            f"{n} in BOLD", f"{n} % 4 in (1, 2)", f"0 < {n} <= {m} < 9",
            "k in (1, 4)" if self.step else "m is STRONG",
            f"isinstance({a}, float)",
            f"math.isnan({a})", "coins.integers(2) == 1", f"bool({n})",
        ))  # fmt: skip


def function_of(source: str) -> Callable:
    """The ``adversary`` of a source, which ``inspect`` and the reader find."""
    name = f"<chance {hash(source)}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    namespace: dict = {"__name__": "chance"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["adversary"]


ANSWERS = (0.0, -0.0, 1.0, 0.5, math.nan, 3.0, -7.25, 1e300, 41.5)


def sequences(count: int, rounds: int, share: float = 0.3) -> list[list[float]]:
    """Answers to play against: such as occur, and in every second one a share of awkward ones."""
    rng = np.random.default_rng(1)
    found = []
    for n in range(count):
        drawn = rng.laplace(0.5, 5.0, rounds).round(n % 3).tolist()
        awkward = rng.random(rounds) < (share if n % 2 else 0.0)
        found.append([ANSWERS[rng.integers(len(ANSWERS))] if bad else answer
                      for bad, answer in zip(awkward, drawn)])  # fmt: skip
    return found


def compared(adversary: Callable, played: list[list[float]]) -> int:
    """Walk the machine code of a step beside its generator; the rounds that agreed, or fail.

    Where Python raises or stops the step has to stop; it may stop before. Raises NotRead.
    """
    machine = machine_of(read(adversary))
    step = MachineStep(step_of(machine))
    rounds = 0
    for seed, answers in enumerate(played):
        ours, theirs = (np.random.Generator(np.random.SFC64(seed)) for _ in range(2))
        answer, playing = math.nan, adversary(theirs)
        step.begin()
        for i, coming in enumerate(answers):
            move, parameter = step(i, answer, ours)
            if move == STOPPED:  # Python may go on, with whole numbers of any length
                break
            try:
                challenge = playing.send(None if i == 0 else answer)
            except Exception as error:
                raise AssertionError(f"Python raises {error!r}, the step plays {move}") from error
            entry = machine.menu[move]
            assert (entry.database_0, entry.database_1) == challenge[:2]
            mechanism = entry.mechanism
            if isinstance(mechanism, tuple):
                kind, fixed = mechanism
                mechanism = kind(**dict(fixed), **{kind.parameter_name: parameter})
            assert mechanism == challenge[2], f"round {i}: {mechanism} for {challenge[2]}"
            assert same_coins(ours, theirs), f"round {i}: other coins"
            answer, rounds = coming, rounds + 1
    return rounds


def compared_steps(rule: Callable, played: list[list[float]]) -> int:
    """Walk the machine code of a rule's step beside the rule's own; as :func:`compared`."""
    step = MachineStep(step_of(machine_of(read(rule))))
    rounds = 0
    for seed, answers in enumerate(played):
        ours, theirs = (np.random.Generator(np.random.SFC64(seed)) for _ in range(2))
        truth = rule.state
        step.begin()
        for i, answer in enumerate([math.nan, *answers]):
            move, parameter = step(i, answer, ours)
            if move == STOPPED:
                break
            try:
                truth, *sent = rule.step(truth, i, answer, theirs)
            except Exception as error:
                raise AssertionError(f"Python raises {error!r}, the step plays {move}") from error
            same = parameter == sent[1] or (parameter != parameter and sent[1] != sent[1])  # NaN
            assert same, f"round {i}: {parameter} for {sent[1]}"
            assert move == sent[0], f"round {i}: {move} for {sent[0]}"
            assert same_coins(ours, theirs), f"round {i}: other coins"
            rounds += 1
    return rounds


def same_coins(ours: np.random.Generator, theirs: np.random.Generator) -> bool:
    """Whether two generators have drawn as much."""
    one, two = (each.bit_generator.state for each in (ours, theirs))
    return (
        one["state"]["state"].tolist() == two["state"]["state"].tolist()
        and (one["has_uint32"], one["uinteger"]) == (two["has_uint32"], two["uinteger"])
    )  # fmt: skip


PLAYED = sequences(8, 25)
FAMILY = PureDP(0.2)


def agreed(seed: int, step: bool = False) -> int | None:
    """The rounds that agree on a program, or on a step; None where it is refused."""
    author = Author(random.Random(seed).choice)
    adversary = function_of(author.step_program() if step else author.program())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy's scalars, as Python plays them
        try:
            return (compared_steps if step else compared)(adversary, PLAYED)
        except NotRead:
            return None


def kernel_agreed(seed: int) -> bool:
    """Play whole blocks by the compiled kernel and by Algorithm 1; False where it is refused."""
    s = Specification(
        function_of(Author(random.Random(seed).choice).program()), FAMILY, 40, 60,
        seed=seed % 1000, keep_views=4, block_size=30,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            engine = program_engine(s)
        except NotApplicable:
            return False
        for b, block in itertools.product((0, 1), range(s.blocks)):
            ours, theirs = (
                _outcome(play, s, b, block) for play in (engine.play_block, play_as_generator)
            )
            assert ours == theirs, f"experiment {b}, block {block}"
    return True


def _outcome(play: Callable, *block: object) -> object:
    """A block's views and losses, to the bit; or the error."""
    try:
        found = play(*block)
    except DpcomposeError as error:
        return type(error), str(error)
    return repr(found.views), found.losses.tobytes()


def batch(first: int, last: int) -> int:
    """Play the programs of some seeds compiled; print the differences, and the rounds that agree.

    Returns 1 where something differs.
    """
    rounds = wrong = 0
    for seed in range(first, last):
        for name, play in (
            ("compiled", lambda seed: agreed(seed) or 0),
            ("a compiled step", lambda seed: agreed(seed, step=True) or 0),
            ("a whole kernel", lambda seed: seed % 5 == 0 and kernel_agreed(seed)),
        ):
            try:
                rounds += play(seed)
            except Exception as error:  # whatever it is, the other programs are played
                wrong = 1
                print(f"seed {seed} differs, {name}: {type(error).__name__}: {error}")
    print("rounds that agree:", rounds)
    return wrong


if __name__ == "__main__":
    sys.exit(batch(*map(int, sys.argv[1:])))
