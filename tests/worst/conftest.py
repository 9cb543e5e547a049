"""Call the command line as its own tests do."""

from tests.doors.cli.conftest import dpcompose

__all__ = ["dpcompose"]
