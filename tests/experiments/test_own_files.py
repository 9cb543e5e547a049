"""What users write themselves: each file of the page is complete, and runs from the wheel."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from experiments import stages
from simulator.doors.cli import group

PAGES = stages.ROOT / "experiments" / "site" / "pages" / "howto"
OWN = (PAGES / "own.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| \[(\w+\.py)\]\(([\w#./-]+)\) \| (.+) \|$", OWN, flags=re.MULTILINE)
BROKEN = ("dpcompose conform", "pytest")
"""What exits with 1: these files are broken on purpose."""


def page_of(link):
    name = "own.md" if link.startswith("#") else link
    return (PAGES / name).read_text(encoding="utf-8")


def program_of(file, link):
    """The program on a page whose first line is the name of the file."""
    found = re.findall(rf"```python\n(# {re.escape(file)}\n.*?)```", page_of(link), flags=re.DOTALL)
    assert len(found) == 1, (file, link)
    return found[0]


def workflows():
    """The commands of the workflows on the page, one list each."""
    ci = page_of("ci.md")
    actions, gitlab = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", ci, flags=re.DOTALL))
    steps = actions["jobs"]["privacy"]["steps"]
    return [step["run"] for step in steps if "run" in step], gitlab["privacy"]["script"]


def commands():
    """What the page and the pages that it names say to run with the files."""
    files = {file for _, file, _, _ in ROWS}
    for _, file, _, with_what in ROWS:
        for one in re.findall(r"`([^`]+)`", with_what):
            yield one if " " in one else f"{one} {file}"
    for link in {link for _, _, link, _ in ROWS}:
        for line in re.findall(r"^    (dpcompose .+)$", page_of(link), flags=re.MULTILINE):
            if any(file in line for file in files):
                yield line
    for listed in workflows():
        yield from (line for line in listed if line.startswith(("pytest", "dpcompose")))


def test_every_kind_has_its_file_and_the_commands_name_them():
    assert len(ROWS) >= 14
    files = {file for _, file, link, _ in ROWS if program_of(file, link)}
    for command in commands():
        words = shlex.split(command)
        assert words[0] in ("python", "pytest", "dpcompose")
        assert {w.split(":")[0] for w in words if ".py" in w} <= files, command
        if words[0] == "dpcompose":
            called = group.get_command(click.Context(group), words[1])
            called.make_parser(click.Context(called)).parse_args(words[2:])  # every flag exists


def test_the_workflows_install_first():
    for listed in workflows():
        assert "pip install dpcompose pytest" in listed[0]


@pytest.mark.nightly
def test_the_files_run_from_the_wheel(tmp_path):
    """In a new environment without extras, in a folder that is not this checkout."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels, there = tmp_path / "wheels", tmp_path / "there"
    subprocess.run([*pip, "wheel", "--no-deps", "-w", wheels, stages.ROOT], check=True)
    (wheel,) = wheels.iterdir()
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    binaries = tmp_path / "env" / "bin"
    pip[0] = str(binaries / "python")
    subprocess.run([*pip, "install", wheel, "pytest", "pandas"], check=True)
    there.mkdir()
    for _, file, link, _ in ROWS:
        (there / file).write_text(program_of(file, link), encoding="utf-8")
    for command in dict.fromkeys(commands()):
        words = shlex.split(command)
        done = subprocess.run(
            [binaries / words[0], *words[1:]], cwd=there, capture_output=True, text=True
        )
        expected = 1 if command.startswith(BROKEN) else 0
        assert done.returncode == expected, (command, done.stdout[-2000:], done.stderr[-2000:])
        assert "Traceback" not in done.stderr
        assert done.stdout
    assert {path.name for path in Path(there).glob("conform.*")} == {"conform.xml", "conform.md"}
