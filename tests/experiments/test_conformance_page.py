"""``make conform``: bad arguments are one line, and nothing is overwritten by a part or a half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import conformance as page
from simulator.auditing.conformance import LibraryReport
from simulator.auditing.conformance.accountants import LibraryTrial


@pytest.fixture
def untried(monkeypatch):
    """Arguments are checked; no library is tried."""
    asked = []

    def report(names, cases, pythons):
        asked.append((tuple(names), len(cases), pythons))
        return [LibraryReport(LibraryTrial(name=name, absent="not tried")) for name in names]

    monkeypatch.setattr(page, "report", report)
    return asked


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonesuch"], "unknown library 'nonesuch'"),
        (["--share", "nan"], "share must be finite"),
        (["--share", "0"], "share must be above 0"),
        (["--share", "2"], "share must be at most 1"),
        (["--python", "opendp"], "--python takes NAME=PATH, not 'opendp'"),
        (["--python", "opendp="], "--python takes NAME=PATH"),
        (["--python", "nonesuch=python"], "unknown library 'nonesuch'"),
        (["dpcompose"], "name a folder by --out"),
        (["--share", "0.5"], "name a folder by --out"),
    ],
)
def test_bad_arguments_are_one_line(untried, capsys, arguments, words):
    assert page.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert untried == []


def test_a_part_is_written_where_it_is_told(untried, tmp_path, capsys):
    folder = tmp_path / "a" / "b"
    assert page.main(["opendp", "--out", str(folder), "--python", "opendp=/bin/x"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "conformance.json",
        "conformance.md",
    ]
    assert untried[0][0] == ("opendp",)
    assert untried[0][2] == {"opendp": "/bin/x"}
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_folder_that_cannot_be_written_is_said_before_the_trial(untried, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert page.main(["opendp", "--out", str(tmp_path / "file" / "below")]) == 2
    assert "cannot write into" in capsys.readouterr().err
    assert untried == []


def test_a_page_that_cannot_be_made_leaves_the_old_one(untried, tmp_path, monkeypatch):
    (tmp_path / "conformance.md").write_text("old")

    def fails(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(page.conformance, "to_json", fails)
    assert page.main(["opendp", "--out", str(tmp_path)]) == page.INTERRUPTED
    assert (tmp_path / "conformance.md").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["conformance.md"]


@pytest.mark.nightly
@pytest.mark.sampled
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_trial_is_one_line_and_leaves_the_old_page(tmp_path, number):
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "conformance.md").write_text("old")
    command = [sys.executable, "-m", "experiments.conformance", "dpcompose", "--share", "0.05"]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(2):  # the second once it has tried something
            assert process.stderr.readline().startswith("trying")
        process.send_signal(number)
        rest = process.stderr.read().splitlines()
        assert process.wait(60) == page.INTERRUPTED
    assert rest[-1] == "interrupted: nothing was written"
    assert all(line.startswith("trying") for line in rest[:-1])
    assert (tmp_path / "conformance.md").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["conformance.md"]


def test_a_library_tried_again_replaces_its_row_and_its_section(tmp_path, monkeypatch):
    def reports(version):
        return [
            LibraryReport(LibraryTrial(name=name, version=version, absent=f"not at {version}"))
            for name in ("autodp", "opacus")
        ]

    monkeypatch.setattr(page, "RESULTS", tmp_path)
    page.write(reports("1"), 3, tmp_path)
    for _ in range(2):  # the second time in place of the first
        page.replaced(reports("2")[:1], 3)
    text = (tmp_path / "conformance.md").read_text()
    assert text.count("\n\n## ") == text.count("## ") == 2
    assert ("not at 2" in text, text.count("Made with")) == (True, 2)
    assert text.index("not at 2") < text.index("## opacus") < text.index("not at 1")
    assert text.endswith("cores.\n")
