"""The source of a plan: a generator of some twenty lines that reads as Algorithm 1's adversary."""

from __future__ import annotations

import itertools
import linecache
import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.attacks.plans import STOP, AttackPlan, When
from simulator.data.alice import EVERYONE, WITHOUT_ALICE
from simulator.data.databases import Relation
from simulator.foundations.errors import NotApplicable
from simulator.foundations.files import write_new
from simulator.foundations.wording import printable
from simulator.mechanisms import (
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    PoissonSubsampled,
    RandomizedResponse,
    ScalarMechanism,
)
from simulator.mechanisms.base import ScalarPair
from simulator.mechanisms.table import Table
from simulator.worst.policy_files import new_python_file

NAME = "adversary"
"""The name of the generator function in a program."""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Program:
    """An adversary as a Python program that defines the generator function ``adversary``.

    Attributes
    ----------
    source : the text of the file.
    rounds : how many rounds it may take.

    >>> from simulator.attacks import find_adversary
    >>> found = find_adversary((0.9, 0.0), "randomized-response:0.5", rounds=2, seconds=5)
    >>> found.program.lines, found.program.rounds
    (3, 2)
    """

    source: str
    _: KW_ONLY
    rounds: int
    plan: AttackPlan = field(repr=False)

    def __str__(self) -> str:
        return self.source

    @property
    def lines(self) -> int:
        """How many lines the generator function has, without its docstring and comments."""
        body = self.source[self.source.index(f"def {NAME}(") :]
        return sum(1 for line in body.splitlines() if line.strip())

    @cached_property
    def adversary(self) -> Callable[[np.random.Generator], Any]:
        """The generator function, for :func:`simulator.simulate`."""
        name = f"<found adversary {next(_numbers)}>"
        lines = self.source.splitlines(keepends=True)
        linecache.cache[name] = (len(self.source), None, lines, name)  # for inspect and tracebacks
        scope: dict[str, Any] = {"__name__": "found_adversary"}
        exec(compile(self.source, name, "exec"), scope)
        found: Callable[[np.random.Generator], Any] = scope[NAME]
        return found

    def save(self, path: str | Path) -> Path:
        """Write a new Python file. Raises InvalidInput where that cannot be done."""
        target = new_python_file(path)
        write_new(target, self.source)
        return target


def program_of(
    plan: AttackPlan, header: Sequence[str], relation: Relation, *, refuses: bool
) -> Program:
    """The program of a plan.

    Parameters
    ----------
    header : lines of its docstring.
    refuses : whether a question may be refused, with the answer NaN.

    Raises NotApplicable for a mechanism that has no text.
    """
    imports: set[str] = set()
    menu, gains = [], []
    for option in plan.options:
        text, kinds = _constructor(option.challenge.mechanism)
        imports |= kinds
        menu.append(f"    ({_databases(option.challenge)}, {text}),")
        gains.append(_gain(option.challenge, relation, plan.experiment))
    several, by_loss = len(plan.options) > 1, "loss" in plan.features
    lines = [f'"""{printable(header[0])}', *(printable(line) for line in header[1:]), '"""', ""]
    if (by_loss and any("math." in str(gain) for gain in gains)) or _checks_refusals(plan, refuses):
        lines += ["import math", ""]
    lines.append("from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE")
    if imports - {"Table"}:
        lines.append(f"from simulator.mechanisms import {', '.join(sorted(imports - {'Table'}))}")
    if "Table" in imports:
        lines.append("from simulator.mechanisms.table import Table")
    names = _names(plan)
    lines += (
        ["", f"{', '.join(names)} = {', '.join(map(str, range(len(names))))}"] if several else [""]
    )
    lines += ["MENU = (", *menu, ")"]
    if by_loss and all(isinstance(gain, tuple) for gain in gains):
        lines += ["GAINS = (", *(f"    ({', '.join(gain)}),  # by answer" for gain in gains), ")"]
    lines += ["", "", *_body(plan, names, gains, refuses), ""]
    return Program("\n".join(lines), rounds=plan.rounds, plan=plan)


def _checks_refusals(plan: AttackPlan, refuses: bool) -> bool:
    return refuses and (len(plan.options) > 1 or bool(plan.features))


def _names(plan: AttackPlan) -> list[str]:
    count = len(plan.options)
    if count == 1:
        return ["QUERY"]
    if count == 2:
        return ["SMALL", "LARGE"]
    if count == 3:
        return ["SMALL", "MIDDLE", "LARGE"]
    return [f"QUERY_{number + 1}" for number in range(count)]


