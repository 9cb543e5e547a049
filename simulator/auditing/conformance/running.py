"""The test of a library: accountants, filters, odometers, and programs that show its defects."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulator.auditing.conformance.accountants import Limits, Truths, try_accountants, worker_for
from simulator.auditing.conformance.client import Lost, Worker
from simulator.auditing.conformance.compositions import Case
from simulator.auditing.conformance.defects import Defect, distinct, raised
from simulator.auditing.conformance.events import listed
from simulator.auditing.conformance.known_libraries import MODULES, find, why_absent
from simulator.auditing.conformance.report import LibraryReport
from simulator.auditing.conformance.searched import worst_of_filter, worst_of_odometer
from simulator.auditing.conformance.spending import play_filter, play_odometer
from simulator.auditing.conformance.verdicts import Judged, Ruling, judge
from simulator.foundations import children
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added
from simulator.theory import Bracket

_LINES = 12
"""The largest number of lines of a program's output that are kept."""
_PLAYS = {
    "filter": (play_filter, worst_of_filter),
    "odometer": (play_odometer, worst_of_odometer),
}
_SNIPPET_SECONDS = 60.0
ENDED = "(ended by signal"
ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt)\b")
"""The beginning of the last line of a program that raised."""


@dataclass(frozen=True)
class Status:
    """Whether a library can be tested.

    Attributes
    ----------
    absent : why it cannot, or "".
    """

    name: str
    absent: str


def statuses(names: Sequence[str]) -> list[Status]:
    """The status of each library by name. Raises InvalidInput for an unknown one.

    An entry point that cannot be loaded is absent: it does not hide the other libraries.
    """
    return [Status(name, _absent(name)) for name in names]


def _absent(name: str) -> str:
    """Why a library is absent; of another package's entry point, why it cannot be loaded."""
    if name in MODULES or name.endswith(".py") or name not in added("libraries"):
        return why_absent(find(name))
    try:
        return why_absent(find(name))
    except InvalidInput as error:
        return str(error)


def tried(
    name: str,
    cases: Sequence[Case],
    *,
    limits: Limits | None = None,
    truths: Truths | None = None,
    python: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> LibraryReport:
    """Test all subjects of a library; the parameters are those of ``try_accountants``."""
    limits = limits or Limits()
    found = try_accountants(
        name, cases, limits=limits, truths=truths, python=python, progress=progress
    )
    report = LibraryReport(found)
    if found.absent:
        return report
    with worker_for(name, python) as worker:
        for subject in found.subjects:
            if subject["role"] == "accountant":
                continue
            if progress:
                progress(f"{name}: {subject['name']}")
            plays = _PLAYS[subject["role"]]
            for play in plays:
                report.played += play(worker, name, subject["name"], seconds=limits.seconds)
        report.defects = distinct(found, report.played)
        for defect in report.defects:
            show(defect, worker, python or sys.executable)
    return report


def show(defect: Defect, worker: Worker, python: str) -> None:
    """Write the program that shows a defect, and run it in another process."""
    example = defect.example
    request: dict[str, object] = {"do": "snippet", "subject": defect.subject}
    if isinstance(example, Judged):
        request |= {"events": listed(example.events)}
        request |= {"question": example.question, "at": example.at}
    else:
        request |= {"spends": [list(spend) for spend in example.spends]}
        request |= {"opened": list(example.opened)}
    try:
        if worker.lost:
            worker.start()
        defect.snippet = worker.ask(request, 30.0).get("text", "")
    except Lost:
        return
    if defect.snippet:
        defect.printed = ran(defect.snippet, python)
        _check_printed(defect)


def _check_printed(defect: Defect) -> None:
    """Mark a defect that its program does not show as unconfirmed."""
    if not shows(defect):
        defect.confirmed = False
        last = defect.printed.strip().splitlines()[-1:] or ["nothing"]
        defect.truths += (f"by itself the program prints {last[0]!r}, which does not show it",)


def shows(defect: Defect) -> bool:
    """Whether what the program printed shows the defect.

    A failure by an exception needs that exception: one that is caused by the memory limit of the
    worker is not a defect. A number must have the verdict of the number in the test.
    """
    lines = defect.printed.strip().splitlines()
    last = lines[-1] if lines else ""
    judged = defect.example
    if (place := raised(judged.why)) is not None:
        return last.startswith(judged.why[: place.start()].partition(":")[0])
    if not isinstance(judged, Judged):  # what it prints is a list of admissions or readings
        return bool(lines) and ERROR.match(last) is None
    if judged.truth is None and judged.verdict == Ruling.UNSOUND:
        return True
    if math.isnan(judged.claimed) and judged.why != "returns NaN":  # its process ended
        return last.startswith(ENDED)
    try:
        printed = float(last.split()[-1].removeprefix("np.float64(").rstrip(")"))
    except (IndexError, ValueError):
        return False
    truth = judged.truth or Bracket(0.0, math.inf)
    return judge(judged.question, printed, truth)[0] == defect.verdict


def ran(program: str, python: str, seconds: float = _SNIPPET_SECONDS) -> str:
    """The last lines that a program prints, with its exception if it raises one."""
    # absolute, because the program runs in another folder; links are not resolved, because a
    # virtual environment is identified by the path of its interpreter
    python = os.path.abspath(python)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        try:
            process = children.begin(
                python,
                ["-W", "ignore", "-c", program],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            return f"({python} cannot be started: {error.strerror})"
        try:
            output, complaint = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"(no end within {seconds:g} s)"
        finally:
            children.end(process)
    lines = output.decode(errors="replace").splitlines()
    if process.returncode < 0:
        lines.append(f"{ENDED} {-process.returncode})")
    elif process.returncode:
        lines += complaint.decode(errors="replace").strip().splitlines()[-1:]
    lines = [line[:200] for line in lines]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[:4], "...", *lines[-6:]])
