"""What a result was made from, whether it is of today, and how results are made."""

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from experiments import results
from experiments.results import __main__ as command
from experiments.results import comparing, digests, listed, making, records

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


def test_what_was_read_is_recorded_of_workers_too_and_from_cached_byte_code(project):
    wanted = {"pyproject.toml", "toy/table.csv"}
    wanted |= {f"toy/{name}.py" for name in ("__init__", "__main__", "helper", "worker", "deep")}
    assert set(records.record_of("toy").read) == wanted
    assert list((project.root / "toy/__pycache__").iterdir())
    assert making.make([project.toy], always=True) == 0
    assert set(records.record_of("toy").read) == wanted
    assert project.status().state == "of today"


def test_a_page_begins_with_when_it_was_made(project):
    made = records.record_of("toy").made
    first, _, rest = project.read("results/toy.md").partition("\n\n")
    assert first.startswith(f"Made at {made['revision'][:12]} on {made['time'][:10]}, in ")
    assert rest == "# Toy\n\n1\n"
    assert (
        records.stamped(records.stamped(rest, "Made at x"), "Made at y") == f"Made at y\n\n{rest}"
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "state"),
    [
        ("toy/helper.py", "# one", "# two", "of today"),
        ("toy/helper.py", "A number", "Some number", "of today"),
        ("toy/helper.py", "return 1", "return 2", "stale"),
        ("toy/deep.py", "1", "2", "stale"),
        ("toy/apart.py", "1", "2", "of today"),
        ("toy/table.csv", "2", "3", "stale"),
        ("pyproject.toml", '"toy"', '"toys"', "of today"),
        ("pyproject.toml", "helper", "deep", "stale"),
        ("results/toy.json", "1", "2", "edited"),
        ("results/toy.md", "Toy", "Boy", "edited"),
    ],
)
def test_what_a_change_makes_of_a_result(project, name, old, new, state):
    text = project.read(name)
    assert old in text
    project.write(name, text.replace(old, new))
    found = project.status()
    assert found.state == state
    assert found.because == (() if state == "of today" else (name,))


def test_a_file_that_is_gone_is_noticed(project):
    (project.root / "toy/deep.py").unlink()
    assert project.status().because == ("toy/deep.py",)
    (project.root / "results/toy.md").unlink()
    assert (project.status().state, project.status().because) == ("edited", ("results/toy.md",))


def test_a_record_that_cannot_be_read_is_none(project):
    stored = json.loads(project.read("results/made/toy.json"))
    wrong = [{key: stored[key] for key in stored if key != left} for left in stored]
    for text in (
        "",
        "[]",
        '{"read": 1}',
        *map(json.dumps, wrong),
        json.dumps(stored | {"read": {}}),
    ):
        project.write("results/made/toy.json", text)
        assert project.status().state == "without a record"


def test_one_process_makes_results_at_a_time(project, capsys):
    with making.alone():
        assert command.main(["make"]) == 2
    assert "being made here already" in capsys.readouterr().err
    assert command.main(["make"]) == 0


def test_what_was_not_observed_is_not_recorded(project, capsys, monkeypatch):
    before = records.record_of("toy")
    monkeypatch.setattr(making, "WATCH", project.root)
    assert making.make([project.toy], always=True) == 1
    assert "what it has read was not seen" in capsys.readouterr().err
    assert records.record_of("toy") == before


def test_another_command_makes_a_result_stale(project, monkeypatch):
    other = listed.Listed("toy", Project.toy.files, ("toy", "--more"))
    monkeypatch.setattr(Project, "toy", other)
    assert project.status().because == ("its command",)


def test_the_command_prints_and_fails_where_a_strict_result_is_stale(project, capsys):
    assert command.main(["status", "--strict", "--whole"]) == 0
    made = records.record_of("toy").made
    assert f"s of a processor, on {made['time'][:10]} at" in capsys.readouterr().out
    project.write("toy/deep.py", "depth = 2\n")
    project.write("results/stray.txt", "")
    digests.forget()
    assert command.main(["status"]) == 0
    assert command.main(["status", "--strict"]) == 1
    printed = capsys.readouterr().out
    assert "stale: toy" in printed
    assert "toy/deep.py" in printed
    assert "results/stray.txt is of no result" in printed
    assert command.main(["status", "nothing"]) == 2