def number_text(value: float) -> str:
    """A number with as few digits as it needs."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)


def _constructor(mechanism: Any) -> tuple[str, set[str]]:
    """(The text that makes a mechanism, the classes that it names)."""
    if isinstance(mechanism, Table):
        rows = ("(" + ", ".join(map(repr, row)) + ")" for row in (mechanism.on_0, mechanism.on_1))
        return f"Table(ALICE, {', '.join(rows)})", {"Table"}
    if isinstance(mechanism, PoissonSubsampled) and isinstance(mechanism.mechanism, Gaussian):
        sigma, rate = mechanism.mechanism.fixed_parameter(), mechanism.rate
        text = f"PoissonSubsampled(Gaussian(ALICE, {number_text(sigma)}), {number_text(rate)})"
        return text, {"PoissonSubsampled", "Gaussian"}
    if isinstance(mechanism, LeakyRandomizedResponse):
        numbers = f"{number_text(mechanism.fixed_parameter())}, {number_text(mechanism.delta)}"
        return f"LeakyRandomizedResponse(ALICE, {numbers})", {"LeakyRandomizedResponse"}
    for kind in (RandomizedResponse, Laplace, Geometric, Gaussian):
        if type(mechanism) is kind:
            text = f"{kind.__name__}(ALICE, {number_text(mechanism.fixed_parameter())})"
            return text, {kind.__name__}
    raise NotApplicable(f"{mechanism!r} has no text in a program; use a mechanism with a name")


def _databases(challenge: Challenge) -> str:
    names = []
    for database in challenge[:2]:
        if database == EVERYONE:
            names.append("EVERYONE")
        elif database == WITHOUT_ALICE:
            names.append("WITHOUT_ALICE")
        elif database == WITHOUT_ALICE.add("others"):
            names.append('WITHOUT_ALICE.add("others")')
        else:
            raise NotApplicable(f"{database!r} has no text in a program")
    return ", ".join(names)


def _gain(challenge: Challenge, relation: Relation, experiment: int) -> str | tuple[str, ...]:
    """The loss as an expression in ``answer``, or the losses of the answers 0, 1, ..."""
    database_0, database_1, mechanism = challenge
    if not isinstance(mechanism, ScalarMechanism):
        raise NotApplicable(f"the loss of {mechanism!r} has no text in a program")
    pair = mechanism.pair(database_0, database_1, relation)
    assert isinstance(pair, ScalarPair)
    sign = -1.0 if experiment else 1.0
    if mechanism.scalars.outcomes is not None:
        answers = [float(answer) for answer in mechanism.scalars.outcomes(pair.params)]
        if answers == list(map(float, range(len(answers)))):
            losses = [sign * pair.loss(answer) for answer in answers]
            return tuple(
                number_text(_tidy(loss)) if math.isfinite(loss) else f'float("{loss}")'
                for loss in losses
            )
    for text in _formulas(challenge, sign):
        if _agrees(text, pair, sign):
            return text
    raise NotApplicable(f"the loss of {mechanism!r} has no formula in a program")


def _tidy(loss: float) -> float:
    """The loss without the last digits of its logarithm, where they are rounding."""
    short = float(f"{loss:.12g}")
    return short if math.isfinite(loss) and abs(short - loss) <= 4e-16 * (1 + abs(loss)) else loss


def _formulas(challenge: Challenge, sign: float) -> list[str]:
    """Expressions that may be the loss of an answer."""
    mechanism: Any = challenge.mechanism
    ends = [float(mechanism.query(database)) for database in challenge[:2]]
    flip = sign if ends[1] > ends[0] else -sign
    minus = "" if flip > 0 else "-"
    if isinstance(mechanism, PoissonSubsampled) and isinstance(mechanism.mechanism, Gaussian):
        sigma = number_text(mechanism.mechanism.fixed_parameter())
        rate, rest = mechanism.rate, number_text(1.0 - mechanism.rate)
        inner = f"{rest} + {number_text(rate)} * math.exp((answer - 0.5) / {sigma}**2)"
        return [f"{m}math.log({inner})" for m in ("-", "")]
    parameter = number_text(mechanism.fixed_parameter())
    return [
        f"{minus}(0.5 - answer) / {parameter}**2",
        f"{minus}(abs(answer - 1.0) - abs(answer)) * {parameter}",
    ]


def _agrees(text: str, pair: ScalarPair, sign: float) -> bool:
    draws = np.random.default_rng(0)
    for b in (0, 1):
        for _ in range(20):
            answer = pair.sample(b, draws)
            found = eval(text, {"math": math, "answer": answer})
            expected = sign * pair.loss(answer)
            if not abs(found - expected) <= 1e-9 * (1.0 + abs(expected)):
                return False
    return True


def _condition(when: When, counted: dict[int, str]) -> str:
    name = when.feature if isinstance(when.feature, str) else counted[when.feature]
    whole = when.feature != "loss"
    low, high = (number_text(end) for end in (when.low, when.high))
    if whole and when.high - when.low == 1.0:
        return f"{name} == {when.low:.0f}"
    if math.isinf(when.low):
        return f"{name} < {high}"
    if math.isinf(when.high):
        return f"{name} >= {low}"
    return f"{low} <= {name} < {high}"


def _body(
    plan: AttackPlan, names: list[str], gains: list[str | tuple[str, ...]], refuses: bool
) -> list[str]:
    several, by_loss = len(plan.options) > 1, "loss" in plan.features
    limited = refuses and several
    counted = {f: f"played_{names[f].lower()}" for f in plan.features if isinstance(f, int)}
    counters = (["played"] if "played" in plan.features else []) + [
        counted[f] for f in sorted(counted)
    ]
    memory = (["loss"] if by_loss else []) + counters + (["most"] if limited else [])
    start = (["0.0"] if by_loss else []) + ["0"] * len(counters) + ([names[-1]] if limited else [])
    lines = [f"def {NAME}(coins):"]
    if memory:
        lines.append(f"    {', '.join(memory)} = {', '.join(start)}")
    lines.append("    while most >= 0:" if limited else "    while True:")
    lines += [f"        {line}" for line in _choice(plan, names, counted)]
    entry = "0" if not several else "min(move, most)" if limited else "move"
    if limited:
        lines.append("        move = min(move, most)")
        entry = "move"
    listens = by_loss or _checks_refusals(plan, refuses)
    lines.append(f"        {'answer = ' if listens else ''}yield MENU[{entry}]")
    if limited:
        lines += [
            "        if math.isnan(answer):  # refused: send the next smaller one",
            "            most = move - 1",
            "            continue",
            f"        most = {names[-1]}",
        ]
    elif _checks_refusals(plan, refuses):
        lines += ["        if math.isnan(answer):  # refused", "            break"]
    if by_loss:
        lines += [f"        {line}" for line in _gained(names, gains, entry)]
    lines += [f"        {name} += 1" for name in counters if name == "played"]
    lines += [f"        {name} += move == {names[f]}" for f, name in sorted(counted.items())]
    if limited or "break" in "".join(lines):
        lines += [
            "    while True:  # stopped: nothing more is lost",
            "        yield EVERYONE, EVERYONE, MENU[0][2]",
        ]
    return lines


def _choice(plan: AttackPlan, names: list[str], counted: dict[int, str]) -> list[str]:
    """The rules as conditions; those of equal moves that follow each other are one."""
    groups: list[tuple[int, list[str]]] = []
    for rule in plan.rules:
        conditions = [_condition(when, counted) for when in rule.conditions]
        if groups and groups[-1][0] == rule.move and conditions and groups[-1][1]:
            groups[-1][1].append(" and ".join(conditions))
        else:
            groups.append((rule.move, [" and ".join(conditions)] if conditions else []))
        if not conditions:
            break
    several = len(plan.options) > 1
    lines: list[str] = []
    for number, (move, conditions) in enumerate(groups):
        then = "break" if move == STOP else f"move = {names[move]}"
        if move != STOP and not several:
            then = "pass"
        word = "elif" if number else "if"
        if not conditions:
            lines += ["else:", f"    {then}"] if number else [then]
        elif len(conditions) == 1:
            lines += [f"{word} {conditions[0]}:", f"    {then}"]
        else:
            parts = [f"({each})" if " and " in each else each for each in conditions]
            lines += [f"{word} (", f"    {parts[0]}"]
            lines += [f"    or {each}" for each in parts[1:]]
            lines += ["):", f"    {then}"]
    if not several:  # a single query is played unless the plan has stopped
        while lines[-1] == "    pass" and lines[-2] == "else:":
            lines = lines[:-2]
        lines = [line for line in lines if line != "pass"]
    return lines


def _gained(names: list[str], gains: list[str | tuple[str, ...]], entry: str) -> list[str]:
    """The lines that add the loss of the answer."""
    if all(isinstance(gain, tuple) for gain in gains):
        return [f"loss += GAINS[{entry}][int(answer)]"]
    texts = [
        gain if isinstance(gain, str) else f"({', '.join(gain)})[int(answer)]" for gain in gains
    ]
    if len(set(texts)) == 1:
        return [f"loss += {texts[0]}"]
    lines = []
    for number, (name, text) in enumerate(zip(names, texts)):
        word = (
            "else:" if number == len(names) - 1 else f"{'elif' if number else 'if'} move == {name}:"
        )
        lines += [word, f"    loss += {text}"]
    return lines
