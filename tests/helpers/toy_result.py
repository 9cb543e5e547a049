"""A small project with one result, to be made in the tests."""

import shutil

import pytest

from experiments.results import __main__ as command
from experiments.results import digests, listed, making, records

TOY = '''"""A result for the tests."""
import json, subprocess, sys
from pathlib import Path
from toy.helper import number

subprocess.run([sys.executable, "-m", "toy.worker"], check=True)
table = Path("toy/table.csv").read_text()
Path("results/toy.json").write_text(json.dumps({"number": number(), "table": table}))
Path("results/toy.md").write_text(f"# Toy\\n\\n{number()}\\n")
'''
HELPER = '''"""A helper."""


def number():
    """A number."""
    return 1  # one
'''
PROJECT = """[project]
name = "toy"
[project.entry-points.toys]
one = "toy.helper:number"
[project.scripts]
run = "toy.apart:main"
"""


class Project:
    """A project with one result, in a folder of its own."""

    toy = listed.Listed("toy", ("toy.json", "toy.md"), ("toy",), strict=True)

    def __init__(self, root):
        self.root = root

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def status(self):
        digests.forget()
        return records.status(self.toy)


def use(monkeypatch, project, others=()):
    everything = {each.name: each for each in (project.toy, *others)}
    monkeypatch.setattr(digests, "ROOT", project.root)
    monkeypatch.setenv("PYTHONPATH", str(project.root))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    for module in (records, command):
        monkeypatch.setattr(module, "listed", lambda: everything)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The project after its result was made."""
    root = tmp_path_factory.mktemp("project")
    project = Project(root)
    for folder in ("toy", "results"):
        (root / folder).mkdir()
    project.write("pyproject.toml", PROJECT)
    project.write("toy/__init__.py", "")
    project.write("toy/__main__.py", TOY)
    project.write("toy/helper.py", HELPER)
    project.write("toy/worker.py", "import toy.deep\n")
    project.write("toy/deep.py", "depth = 1\n")
    project.write("toy/apart.py", "nothing = 1\n")
    project.write("toy/table.csv", "a,b\n1,2\n")
    with pytest.MonkeyPatch.context() as patch:
        use(patch, project)
        assert making.make([project.toy]) == 0
    return project


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    root = tmp_path / "project"
    shutil.copytree(made.root, root)
    copy = Project(root)
    use(monkeypatch, copy)
    return copy
