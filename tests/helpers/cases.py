"""Cases in a loop, of which a failure says in which it was, and cases that wait for the night."""

from contextlib import contextmanager

import pytest

NIGHTLY = pytest.mark.nightly


@contextmanager
def case(*names):
    """Add the names of a case to whatever is raised within."""
    try:
        yield
    except Exception as error:
        error.add_note(f"case: {', '.join(map(str, names))}")
        raise


def mostly_nightly(values, daily=1):
    """Parameters of which all but the first ``daily`` are for ``make nightly``."""
    return [
        value
        if place < daily
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=NIGHTLY)
        for place, value in enumerate(values)
    ]