def test_a_failure_is_not_recorded_and_says_where_its_output_is(project, capsys):
    project.write("toy/helper.py", "raise RuntimeError('broken')\n")
    other = listed.Listed("other", ("other.json",), ("toy.worker",))
    assert making.make([project.toy, other]) == 2
    printed = capsys.readouterr().err
    assert "toy was not made (exit 1): RuntimeError: broken; see" in printed
    assert "other was not made (exit 0)" in printed  # it has written nothing
    assert project.status().because == ("toy/helper.py",)


def test_what_is_recorded_survives_an_interruption(project):
    project.write("toy/helper.py", HELPER.replace("return 1", "return 2"))
    project.write(
        "toy/slow.py",
        "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(600)\n",
    )
    slow = listed.Listed("slow", ("slow.json",), ("toy.slow",), after=("toy",), jobs=2)
    with pytest.raises(KeyboardInterrupt):
        making.make([project.toy, slow])
    assert project.status().state == "of today"
    assert json.loads(project.read("results/toy.json"))["number"] == 2
    assert records.record_of("slow") is None


def test_what_reads_a_result_that_changes_is_made_again(project):
    project.write("toy/reader.py", "from pathlib import Path\n"
                  "text = Path('results/toy.json').read_text()\n"
                  "Path('results/reader.txt').write_text(text)\n")  # fmt: skip
    reader = listed.Listed("reader", ("reader.txt",), ("toy.reader",))
    assert making.make([project.toy, reader]) == 0
    project.write("toy/helper.py", HELPER.replace("return 1", "return 2"))
    digests.forget()
    assert records.status(reader).state == "of today"
    assert making.make([project.toy, reader]) == 0
    assert json.loads(project.read("results/reader.txt"))["number"] == 2


def results_of(*rows):
    return [listed.Listed(name, (), (), **more) for name, more in rows]


def test_two_processors_at_most_and_what_is_needed_first(project):
    a, b, c, d = results_of(
        ("a", {}), ("b", {"after": ("a",)}), ("c", {"jobs": 2}), ("d", {"quiet": True, "jobs": 2})
    )
    running = [SimpleNamespace(result=a)]
    assert [each.name for each in making.startable([a, b], [])] == ["a"]
    assert [each.name for each in making.startable([b, c], running)] == []
    assert [each.name for each in making.startable([c], running)] == []
    assert [each.name for each in making.startable([c, a], running)] == []
    assert [each.name for each in making.startable([b, c], [])] == ["b", "c"]
    assert [each.name for each in making.startable([b], [SimpleNamespace(result=d)])] == []


def test_a_quiet_result_waits_and_is_refused_on_a_busy_machine(monkeypatch):
    waited = []
    clock = iter(range(0, 10_000, 500))
    monkeypatch.setattr(making.os, "getloadavg", lambda: (3.0, 3.0, 3.0))
    monkeypatch.setattr(
        making, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=waited.append)
    )
    with pytest.raises(Exception, match=r"needs a quiet machine, and the load is 3\.00"):
        making.wait_for_silence(results_of(("q", {"quiet": True}))[0])
    assert waited


def test_differences_name_keys_and_columns():
    def of(json_text, table, page):
        return {"r/a.json": json_text.encode(), "r/b.csv": table.encode(), "r/c.md": page.encode()}

    one = of('{"x": [1, {"y": 2}], "provenance": 1}', "p,q\n1,2\n", "Made at a\n\ntext\n")
    same = of('{"x": [1, {"y": 2}], "provenance": 2}', "p,q\n1,2\n", "Made at b\n\ntext\n")
    other = of('{"x": [1, {"y": 3}], "provenance": 1}', "p,q\n1,3\n", "Made at a\n\nwords\n")
    assert comparing.differences(one, same) == []
    assert comparing.differences(one, other) == ["a.json: y", "b.csv: q", "c.md"]
    assert comparing.differences({}, {"r/c.md": b""}) == ["r/c.md is new"]
    assert comparing.differences({"r/a.json": b"{"}, {"r/a.json": b"{}"}) == ["a.json"]
    assert comparing.differences({"r/a.png": b"1"}, {"r/a.png": b"2"}) == ["a.png"]


def test_every_file_in_results_is_of_one_result():
    owners = {}
    for each in listed.listed().values():
        for name in each.written():
            assert owners.setdefault(name, each.name) == each.name
    assert records.strays() == []


