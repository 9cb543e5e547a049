"""Sessions of pytest inside a test, with the plugin as it is in this checkout."""

import os
from importlib.metadata import entry_points

import pytest

import simulator.auditing.testing  # noqa: F401  (before a session inside, which forgets what it imports)
from experiments import stages
from tests.auditing.pytest_plugin import stub_audit


def is_installed():
    return any(each.name == "dpcompose" for each in entry_points(group="pytest11"))


@pytest.fixture
def session(pytester, monkeypatch):
    """Run pytest on files in a folder of its own: ``session(*arguments, subprocess=False)``."""
    monkeypatch.setenv("PYTHONPATH", str(stages.ROOT), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("CI", "BUILD_NUMBER"):  # with these set, pytest says each failure twice
        monkeypatch.delenv(name, raising=False)
    plugin = () if is_installed() else ("-p", "simulator.auditing.pytest_plugin")

    def run(*arguments, subprocess=False):
        call = pytester.runpytest_subprocess if subprocess else pytester.runpytest_inprocess
        return call(*plugin, *arguments)

    return run


@pytest.fixture
def stubbed(monkeypatch):
    """Audits that draw nothing, see ``stub_audit``."""
    stub_audit.install(monkeypatch)
