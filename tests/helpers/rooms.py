"""The map of the house: which rooms there are, on which floor, and what lives in each.

This list is the only one. The test of import directions enforces it, and README's table is made
from it: ``python -m tests.helpers.rooms`` prints the table.
"""

from typing import NamedTuple


class Room(NamedTuple):
    """Modules or folders of ``simulator/`` that share a floor and a purpose."""

    floor: int
    names: tuple[str, ...]
    purpose: str


ROOMS = (
    Room(
        1,
        ("errors", "validation", "seeds"),
        "what a user can do wrong; checks on plain values; the only place that makes random "
        "generators",
    ),
    Room(
        1,
        ("ties",),
        "losses that equal a threshold but for rounding: the one rule of every tail",
    ),
    Room(
        1,
        ("digits",),
        "the first twelve significant digits of floats: the one rule of every look at answers",
    ),
    Room(
        1,
        ("deferred",),
        "functions of scipy, imported when they are first called",
    ),
    Room(
        1,
        ("stages",),
        "what a long computation is doing, told to whoever shows it",
    ),
    Room(
        1,
        ("wording",),
        "counts in words: one round, two rounds",
    ),
    Room(
        1,
        ("theory",),
        "privacy loss distributions, bounds, concentration, filters; the independent witness, "
        "imports nothing of the simulation",
    ),
    Room(
        1,
        ("estimation",),
        "from samples to numbers with intervals",
    ),
    Room(
        1,
        ("store",),
        "results on disk with what made them",
    ),
    Room(
        1,
        ("plots",),
        "pictures",
    ),
    Room(
        2,
        ("data",),
        "databases, neighbouring relations, tables, two real data sets, reconstruction attacks",
    ),
    Room(
        3,
        ("queries",),
        "queries and their sensitivities",
    ),
    Room(
        4,
        ("mechanisms",),
        "one file per mechanism: sample, loss, tilted law, guarantee, exact law of the loss",
    ),
    Room(
        5,
        ("adversaries",),
        "the contract of an adversary, and the library",
    ),
    Room(
        6,
        ("declared",),
        "declared likelihoods held against a mechanism's own draws",
    ),
    Room(
        6,
        ("play",),
        "what is played, and one block of it: specification, sampling measures, menu, "
        "compiled and interpreted engines, outcome, views",
    ),
    Room(
        7,
        ("run", "result", "measured"),
        "blocks in parallel, resumed and interrupted (the only importer of joblib); what a "
        "run measured",
    ),
    Room(
        8,
        ("rare", "worst", "auditing", "verification", "claims", "conformance"),
        "measures for rare events; worst adaptive adversaries, searched, certified and played; "
        "black boxes on trial; bounds held against adversaries; the claims of the sources as "
        "checks, a folder per source; accountants, filters and odometers of other libraries on "
        "trial",
    ),
    Room(
        9,
        ("cli",),
        "the command line: parses, calls, prints",
    ),
    Room(
        9,
        ("testing", "pytest_plugin"),
        "assertions for a test suite; the pytest plugin, which divides one false-alarm budget "
        "over them",
    ),
)
"""From the ground up. Rooms of one floor may use one another, but not in a ring."""

FLOORS = {"simulator": 0} | {name: room.floor for room in ROOMS for name in room.names}
"""The package itself, floor 0, holds nothing but its version and the list of public names."""

PACKAGES = {
    "theory", "estimation", "store", "plots", "data", "queries", "mechanisms", "adversaries",
    "declared", "play", "run", "rare", "worst", "auditing", "claims", "conformance", "cli",
    "testing",
}  # fmt: skip
"""The rooms that are folders; the others are single files."""


def table() -> str:
    """README's table of rooms, in Markdown."""
    rows = ["| floor | room | what lives there |", "|---|---|---|"]
    for room in ROOMS:
        paths = ", ".join(
            f"`simulator/{name}/`" if name in PACKAGES else f"`simulator/{name}.py`"
            for name in room.names
        )
        rows.append(f"| {room.floor} | {paths} | {room.purpose} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
