"""Call the command line as its own tests do."""

from tests.helpers.command_line import dpcompose

__all__ = ["dpcompose"]