def test_every_result_names_results_and_modules_that_are_there():
    everything = listed.listed()
    for each in everything.values():
        module = digests.ROOT.joinpath(*each.command[0].split("."))
        assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), each.name
        assert set(each.after) <= set(everything)
    assert results.__doc__


def test_what_cannot_be_noted_ends_the_process(project):
    environment = {
        "PYTHONPATH": f"{making.WATCH}{os.pathsep}{project.root}",
        "DPCOMPOSE_READ": "/nowhere/log",
        "DPCOMPOSE_ROOT": str(project.root),
        "PATH": os.environ["PATH"],
    }
    words = [sys.executable, "-m", "toy"]
    ended = subprocess.run(words, cwd=project.root, env=environment, capture_output=True)
    assert ended.returncode != 0


def test_a_process_whose_files_are_limited_goes_on_unnoted(project):
    limit = "import resource as r\nr.setrlimit(r.RLIMIT_FSIZE, (0, r.RLIM_INFINITY))\n"
    project.write("toy/worker.py", limit + "import toy.deep\nassert toy.deep.depth == 1\n")
    assert making.make([project.toy]) == 0
    assert "toy/helper.py" in records.record_of("toy").read


def test_nothing_is_imported_before_ctrl_c_can_be_caught():
    program = "import sys; print(*sys.modules)"
    words, watched = ([sys.executable, each, "-c", program] for each in ("-I", "-s"))
    environment = {**os.environ, "PYTHONPATH": str(making.WATCH)}
    plain = set(subprocess.check_output(words, text=True).split())
    found = set(subprocess.check_output(watched, env=environment, text=True).split())
    assert found - plain <= {"sitecustomize", "errno"}


def test_what_changes_while_a_result_is_made_is_not_recorded(project, capsys):
    before = records.record_of("toy")
    project.write("toy/deep.py", "import os, time\ntime.sleep(0.05)\nos.utime(__file__)\n")
    assert making.make([project.toy]) == 1
    assert "toy is not recorded: toy/deep.py changed meanwhile" in capsys.readouterr().err
    assert records.record_of("toy") == before


def test_a_result_that_ends_by_an_error_in_the_middle_is_not_recorded(project, capsys):
    project.write("toy/__main__.py", TOY + "raise ValueError('later')\n")
    assert making.make([project.toy]) == 1
    assert "toy was not made (exit 1)" in capsys.readouterr().err
    assert project.status().state != "of today"
    project.write("toy/__main__.py", TOY + "sys.exit(1)\n")  # a verdict
    assert making.make([project.toy]) == 1
    assert project.status().state == "of today"


def test_a_file_that_is_found_by_listing_makes_a_result_stale(project):
    listing = TOY + "import pkgutil, toy\nnames = list(pkgutil.iter_modules(toy.__path__))\n"
    project.write("toy/__main__.py", listing)
    assert making.make([project.toy]) == 0
    project.write("toy/added.py", "")
    assert project.status().because == ("toy/",)
    (project.root / "toy/added.py").unlink()
    project.write("toy/.hidden", "")
    assert project.status().state == "of today"


def test_a_file_that_is_no_python_is_stale_without_a_traceback(project):
    project.write("toy/deep.py", "<<<<<<< ours\n")
    assert project.status().because == ("toy/deep.py",)
    (project.root / "toy/deep.py").write_bytes(b"depth = 1 # \xe9\n")
    assert project.status().because == ("toy/deep.py",)


def test_what_is_made_after_a_stale_result_is_stale(project, monkeypatch):
    after = listed.Listed("after", ("after.txt",), ("toy.after",), after=("toy",))
    use(monkeypatch, project, [after])
    project.write("toy/after.py", "open('results/after.txt', 'w').write('1')\n")
    assert making.make([after]) == 0
    assert records.status(after).state == "of today"
    project.write("toy/helper.py", HELPER.replace("return 1", "return 2"))
    digests.forget()
    assert records.status(after).because == ("the result toy",)


def test_a_checkout_makes_its_own_results_though_another_is_installed(
    project, tmp_path, monkeypatch
):
    """The child's path begins with the checkout: code of another one is not played."""
    other = tmp_path / "other" / "toy"
    shutil.copytree(project.root / "toy", other)
    (other / "helper.py").write_text(HELPER.replace("return 1", "return 3"), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "other"))
    assert making.make([project.toy], always=True) == 0
    assert json.loads(project.read("results/toy.json"))["number"] == 1
