from .accountants import (
    Limits as Limits,
    Truths as Truths,
    check_names as check_names,
    try_accountants as try_accountants,
)
from .client import Worker as Worker
from .compositions import (
    Case as Case,
    cases as cases,
    known_nasty as known_nasty,
)
from .events import PrivacyEvent as PrivacyEvent
from .known_libraries import (
    MODULES as MODULES,
    names as names,
)
from .protocol import (
    Accountant as Accountant,
    FilterUnderTest as FilterUnderTest,
    Library as Library,
    OdometerUnderTest as OdometerUnderTest,
    Reading as Reading,
    Spend as Spend,
    Subject as Subject,
)
from .report import (
    LibraryReport as LibraryReport,
    rows as rows,
    to_json as to_json,
    to_markdown as to_markdown,
)
from .running import (
    statuses as statuses,
    tried as tried,
)
from .verdicts import (
    Judged as Judged,
    Ruling as Ruling,
)

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
