"""The sweeps of all claims as a committed result: ``results/knobs.json``, made by ``make knobs``.

The claims of one file of the ledger are played in a process of their own, so that no cache hides
what they call. Each such group is stored with the files of this project that its checks called,
and a digest of them: only what has changed is played again.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
import textwrap
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments import stages
from experiments.results.digests import code
from experiments.site import knobs
from experiments.site.knobs import Sweep, numbers_of, plain, read, turned
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.foundations.files import write_text
from simulator.foundations.stages import stage
from simulator.runner.progress import on_a_terminal
from simulator.runner.store.provenance import provenance
from simulator.teaching.claims import Claim, all_claims

PATH = stages.RESULTS / "knobs.json"


@dataclass(frozen=True)
class Played:
    """The claims of one file of the ledger, played.

    Attributes
    ----------
    uses : the files that the checks called, relative to the project.
    digest : of these files when the claims were played.
    checks : the digest of each claim's check by the claim's id.
    sweeps : the sweeps of each claim, by its id.
    provenance : of the play.
    """

    uses: tuple[str, ...]
    digest: str
    checks: Mapping[str, str]
    sweeps: Mapping[str, list[Sweep]]
    provenance: Mapping[str, Any] = field(default_factory=provenance)

    @property
    def is_of_this_code(self) -> bool:
        """Whether no file that the checks called has changed since they were played."""
        return digest_of(self.uses) == self.digest


def groups() -> dict[str, list[Claim]]:
    """The claims with knobs that are numbers, by the module of the ledger that has them."""
    claims = sorted(filter(numbers_of, all_claims()), key=lambda claim: claim.written[0])
    return {name: list(each) for name, each in groupby(claims, lambda claim: claim.written[0])}


def play(name: str) -> Played:
    """Play the claims of one module of the ledger."""
    called: set[str] = set()
    claims = groups()[name]
    sweeps = {claim.id: turned(claim, called) for claim in claims}
    own = {stages.ROOT / "simulator", stages.ROOT / "experiments"}
    uses = sorted(
        path.relative_to(stages.ROOT).as_posix()
        for path in map(Path, called | {knobs.__file__})
        if own & set(path.parents)
    )
    checks = {claim.id: digest_of_check(claim) for claim in claims}
    return Played(tuple(uses), digest_of(uses), checks, sweeps)


def play_all(path: Path = PATH, jobs: int = 2) -> dict[str, Played]:
    """Play what is not stored, or has changed; what is done is written at once."""
    wanted, found = groups(), load(path) if path.exists() else {}
    current = {
        name: found[name]
        for name, claims in wanted.items()
        if name in found and found[name].is_of_this_code and not faults(claims, found[name])
    }
    missing = [name for name in wanted if name not in current]
    total, count = sum(len(wanted[name]) for name in missing), 0
    # a process for each group: what another has cached would hide what is called
    with (
        ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1) as pool,
        stage("the knobs of the claims", total) as advance,
    ):
        running = {pool.submit(play, name): name for name in missing}
        for done in as_completed(running):
            name = running[done]
            current[name] = done.result()
            write(current, path)
            advance(len(wanted[name]))
            count += len(wanted[name])
            if not sys.stderr.isatty():
                print(f"played      {count} of {total} claims", file=sys.stderr)
    write(current, path)
    return current


def write(found: Mapping[str, Played], path: Path = PATH) -> None:
    """Write the sweeps, one claim on a line."""
    files = sorted({file for each in found.values() for file in each.uses})
    place = {file: number for number, file in enumerate(files)}
    parts = []
    for name in sorted(found):
        each = found[name]
        head = {
            "uses": [place[file] for file in each.uses],
            "digest": each.digest,
            "provenance": each.provenance,
        }
        rows = ",\n".join(
            f"  {json.dumps(id)}: "
            + json.dumps({"check": each.checks[id], "sweeps": [plain(one) for one in sweeps]})
            for id, sweeps in each.sweeps.items()
        )
        parts.append(f'{json.dumps(name)}: {json.dumps(head)[:-1]}, "claims": {{\n{rows}\n}}}}')
    listed = ",\n".join(parts)
    write_text(path, f'{{"files": {json.dumps(files, indent=0)},\n"modules": {{\n{listed}\n}}}}\n')


def load(path: Path = PATH) -> dict[str, Played]:
    """The stored sweeps by module. Raises InvalidInput where there are none."""
    if not path.exists():
        raise InvalidInput(f"no {path}, the sweeps of the claims; run: make knobs")
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Played(
            tuple(stored["files"][number] for number in each["uses"]),
            each["digest"],
            {id: one["check"] for id, one in each["claims"].items()},
            {id: [read(sweep) for sweep in one["sweeps"]] for id, one in each["claims"].items()},
            each["provenance"],
        )
        for name, each in stored["modules"].items()
    }


def faults(claims: Iterable[Claim], played: Played | None) -> list[str]:
    """What is missing, or was played with another check, another knob or another result."""
    printed = knobs.committed()
    found = []
    for claim in claims:
        sweeps = played.sweeps.get(claim.id) if played else None
        if played is None or sweeps is None:
            found.append(f"{claim.id} has no sweep")
        elif played.checks[claim.id] != digest_of_check(claim):
            found.append(f"the check of {claim.id} has changed")
        elif [s.knob for s in sweeps] != numbers_of(claim)[: len(sweeps)] or not sweeps:
            found.append(f"{claim.id} has other knobs")
        elif any(not is_of(sweep, claim, printed[claim.id]) for sweep in sweeps):
            found.append(f"{claim.id} has other values, or another result")
    return found


def is_of(sweep: Sweep, claim: Claim, result: Mapping[str, Any]) -> bool:
    """Whether a sweep has the claim's values, and its committed result where it is as printed."""
    default, altered = claim.parameters[sweep.knob], claim.wrong.get(sweep.knob)
    tried = knobs.values(default, altered)
    own = [(t.verdict, t.slack) for t in sweep.turns if t.value == default]
    return (
        (sweep.default, sweep.altered) == (default, altered)
        and own == [(result["verdict"], result["slack"])]
        and all(each.value in tried for each in sweep.turns)
    )


def digest_of_check(claim: Claim) -> str:
    """A digest of the code of a claim's check."""
    source = code(textwrap.dedent(inspect.getsource(claim.function)))
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def digest_of(files: Iterable[str]) -> str:
    """A digest of the code in files of this project, and of their names; one may be missing."""
    whole = "".join(f"{name} {digest_of_file(name)}\n" for name in files)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


@cache
def digest_of_file(name: str) -> str:
    """A digest of a file's code, without comments and docstrings; "" where there is no file."""
    path = stages.ROOT / name
    if not path.is_file():
        return ""
    return hashlib.sha256(code(path.read_text(encoding="utf-8")).encode()).hexdigest()


def main() -> int:
    """Play what has changed; print where it is."""
    try:
        with on_a_terminal():
            play_all()
    except KeyboardInterrupt:
        print("interrupted: what is played is kept", file=sys.stderr)
        return 130
    except DpcomposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InvalidInput) else 1
    print(f"written     {PATH}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
