"""Read a stored run back as a result: nothing in its folder is executed, unpickled or changed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from simulator.adversaries import registry
from simulator.data.databases import RELATIONS, Relation
from simulator.engine.outcomes.tally import PLAIN, WEIGHTED, counted_in
from simulator.engine.sampling import Sampling, parse_sampling
from simulator.engine.specification import MADE_OF, Specification
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.files import folder_path
from simulator.identity.fingerprint import FORMAT
from simulator.runner.gathering import Gathered
from simulator.runner.measured import Measured
from simulator.runner.play import from_record
from simulator.runner.progress import Progress
from simulator.runner.store import RunStore
from simulator.runner.store.log import Block, Location
from simulator.runner.store.manifest import differences_between
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

_VIEWS = ("trials", "coins", "answers")


@dataclass(frozen=True)
class UnknownAdversary:
    """In place of the adversary of a stored run: a folder has its name, not its code."""

    name: str

    def __call__(self, coins: np.random.Generator) -> Generator[Any, Any, None]:
        """Raise InvalidInput: it can be neither played nor replayed."""
        raise InvalidInput(
            f"the folder has the name of {self.name}, not its code: pass adversary= to Result.load"
        )


def load_measured(
    folder: str | PathLike[str],
    *,
    adversary: Callable[..., Any] | None = None,
    family: Guarantee | None = None,
    relation: Relation | None = None,
    sampling: Sampling | None = None,
    filter: Filter | None = None,
) -> Measured:
    """Return what a run that ``simulate(..., out=folder)`` stored has measured.

    A folder has names and texts, and what has a text is made from it. An adversary of the library
    is found by its name, and used if its code has not changed. Without ``adversary`` any other has
    a stand-in: all estimates are the same, and ``replay`` is refused. So has each in a folder of a
    version that took code apart otherwise.

    Of a run that was interrupted, or of a part that begins with block 0, the result is that of the
    longest run of whole blocks, from the first on, that every stored experiment has; a line on
    standard error says so.

    Parameters
    ----------
    folder : it is only read.
    adversary, family, relation, sampling, filter : what was played, where its text does not say
        it: a function of your own, a class of your own, a steered measure. Each must be what it
        was when the run was stored.

    Raises
    ------
    InvalidInput : there is no run, or no block 0 of it; something has no text to be read from, or
        is not what it was.
    """
    given = {
        "adversary": adversary, "family": family, "relation": relation,
        "sampling": sampling, "filter": filter,
    }  # fmt: skip
    with RunStore.load(_folder(folder)) as store, Progress(False) as bar:
        if store.dropped:
            bar.notice(store.dropped)
        whole = specified(
            store, {name: value for name, value in given.items() if value is not None}
        )
        there = Stored(store, whole)
        s = there.longest_prefix()
        if s.trials < whole.trials:
            bar.notice(
                f"{store.folder} holds {s.trials} of {whole.trials} trials from the first on; the "
                "result is that of these"
            )
        gathered = Gathered(s, there.experiments)
        for record in there.records(s):
            gathered.add(_read(store, s, record))
    return gathered.measured(0.0, 0.0, 0)


def _folder(folder: str | PathLike[str]) -> Path:
    """The folder as a path; raises InvalidInput if it has no run."""
    path = folder_path(folder, "folder")
    if not path.is_dir():
        raise InvalidInput(f"{path} is not the folder of a run")
    return path


def specified(store: RunStore, given: Mapping[str, Any]) -> Specification:
    """The specification of a folder, from its texts and from the given objects.

    Raises InvalidInput.
    """
    content, goal = store.specification(), store.goal()
    try:
        texts = {name: str(content[name]) for name in MADE_OF}
        numbers = {name: content[name] for name in ("rounds", "seed", "block_size", "trace")}
        numbers |= {name: goal[name] for name in ("trials", "keep_views")}
        code = dict(content["code"])
    except (KeyError, TypeError, ValueError):
        raise InvalidInput(f"{store.folder} holds no run of this program") from None
    parts = {
        name: given[name] if name in given else _made(name, texts[name])
        for name in MADE_OF
        if name != "adversary"
    }
    family = parts["family"]
    stand_in = UnknownAdversary(texts["adversary"])
    played = given.get("adversary") or _of_library(texts["adversary"], family, numbers["rounds"])
    s = Specification(played or stand_in, **parts, **numbers)
    changed = dict(s.code.parts)["adversary"] != code.get("adversary")
    if "adversary" not in given and (changed or content.get("fingerprint_format") != FORMAT):
        s = replace(s, adversary=stand_in)
    if s.adversary is stand_in and s.sampling is not None:
        raise InvalidInput(
            f"{store.folder} is a weighted sample, and what its weights promise depends on the "
            f"adversary {stand_in.name}: pass adversary="
        )
    _require_same(store.folder, s, content, unknown=s.adversary is stand_in)
    return s


def _made(name: str, text: str) -> Any:
    """A part of what was played, from its text; raises InvalidInput that says what to pass."""
    read: dict[str, Callable[[str], Any]] = {
        "family": parse_guarantee,
        "relation": RELATIONS.__getitem__,
        "sampling": parse_sampling,
        "filter": parse_filter,
    }
    if text == "None" and name in ("sampling", "filter"):
        return None
    try:
        return read[name](text)
    except (DpcomposeError, KeyError):
        raise InvalidInput(
            f"the {name} {text!r:.80} cannot be made from its text: pass {name}="
        ) from None


def _of_library(name: str, family: Guarantee, rounds: Any) -> Callable[..., Any] | None:
    """The library's adversary of that name for the family, or None."""
    if name not in {entry.name for entry in registry.entries()}:
        return None
    try:
        return registry.make(name, family, rounds)
    except DpcomposeError:
        return None


