"""Call the command line as its own tests do."""

from tests.helpers.command_line import adversary_file, dpcompose

__all__ = ["adversary_file", "dpcompose"]
