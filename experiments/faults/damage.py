"""Stored runs that are cut, flipped and doubled: what is whole is kept, the rest played again."""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.faults.cases import Tally, line_or_equal
from simulator import Laplace, PureDP, rule, simulate
from simulator.analysis.result import Result
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.runner.store import RunStore

LOG, SPECIFICATION = "blocks.log", "specification.json"


@rule(menu=[(WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)),
            (WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.2))])  # fmt: skip
def press(state: Any, i: int, answer: float, coins: Any) -> Any:
    """Count Alice; after an answer that favours her presence, with half the noise."""
    return state, 1 if answer > 0.5 else 0


def play(folder: Path | None) -> Result:
    """The run: twenty blocks of 50 trials in each experiment."""
    return simulate(
        press, PureDP(0.2), 20, 1000, seed=3, block_size=50, jobs=1, out=folder, keep_views=3,
        progress=False,
    )  # fmt: skip


def same(first: Result, second: Result) -> bool:
    """Whether two results have the same bits."""
    return first.kept_views == second.kept_views and all(
        np.array_equal(first.losses(b), second.losses(b), equal_nan=True) for b in (0, 1)
    )


class Original:
    """A whole run, its files, and where its records begin and end."""

    def __init__(self, folder: Path) -> None:
        self.result = play(folder)
        self.log = (folder / LOG).read_bytes()
        self.specification = (folder / SPECIFICATION).read_bytes()
        store = RunStore.load(folder)
        places = store._locations.values()
        store.close()
        self.records = sorted((place.start, place.stop) for place in places)

    def played_in(self, folder: Path) -> str:
        """The outcome of playing the run in a folder; lines about damage are not shown."""
        with contextlib.redirect_stderr(io.StringIO()):
            return line_or_equal(lambda: same(play(folder), self.result))

    def outcome(self, log: bytes | None = None, specification: bytes | None = None) -> str:
        """The outcome of a run with other files in its place."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = {
                LOG: self.log if log is None else log,
                SPECIFICATION: self.specification if specification is None else specification,
            }
            for file, content in files.items():
                (folder / file).write_bytes(content)
            outcome = self.played_in(folder)
            if outcome == "lines" and files != {
                file: (folder / file).read_bytes() for file in files
            }:
                return "refused, but changed"
            if outcome == "equal":
                return self.played_in(folder)
            return outcome


def flipped(content: bytes, bit: int) -> bytes:
    """The content with one bit flipped."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def campaign(seed: int, quick: bool) -> Iterator[Tally]:
    """Every kind of damage."""
    draw = random.Random(seed)
    few, many = (10, 20) if quick else (100, 300)
    with tempfile.TemporaryDirectory() as name:
        original = Original(Path(name))
    log, specification, records = original.log, original.specification, original.records
    ends = sorted({0, *(edge for record in records for edge in record)})

    cut = Tally("log cut at every boundary of a record")
    for end in ends:
        cut.count(original.outcome(log[:end]))
    yield cut

    torn = Tally("log cut at a random byte")
    for _ in range(few):
        torn.count(original.outcome(log[: draw.randrange(len(log))]))
    yield torn

    for kind, content in ((LOG, log), (SPECIFICATION, specification)):
        turned = Tally(f"a bit flipped in {kind}")
        for bit in draw.sample(range(8 * len(content)), many):
            damaged = flipped(content, bit)
            turned.count(
                original.outcome(damaged) if kind == LOG
                else original.outcome(specification=damaged)
            )  # fmt: skip
        yield turned

    doubled = Tally("records doubled and out of order")
    for _ in range(few):
        some = draw.sample(records, draw.randrange(1, len(records)))
        again = b"".join(log[start:stop] for start, stop in some)
        doubled.count(original.outcome(log + again))
    yield doubled

    zeros = Tally("a stretch of zeros in the log, as a lost page")
    for _ in range(few):
        start = draw.randrange(len(log))
        length = min(draw.randrange(1, 4096), len(log) - start)
        zeros.count(original.outcome(log[:start] + bytes(length) + log[start + length :]))
    yield zeros

    yield other_json(original)


def other_json(original: Original) -> Tally:
    """Values of another kind wherever the specification has one."""
    tally = Tally(f"a value of another kind in {SPECIFICATION}")
    whole: dict[str, Any] = json.loads(original.specification)
    others: list[Any] = [None, 3, -1, 1e300, "text", [], {}, [[]], {"trials": "many"}]
    for key in whole:
        for value in others:
            changed = json.dumps(whole | {key: value}).encode()
            tally.count(original.outcome(specification=changed))
    return tally
