"""What make knows: data depend on the code they used, pictures on their data and the style."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from experiments import stages

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"
FILES = (
    "pyproject.toml",
    ".venv/.ready",
    "experiments/figures/a.py",
    "experiments/drawing/look.py",
    "simulator/used.py",
    "simulator/other.py",
    "simulator/analysis/plots/style.py",
    "build/depends/a.d",
    "results/data/a.json",
    "results/figures/a.svg",
    "results/figures/a.png",
)  # oldest first

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def project(tmp_path):
    shutil.copy(MAKEFILE, tmp_path / "Makefile")
    for age, name in enumerate(FILES):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (1e9 + age, 1e9 + age))
    (tmp_path / "simulator/analysis/plots/__pycache__").mkdir()
    (tmp_path / "build/depends/a.d").write_text("results/data/a.json: simulator/used.py\n")
    return tmp_path


def stages_run(project):
    environment = {key: text for key, text in os.environ.items() if not key.startswith("MAKE")}
    planned = subprocess.run(
        ["make", "--dry-run", "plots"],
        cwd=project, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return re.findall(r"-m experiments (\w+) a", planned.stdout)


def test_nothing_is_done_twice(project):
    assert stages_run(project) == []


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize(
    ("touched", "run"),
    [
        ("simulator/used.py", ["simulate", "draw"]),
        ("results/data/a.json", ["draw"]),
        ("simulator/analysis/plots/style.py", ["draw"]),
        ("simulator/other.py", []),
        ("experiments/figures/a.py", ["simulate", "draw"]),
        ("experiments/drawing/look.py", ["draw"]),
        ("simulator/analysis/plots/__pycache__", []),
    ],
)
def test_what_a_change_makes_stale(project, touched, run):
    (project / touched).touch()
    assert stages_run(project) == run


def test_before_the_first_run_every_source_counts(project):
    (project / "build/depends/a.d").unlink()
    (project / "simulator/other.py").touch()
    assert stages_run(project) == ["simulate", "draw"]


@pytest.mark.sampled
@pytest.mark.parametrize("missing", ["svg", "png"])
def test_a_missing_picture_is_drawn_again(project, missing):
    (project / f"results/figures/a.{missing}").unlink()
    assert stages_run(project) == ["draw"]


def test_every_figure_has_its_results_committed():
    for name in stages.names():
        assert stages.data_path(name).exists()
        for kind in ("svg", "png"):
            assert (stages.RESULTS / "figures" / f"{name}.{kind}").exists()
