"""The packages of ``simulator/``, called rooms: their floors and purposes.

This list is the only one. The test of import directions enforces it, and README's table is made
from it: ``python -m tests.helpers.rooms`` prints the table.
"""

from typing import NamedTuple


class Room(NamedTuple):
    """A folder of ``simulator/``, its floor and its purpose."""

    floor: int
    name: str
    purpose: str


ROOMS = (
    Room(
        1,
        "foundations",
        "errors, checks on plain values, the only place that makes random generators, ties of "
        "losses and thresholds, files, progress",
    ),
    Room(
        2,
        "theory",
        "the independent witness: `laws/`, `pld/`, `bounds/`, `guarantees/`, `filters/`, "
        "`events/`; imports nothing of the simulation",
    ),
    Room(
        2,
        "identity",
        "what a value or a function is made of: equal or not, changed or not, installed or the "
        "user's",
    ),
    Room(
        2,
        "data",
        "databases as multisets of records, neighbouring relations, tables, `queries/` and their "
        "sensitivities",
    ),
    Room(3, "mechanisms", "one file per mechanism: sample, loss, tilted law, guarantee, exact law"),
    Room(4, "adversaries", "the adversary's contract, and the library of adversaries"),
    Room(
        5,
        "engine",
        "one block of one experiment: specification, sampling measures, and the engines "
        "`interpreted/`, `compiled/`, `enumerated/`; `views/`, `outcomes/`",
    ),
    Room(5, "worst", "the worst adaptive adversary of a finite game, by certified search"),
    Room(
        6,
        "runner",
        "blocks in parallel (the only importer of joblib), on disk in `store/`, on `clusters/`, "
        "resumed, merged",
    ),
    Room(
        7,
        "analysis",
        "from samples to numbers with intervals: `estimation/`, `rare/` events, results, declared "
        "likelihoods, bounds held against adversaries, `plots/`",
    ),
    Room(
        8,
        "trials",
        "black boxes (`auditing/`), accountants, filters and odometers (`conformance/`) on trial; "
        "certified answers as data (`truths/`); `suite/` and `libraries/` are what is tried; "
        "assertions for test suites",
    ),
    Room(
        8,
        "games",
        "variants of the experiment, one file each in `library/`: rows of exact values, plays, "
        "bounds and wrong claims, compared",
    ),
    Room(
        8,
        "study",
        "many games as one: tasks, a stopping rule, a table on disk, comparison of two tables",
    ),
    Room(
        8, "claims", "the claims of lecture notes and papers as checks, in `ledger/`"
    ),
    Room(9, "doors", "the command line and the pytest plugin: they parse, call and print"),
)
"""From the ground up. Rooms of one floor may use one another, but not in a ring."""

FLOORS = {"simulator": 0, "moved": 0, "errors": 1} | {room.name: room.floor for room in ROOMS}
FLOORS |= dict.fromkeys(("estimation", "queries", "testing"), 9)
"""The package itself, floor 0, has nothing but its version and the lists of names that it
has and had. Beside the rooms stand ``errors``, which is public, and paths that have moved."""


def table() -> str:
    """README's table of rooms, in Markdown."""
    rows = ["| floor | room | what is in it |", "|---|---|---|"]
    rows += [f"| {room.floor} | `simulator/{room.name}/` | {room.purpose} |" for room in ROOMS]
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
