"""Builds a release, and tries it in fresh environments: ``make release``.

``python -m tests.helpers.release [--whole] PYTHON...`` writes the wheel and the source archive into
``dist/``. For each Python it collects what they require; the rest happens without a network,
without git on the path, in a folder whose path has spaces, with an empty home: the wheel is
installed without extras and used, the source archive is unpacked, installed and tested (the quick
tests; with ``--whole`` all of them). One line is printed for each; the exit code is 1 if one fails.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from tests.helpers import quick

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
PLACE = ROOT / "build" / "release"
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "hatchling", "editables")
NO_NETWORK = [shutil.which("unshare") or "", "--map-root-user", "--net"]
"""Where it is not permitted, proxies at a closed port have to do."""

FIXTURE = """
def noisy_count(rows, rng):
    return len(rows) + int(rng.geometric(0.5) - rng.geometric(0.5))

def test_noise(dp):
    dp.assert_private(noisy_count, [1] * 10, [1] * 9, claimed="pure:0.7", samples=40_000)
"""
PICTURE = """
import json
from pathlib import Path
import simulator
from simulator import Result
from simulator.data import datasets

if __name__ == "__main__":
    axes = Result.load("a run").plot("tail")
    axes.figure.savefig("tail of a run.png")
    assert Path("tail of a run.png").stat().st_size > 10_000
    assert {name: datasets.load(name).size for name in datasets.names()} == {
        "breast_cancer": 569, "iris": 150
    }
    home = Path(simulator.__file__).parent
    for licensed in (home / "data" / "datasets", home / "auditing" / "truths" / "data"):
        assert "Licence: " in (licensed / "README.md").read_text(encoding="utf-8")
"""


class Failed(Exception):
    """What was tried did not work; its text is what was printed."""


def run(command, folder, environment=None):
    """What a command prints; raises Failed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, timeout=3600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}")
    return done.stdout


class Place:
    """A fresh environment of one Python, with a home of its own."""

    def __init__(self, python, name, wheels):
        self.folder = PLACE / "a path with spaces" / f"{python.name} {name}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.bin = self.folder / "environment" / "bin"
        self.work = self.folder / "work"
        for each in (self.work, self.folder / "home", self.folder / "tmp"):
            each.mkdir(parents=True)
        self.wheels = wheels
        self.environment = {
            "PATH": str(self.bin), "HOME": str(self.folder / "home"), "LANG": "C.UTF-8",
            "TMPDIR": str(self.folder / "tmp"),
            "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels.as_uri(), "PIP_CONFIG_FILE": os.devnull,
            **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9"),
        }  # fmt: skip
        run([python, "-m", "venv", "--without-pip", self.bin.parent], PLACE)

    def run(self, *command):
        """What a command of the environment prints, without a network."""
        started = [*NO_NETWORK, self.bin / command[0], *command[1:]]
        return run(started, self.work, self.environment)

    def install(self, *what):
        """Install from the collected wheels."""
        pip = [sys.executable, "-m", "pip", "--python", self.bin / "python", "install", "--quiet"]
        run([*NO_NETWORK, *pip, "--no-compile", *what], self.work, self.environment)


def build():
    """The wheel and the source archive, made anew by ``build`` in an environment of its own."""
    tools = PLACE / "tools"
    if not (tools / "bin" / "pyproject-build").exists():
        run([sys.executable, "-m", "venv", tools], ROOT)
        run([tools / "bin" / "python", "-m", "pip", "install", "--quiet", "build"], ROOT)
    for old in DIST.glob("dpcompose-*"):
        old.unlink()
    run([tools / "bin" / "pyproject-build", "--outdir", DIST], ROOT)
    return next(DIST.glob("dpcompose-*.whl")), next(DIST.glob("dpcompose-*.tar.gz"))


