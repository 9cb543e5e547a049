"""A file of a stranger hangs no command, fills no memory, is not executed or written through."""

import os
import subprocess
import sys

import pytest

from simulator.adversaries.loading import names_in
from simulator.analysis.plots.style import drawable, save_as
from simulator.data.tables import read_csv
from simulator.doors.cli.output import note, say
from simulator.errors import InvalidInput
from simulator.foundations import children
from simulator.foundations.files import write_text
from simulator.foundations.frames import exportable
from simulator.studies.report import ReportFile
from simulator.training.named import matrix_of

AT = ("--delta", "1e-6")
TARGET = ("--target-epsilon", "1", "--target-delta", "1e-6")
MATRIX = "matrix-factorisation:sigma=1,bins=1,rounds=2,matrix="
READERS = {
    "f.json": (
        ("bounds", "--event", "@", *AT),
        ("calibrate", "--event", "@", *TARGET),
        ("filter", "verify", "@"),
    ),
    "f.npy": (("bounds", f"{MATRIX}@", *AT),),
    "f.csv": (
        ("truths", "--check", "@"),
        ("plot-study", "@"),
        ("diff", "@", "@"),
    ),
    "f.toml": (("sweep", "@", "--out", "study.csv"),),
    "f.py": (
        ("adversaries", "--explain", "@:attack"),
        ("sweep", "@", "--out", "study.csv"),
    ),
}


def put(path, kind):
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, (1 << 30) + 1)


@pytest.mark.parametrize("kind", ["pipe", "device", "a gigabyte"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_of_a_size_is_refused(dpcompose, tmp_path, monkeypatch, name, kind):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    put(path, kind)
    for words in READERS[name]:
        complaint = dpcompose(*(word.replace("@", str(path)) for word in words)).complaint
        said = "MB are read here" if kind == "a gigabyte" else "not a regular file"
        assert said in complaint, (words, complaint)


DEEP = "[" * 60_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.json", DEEP),
        ("f.json", '{"dpcompose": "event", "version": 1, "event": ' + "[" * 300 + "]" * 300 + "}"),
        ("f.toml", f"a = {DEEP}"),
        ("f.toml", "a." * 100_000 + "a = 1"),
        ("f.toml", f"a = {'[' * 200}{']' * 200}"),
        ("f.py", f"attack = {'(' * 5000}0{')' * 5000}"),
    ],
)
def test_what_is_nested_deep_is_refused(dpcompose, tmp_path, monkeypatch, name, text):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_text(text)
    for words in READERS[name]:
        said = dpcompose(*(word.replace("@", str(path)) for word in words))
        assert said.code in (1, 2), said
        assert "Traceback" not in said.err


def test_the_metadata_of_a_study_is_of_a_depth(tmp_path):
    from simulator.studies.points import COLUMNS
    from simulator.studies.storing import load_points

    path = tmp_path / "study.csv"
    closed = DEEP + "]" * len(DEEP)  # Python 3.14 reads it to its end
    cells = dict.fromkeys(COLUMNS, "1") | {"stopped": "", "metadata": closed, "part": "0"}
    path.write_text(",".join(COLUMNS) + "\n" + ",".join(cells[c] for c in COLUMNS) + "\n")
    with pytest.raises(InvalidInput, match="line 2: the column 'metadata': is nested more than"):
        load_points(path)


def test_python_has_the_same_door(tmp_path):
    for name, read in (("f.csv", read_csv), ("f.npy", matrix_of)):
        put(tmp_path / name, "pipe")
        with pytest.raises(InvalidInput, match="not a regular file"):
            read(tmp_path / name)


def test_a_header_of_an_array_cannot_ask_for_much_memory(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000), }"
    path = tmp_path / "f.npy"
    head = header + b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(InvalidInput, match="is not an array of numpy"):
        matrix_of(path)


def test_no_output_goes_through_a_link(tmp_path):
    for name, check in (
        ("run.png", drawable),
        ("losses.csv", exportable),
        ("page.html", lambda path: ReportFile(path, "title")),
        ("any", lambda path: write_text(path, "new")),
        ("drawn.png", lambda path: save_as(figure(), path)),
    ):
        victim = tmp_path / f"victim of {name}"
        victim.write_text("mine")
        (tmp_path / name).symlink_to(victim)
        with pytest.raises(InvalidInput, match="it is a symbolic link"):
            check(tmp_path / name)
        assert victim.read_text() == "mine"


def figure():
    from matplotlib.figure import Figure

    return Figure()


TRACE = "open('trace', 'w').close()\n"


def test_children_have_nothing_of_the_current_folder_on_their_path(tmp_path):
    (tmp_path / "secrets.py").write_text(TRACE)
    command = [sys.executable, "-c", "import secrets"]
    before = os.environ.get("PYTHONSAFEPATH")
    with children.guarded(), children.guarded():
        subprocess.run(command, cwd=tmp_path, check=True)
    assert not (tmp_path / "trace").exists()
    process = children.begin(sys.executable, command[1:], cwd=tmp_path)
    assert process.wait() == 0
    children.end(process)
    assert not (tmp_path / "trace").exists()
    assert os.environ.get("PYTHONSAFEPATH") == before
    plain = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    subprocess.run(command, cwd=tmp_path, env=plain, check=True)
    assert (tmp_path / "trace").exists(), "without the guard it is executed"


def test_a_file_beside_an_adversary_takes_no_place_of_a_module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "secrets.py").write_text(TRACE)
    (tmp_path / "numpy.py").write_text(TRACE)
    path = tmp_path / "mine.py"
    path.write_text("import secrets, numpy\nattack = numpy.float64, secrets.token_hex\n")
    assert names_in(str(path), "it")["attack"]
    assert sys.path[-1] == str(tmp_path)
    assert sys.path.count(str(tmp_path)) == 1


def test_a_name_that_is_beside_an_adversary_and_installed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "hypothesis.py").write_text("HERE = 1\n")
    path = tmp_path / "mine.py"
    path.write_text("from hypothesis import HERE\n")
    with pytest.raises(InvalidInput, match=r"imports hypothesis, which is a file beside it and"):
        names_in(str(path), "it")


def test_strangers_words_move_no_cursor(capsys):
    note("revision \x1b[2J\x9b1m of\na line")
    say("\x1b]0;title\x07")
    said = capsys.readouterr()
    assert said.err == "revision \\x1b[2J\\x9b1m of a line\n"
    assert said.out == "\\x1b]0;title\\x07\n"