def _require_same(
    folder: Path, s: Specification, content: Mapping[str, Any], *, unknown: bool
) -> None:
    """Raise InvalidInput where the specification is not the stored one, except for a stand-in."""
    there, here = dict(content), s.identity()
    if unknown:
        comparable = there.get("fingerprint_format") == FORMAT
        for each in (there, here):
            code = each["code"] if comparable else {}
            each["code"] = {k: v for k, v in code.items() if k != "adversary"}
            each |= {"not_covered": [], "fingerprint_format": FORMAT}
    if differing := differences_between(there, here, "there", "here"):
        raise InvalidInput(
            f"{folder} was played with something else ({differing}): pass what was played, as "
            f"{' or '.join(f'{name}=' for name in MADE_OF)}"
        )


@dataclass(frozen=True)
class Piece:
    """A record: its location, its last trial, its views, and whether its losses are counted."""

    place: Location
    end: int
    views: int
    counted: bool

    @classmethod
    def of(cls, place: Location, record: Block, s: Specification) -> Piece:
        """Read a record; ``end`` is the number of trials up to its last one."""
        counted = not {PLAIN, WEIGHTED}.isdisjoint(record.arrays)
        if place.adds or place.blocks > 1:
            last = s.block_size
        elif counted:
            last = counted_in(record.arrays)[1].trials
        else:
            last = record.arrays.get("losses", np.zeros(0)).size
        end = (place.block + place.blocks - 1) * s.block_size + last
        return cls(place, end, record.arrays.get("trials", np.zeros(0)).size, counted)


class Stored:
    """The records of a folder, and how far they go without a gap."""

    def __init__(self, store: RunStore, specification: Specification) -> None:
        self.store = store
        self.specification = s = specification
        self.pieces: dict[int, list[Piece]] = {}
        for place in store.locations():
            piece = Piece.of(place, store.record(place), s)
            self.pieces.setdefault(place.experiment, []).append(piece)
        self.experiments = sorted(self.pieces)
        if not self.experiments or not {0, 1}.issuperset(self.experiments):
            raise InvalidInput(f"{store.folder} holds no block yet: play the run first")

    def longest_prefix(self) -> Specification:
        """The specification, with the trials and views that are stored without a gap from 0 on.

        Raises InvalidInput where block 0 of an experiment is not there.
        """
        s = self.specification
        trials = max(set.intersection(*map(self._ends, self.experiments)), default=0)
        if trials == 0:
            raise InvalidInput(
                f"{self.store.folder} does not hold block 0 of each experiment, as parts of a run "
                "do: merge them, or play what is missing"
            )
        cut = replace(s, trials=trials)
        used = list(self._within(cut))
        views = min((self._first_views(cut, piece) for piece in used), default=0)
        keep = "summary" if any(piece.counted for piece in used) else "losses"
        return replace(cut, keep_views=views, keep=keep)

    def _ends(self, b: int) -> set[int]:
        """The numbers of trials at which a record of the experiment ends, with no gap before it."""
        s, found, block = self.specification, set(), 0
        for piece in self.pieces[b]:
            if piece.place.block != block or piece.end > s.trials:
                break
            found.add(piece.end)
            block += piece.place.blocks
            if piece.end < block * s.block_size:  # a last, shorter block
                break
        return found

    def _within(self, s: Specification) -> Iterator[Piece]:
        """The records of the blocks that the specification has."""
        for b in self.experiments:
            yield from (piece for piece in self.pieces[b] if piece.place.block < s.blocks)

    def _first_views(self, s: Specification, piece: Piece) -> int:
        """The number of the first views that are stored, as far as one record shows."""
        first = piece.place.block
        return (
            s.keep_views
            if piece.views >= s.views_in(first)
            else (first * s.block_size + piece.views)
        )

    def records(self, s: Specification) -> Iterator[Block]:
        """The records of the specification, without the views that it does not keep."""
        for piece in self._within(s):
            record = self.store.record(piece.place)
            losses = record.arrays.get("losses")
            if losses is None or np.isnan(losses).any():  # unknown losses come with every view
                yield record
                continue
            kept = s.views_in(record.block)
            arrays = {
                name: array[:kept] if name in _VIEWS else array
                for name, array in record.arrays.items()
                if kept or name not in _VIEWS
            }
            yield replace(record, arrays=arrays)


def _read(store: RunStore, s: Specification, record: Block) -> Any:
    """The outcome that a record holds; raises InvalidInput for what no run leaves."""
    try:
        outcome = from_record(s, record)
    except InvalidInput as error:
        raise InvalidInput(f"{store.folder}: {error}") from None
    if outcome is None:
        raise InvalidInput(
            f"{store.folder}: experiment {record.experiment}, block {record.block} is shorter than "
            "its neighbours say"
        )
    return outcome