def collect(python, wheel):
    """The folder of all that the wheel and its tests require, for one Python: needs a network."""
    wheels = PLACE / "wheels" / python.name
    asking = PLACE / "asking" / python.name
    shutil.rmtree(asking, ignore_errors=True)
    run([python, "-m", "venv", "--without-pip", asking], PLACE)
    pip = [sys.executable, "-m", "pip", "--python", asking / "bin" / "python", "download"]
    run([*pip, "--quiet", "--dest", wheels, wheel, *TOOLS], ROOT)
    for old in wheels.glob("dpcompose-*"):
        old.unlink()
    return wheels


def try_wheel(python, wheel, wheels, whole):
    """Use the wheel as the first pages do."""
    place = Place(python, "wheel", wheels)
    place.install(wheel)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    program, shown = re.search(
        r"```python\n(.*?)```.*?```text\n(.*?)```", readme, re.DOTALL
    ).groups()
    command, printed = re.search(r"\$ dpcompose (.*?)\n(.*?)```", readme, re.DOTALL).groups()
    programs = {"first program.py": program, "picture.py": PICTURE, "test_noise.py": FIXTURE}
    for name, text in programs.items():
        (place.work / name).write_text(text, encoding="utf-8")
    press = ["press-when-ahead", "--family", "pure:0.2", "--rounds", "10"]
    steps = {
        ("python", "first program.py"): shown,
        ("dpcompose", *command.split()): printed,
        ("dpcompose", "--version"): wheel.name.split("-")[1],
        ("dpcompose", "simulate", *press, "--trials", "500", "--out", "a run"): "press-when-ahead",
        ("dpcompose", "verify", *press, "--trials", "2000"): "press-when-ahead",
        ("dpcompose", "adversaries", "press-when-ahead", "--explain"): "press",
        ("python", "picture.py"): "",
    }
    for step, expected in steps.items():
        if expected not in (answer := place.run(*step)) or "Traceback" in answer:
            raise Failed(f"{' '.join(step)} does not print\n{expected}\nbut\n{answer}")
    place.install("pytest")
    place.run("python", "-m", "pytest", "-q", "test_noise.py")
    return f"installed without extras, {len(steps) + 1} uses"


def try_source(python, source, wheels, whole):
    """Install the unpacked source archive, and run its tests."""
    place = Place(python, "source", wheels)
    with tarfile.open(source) as archive:
        archive.extractall(place.folder, filter="data")
    place.work = place.folder / source.name.removesuffix(".tar.gz")
    place.install("--editable", place.work, "pytest", "pytest-xdist", "hypothesis")
    files = () if whole else quick.files()
    log = place.run(
        "python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-rs", "--tb=short", *files
    )
    (PLACE / f"{python.name} source.log").write_text(log, encoding="utf-8")
    return re.sub(r" in [\d.]+s.*", "", log.strip().splitlines()[-1].strip("= "))


def main(arguments):
    """Build, try both with each Python, print a line for each; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="run all tests, not the quick ones")
    parser.add_argument("pythons", nargs="+", type=Path, metavar="PYTHON")
    given = parser.parse_args(arguments)
    PLACE.mkdir(parents=True, exist_ok=True)
    if not NO_NETWORK[0] or subprocess.run([*NO_NETWORK, "true"]).returncode:
        NO_NETWORK.clear()
    wheel, source = build()
    print(*(f"{each.name}, {each.stat().st_size / 1e6:.1f} MB" for each in (wheel, source)))
    failures = 0
    for python in given.pythons:
        version = run([python, "--version"], ROOT).split()[1]
        wheels = collect(python, wheel)
        for what, attempt, tried in (("wheel", try_wheel, wheel), ("source", try_source, source)):
            start = time.monotonic()
            try:
                said = attempt(python, tried, wheels, given.whole)
            except Failed as error:
                failures += 1
                log = PLACE / f"{python.name} {what}.log"
                log.write_text(str(error), encoding="utf-8")
                said = f"FAILED, see {log.relative_to(ROOT)}"
            print(f"{version:8} {what:6}  {said}, {time.monotonic() - start:.0f} s", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
