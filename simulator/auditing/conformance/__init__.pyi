from .accountants import Limits, Truths, check_names, try_accountants
from .client import Worker
from .compositions import Case, cases, known_nasty
from .events import PrivacyEvent
from .known_libraries import MODULES, names
from .protocol import (
    Accountant,
    FilterUnderTest,
    Library,
    OdometerUnderTest,
    Reading,
    Spend,
    Subject,
)
from .report import LibraryReport, rows, to_json, to_markdown
from .running import statuses, tried
from .verdicts import Judged, Ruling

__all__ = [
    "MODULES",
    "Accountant",
    "Case",
    "FilterUnderTest",
    "Judged",
    "Library",
    "LibraryReport",
    "Limits",
    "OdometerUnderTest",
    "PrivacyEvent",
    "Reading",
    "Ruling",
    "Spend",
    "Subject",
    "Truths",
    "Worker",
    "cases",
    "check_names",
    "known_nasty",
    "names",
    "rows",
    "statuses",
    "to_json",
    "to_markdown",
    "tried",
    "try_accountants",
]
