"""Accountants, filters and odometers on trial, of other libraries and of this one.

A library has an adapter in :mod:`simulator.conformance.libraries`, which states what each of its
subjects claims; it runs in a process of its own. :func:`tried` holds every claim against certified
ends of the truth, and whatever falls short is computed a second way before it is called a defect.
"""

from simulator.conformance.client import Worker
from simulator.conformance.compositions import Case, cases
from simulator.conformance.events import PrivacyEvent
from simulator.conformance.libraries import MODULES
from simulator.conformance.protocol import (
    Accountant,
    FilterUnderTest,
    Library,
    OdometerUnderTest,
    Reading,
    Spend,
    Subject,
)
from simulator.conformance.report import LibraryReport, rows, to_json, to_markdown
from simulator.conformance.running import statuses, tried
from simulator.conformance.trial import Limits, Truths, check_names, try_accountants
from simulator.conformance.verdicts import Judged, Ruling

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
    "rows",
    "statuses",
    "to_json",
    "to_markdown",
    "tried",
    "try_accountants",
]
