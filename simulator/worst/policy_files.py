"""Policies as small Python files that define the rule ``worst_case``.

The menu is in the form that ``parse_entry`` reads, a table mechanism as its probabilities; the two
integer tables are compressed text. The file holds literals only.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.data.alice import ALICE
from simulator.data.databases import RELATIONS, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.wording import printable
from simulator.mechanisms import (
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    PoissonSubsampled,
    RandomizedResponse,
)
from simulator.mechanisms.table import Table
from simulator.worst.menu import FixedEntry, about_alice, as_neighbours
from simulator.worst.menu_parsing import SAMPLED, parse_entry

NAME = "worst_case"
"""The name of the rule in its file."""
_LINE = 88

ChallengeText = str | tuple[Sequence[float], Sequence[float]]
"""A menu entry in a file: its text, or the two rows of a table."""


def new_python_file(path: str | Path) -> Path:
    """Return the path; raise InvalidInput unless a new Python file can be written there."""
    found = Path(path)
    if found.suffix != ".py":
        raise InvalidInput(
            f"a policy is saved as a Python file: name one that ends in .py, not {str(path)!r}"
        )
    if found.exists():
        raise InvalidInput(f"{found} exists already; name a new file")
    if not found.parent.is_dir():
        raise InvalidInput(f"no folder {str(found.parent)!r} to save the policy in")
    return found


def challenge_text(challenge: Challenge, relation: Relation) -> ChallengeText:
    """The text of a challenge, from which :func:`read` makes an equal one.

    Raises NotApplicable for a challenge without such a text.
    """
    mechanism = challenge.mechanism
    for candidate in _candidates(mechanism):
        if read(candidate, relation) == challenge:
            return candidate
    raise NotApplicable(
        f"{mechanism!r} has no name in a menu, so a policy over it cannot be saved; keep the "
        "Python program that searched it"
    )


def _candidates(mechanism: Any) -> list[ChallengeText]:
    if isinstance(mechanism, Table):
        return [(mechanism.on_0, mechanism.on_1)]
    if isinstance(mechanism, Gaussian):
        return [f"gaussian:{mechanism.fixed_parameter()!r}"]
    if isinstance(mechanism, PoissonSubsampled):
        base = mechanism.mechanism
        numbers = f"{base.fixed_parameter()!r},{mechanism.rate!r}"
        return [f"{name}:{numbers}" for name in SAMPLED if isinstance(base, Gaussian)]
    if isinstance(mechanism, LeakyRandomizedResponse):
        return [f"approx:{mechanism.fixed_parameter()!r},{mechanism.delta!r}"]
    kinds = {
        RandomizedResponse: "randomized-response",
        Laplace: "laplace",
        Geometric: "geometric",
    }
    for kind, name in kinds.items():
        if type(mechanism) is kind:
            return [f"{name}:{mechanism.fixed_parameter()!r}"]
    return []


def read(entry: ChallengeText, relation: Relation) -> Challenge:
    """The challenge of a written menu entry, on neighbours under the relation.

    Raises InvalidInput for any other value.
    """
    if isinstance(entry, str):
        found = parse_entry(entry)
        if not isinstance(found, FixedEntry):
            raise InvalidInput(
                f"a saved menu holds mechanisms with fixed parameters, not {entry!r}"
            )
        return as_neighbours(found.challenge, relation)
    if not isinstance(entry, tuple) or len(entry) != 2:
        raise InvalidInput(f"a saved menu holds names and tables, not {entry!r}")
    return as_neighbours(about_alice(Table(ALICE, tuple(entry[0]), tuple(entry[1]))), relation)


def packed(numbers: np.ndarray) -> str:
    """An integer array as text: differences along its rows, compressed."""
    wide = np.asarray(numbers, dtype="<i4")
    steps = np.diff(wide, axis=1, prepend=np.int32(0)).astype("<i4")
    shape = ",".join(str(size) for size in wide.shape)
    return f"{shape}:" + base64.b85encode(zlib.compress(steps.tobytes(), 9)).decode("ascii")


def unpacked(text: str) -> np.ndarray:
    """The array of a :func:`packed` text, int32. Raises InvalidInput for any other text."""
    try:
        shape, _, data = "".join(text.split()).partition(":")
        rows, columns = (int(size) for size in shape.split(","))
        steps = np.frombuffer(zlib.decompress(base64.b85decode(data)), dtype="<i4")
        return np.cumsum(steps.reshape(rows, columns), axis=1, dtype=np.int32)
    except (ValueError, zlib.error):
        raise InvalidInput("the saved policy is damaged: its tables cannot be read") from None


def relation_named(text: str) -> Relation:
    """The neighbouring relation of that name. Raises InvalidInput for an unknown one."""
    if text not in RELATIONS:
        raise InvalidInput(f"no relation {text!r}; there are {', '.join(RELATIONS)}")
    return RELATIONS[text]


def policy_program(header: Sequence[str], values: Sequence[tuple[str, Any]]) -> str:
    """The file: a header of comments, then ``Policy.read`` with the values by name."""
    lines = [f"# {printable(' '.join(line.splitlines()))}".rstrip() for line in header]
    lines += ["", "from simulator.worst.policy import Policy", "", "policy = Policy.read("]
    for name, value in values:
        if isinstance(value, str) and len(value) > _LINE:
            lines.append(f"    {name}=(")
            lines += [f"        {value[i : i + _LINE]!r}" for i in range(0, len(value), _LINE)]
            lines.append("    ),")
        elif isinstance(value, tuple) and value and not isinstance(value[0], int | float):
            lines.append(f"    {name}=(")
            lines += [f"        {item!r}," for item in value]
            lines.append("    ),")
        else:
            lines.append(f"    {name}={value!r},")
    return "\n".join([*lines, ")", f"{NAME} = policy.adversary", ""])
