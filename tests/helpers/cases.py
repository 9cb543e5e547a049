"""Cases in a loop: a failure names its case."""

from contextlib import contextmanager


@contextmanager
def case(*names):
    """Add the names of a case to whatever is raised within."""
    try:
        yield
    except Exception as error:
        error.add_note(f"case: {', '.join(map(str, names))}")
        raise
