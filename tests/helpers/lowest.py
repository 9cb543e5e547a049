"""The lowest versions that pyproject.toml declares, as pip's constraints: a line each.

``python tests/helpers/lowest.py`` prints them; ``make lowest`` installs and tries them.
"""

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def lowest():
    """The declared requirements, each at its lower bound: ``numpy==2.1``."""
    declared = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    assert all(">=" in each for each in declared), "a requirement without a lower bound"
    return [each.replace(">=", "==") for each in declared]


if __name__ == "__main__":
    print("\n".join(lowest()))
