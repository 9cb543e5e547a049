"""The folders of ``simulator/``: rooms of the core with their floors, and shelves that stand on it.

This list is the only one. The test of import directions enforces it, and CONTRIBUTING's table is
made from it: ``python -m tests.helpers.rooms`` prints the table.
"""

from typing import NamedTuple


class Room(NamedTuple):
    """A folder of the core, its floor and what is in it."""

    floor: int
    name: str
    purpose: str


class Shelf(NamedTuple):
    """A folder that stands on the core, and can be deleted.

    ``on`` names the other shelves that it may import: it does not work without them.
    """

    name: str
    purpose: str
    on: tuple[str, ...] = ()


ROOMS = (
    Room(
        1,
        "foundations",
        "errors, checks on plain values, the only place that makes random generators, ties of "
        "losses and thresholds, files, extensions, progress",
    ),
    Room(
        1,
        "identity",
        "what a value or a function is made of: equal or not, changed or not, installed or the "
        "user's",
    ),
    Room(
        2,
        "theory",
        "the independent witness: `laws/`, `pld/`, `bounds/`, `guarantees/`, `filters/`, "
        "`events/`; imports nothing of the simulation",
    ),
    Room(
        2,
        "data",
        "databases as multisets of records, neighbouring relations, tables, `queries/` and their "
        "sensitivities",
    ),
    Room(3, "mechanisms", "one file per mechanism: sample, loss, tilted law, guarantee, exact law"),
    Room(
        4,
        "adversaries",
        "the adversary's contract, the library, and `program/`: adversaries as state machines",
    ),
    Room(
        5,
        "engine",
        "one block of one experiment: Algorithm 1, the specification, sampling measures, "
        "`compiled/` and `enumerated/` rules; `views/`, `outcomes/`",
    ),
    Room(
        6,
        "runner",
        "blocks in parallel (the only importer of joblib), on disk in `store/`, on `clusters/`, "
        "resumed, merged",
    ),
    Room(
        7,
        "analysis",
        "from samples to numbers with intervals: `estimation/`, `rare/` events, results, bounds "
        "held against adversaries, `plots/`",
    ),
    Room(8, "doors", "the command line and what pytest loads: they parse, call and print"),
)
"""From the ground up. A room imports from rooms below it, and from its own floor without a ring."""

SHELVES = (
    Shelf(
        "worst",
        "the worst adaptive adversary, by certified search; `filters/` with a proved budget",
    ),
    Shelf(
        "training",
        "allocation, balls in bins, loaders, epochs, matrices of noise: laws and mechanisms; what "
        "a training loses as it is loaded",
        on=("auditing",),
    ),
    Shelf(
        "auditing",
        "black boxes, pipelines, accountants and declared likelihoods on trial; certified answers "
        "as data; assertions for test suites",
    ),
    Shelf(
        "teaching",
        "the `claims/` of the sources as checks, and `games/`: variants of the experiment",
        on=("training",),
    ),
    Shelf(
        "attacks",
        "the search for an adversary that breaks a claim; what it finds is a short program",
        on=("worst",),
    ),
    Shelf(
        "studies",
        "many games as one: tasks, a stopping rule, a table on disk, comparison of two tables",
    ),
)
"""Each imports the core, and registers by entry points as another package would."""

FLOORS = {"simulator": 0, "errors": 2} | {room.name: room.floor for room in ROOMS}
"""The package itself, floor 0, has nothing but its version and the list of its names."""


def table() -> str:
    """CONTRIBUTING's table of rooms and shelves, in Markdown."""
    rows = ["| floor | folder | what is in it |", "|---|---|---|"]
    rows += [f"| {room.floor} | `simulator/{room.name}/` | {room.purpose} |" for room in ROOMS]
    for shelf in SHELVES:
        needs = f" (needs {', '.join(shelf.on)})" if shelf.on else ""
        rows.append(f"| shelf | `simulator/{shelf.name}/` | {shelf.purpose}{needs} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
