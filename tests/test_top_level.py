"""The top level of the repository: what a run leaves beside the project is not committed."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOP = {
    ".ci", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CITATION.cff",
    "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "experiments", "hatch_build.py",
    "pyproject.toml", "results", "simulator", "tests",
}  # fmt: skip


def strangers(paths):
    """The first parts of paths that do not belong to the top level."""
    return {path.split("/")[0] for path in paths} - TOP


def test_nothing_else_is_tracked_at_the_top_level():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, so nothing says what is tracked")
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("git does not read this checkout")
    assert strangers(done.stdout.split("\n")[:-1]) == set()


def test_a_folder_that_a_library_left_is_found():
    assert strangers(["tests/a.py", "tmpx1/training/log"]) == {"tmpx1"}
