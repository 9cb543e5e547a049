"""What the build does beyond pyproject.toml: a README that can be read away from the repository.

Its pictures and its links to files are relative, which is right in a checkout. An index of packages
shows the README alone: there the pictures are left out, and a link to a file is its text.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[[^\]]*\]\((?!\w+:)[^)]*\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)[^)]*\)")


def alone(readme: str) -> str:
    """The README without pictures of the repository, and without links into it."""
    return LINK.sub(r"\1", PICTURE.sub("", readme))


class Readme(MetadataHookInterface):
    """Give the package's metadata that README."""

    def update(self, metadata: dict) -> None:
        """Set the field ``readme``."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": alone(text)}
