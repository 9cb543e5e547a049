"""How results are made, and when what is made is not recorded."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments.results import __main__ as command
from experiments.results import digests, listed, making, records
from tests.helpers.interrupting import wait_for
from tests.helpers.toy_result import HELPER, TOY, made, project, use

__all__ = ["made", "project"]


def test_what_was_read_is_recorded_of_workers_too_and_from_cached_byte_code(project):
    wanted = {"pyproject.toml", "toy/table.csv"}
    wanted |= {f"toy/{name}.py" for name in ("__init__", "__main__", "helper", "worker", "deep")}
    assert set(records.record_of("toy").read) == wanted
    assert list((project.root / "toy/__pycache__").iterdir())
    assert making.make([project.toy], always=True) == 0
    assert set(records.record_of("toy").read) == wanted
    assert project.status().state == "of today"


def test_one_process_makes_results_at_a_time(project, capsys):
    with making.alone():
        assert command.main(["make"]) == 2
    assert "being made here already" in capsys.readouterr().err
    assert command.main(["make"]) == 0


def test_where_no_result_can_be_made_is_one_line(project, capsys, monkeypatch):
    shutil.rmtree(project.root / "build")
    project.write("build", "")
    assert command.main(["make"]) == 2
    monkeypatch.setattr(digests, "ROOT", project.root / "a:b")
    assert command.main(["make", "toy"]) == 2
    said = capsys.readouterr().err
    assert "error: cannot write" in said
    assert "no path may have a :" in said


def test_what_was_not_observed_is_not_recorded(project, capsys, monkeypatch):
    before = records.record_of("toy")
    monkeypatch.setattr(making, "WATCH", project.root)
    assert making.make([project.toy], always=True) == 1
    assert "what it has read was not seen" in capsys.readouterr().err
    assert records.record_of("toy") == before


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


def is_alive(process):
    """Whether a process of this number is there that is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_two_signals_and_a_closed_terminal_leave_no_process(project):
    """A maker of its own with two results that do not end; both signals come at once."""
    project.write("toy/slow.py", "import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from experiments.results import __main__ as command, digests, listed, records\n"
        f"digests.ROOT = Path({str(project.root)!r})\n"
        "rows = {n: listed.Listed(n, (n + '.txt',), ('toy.slow',)) for n in ('one', 'two')}\n"
        "records.listed = command.listed = lambda: rows\n"
        "sys.exit(command.main(['make']))\n"
    )
    maker = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    said = [project.root / f"build/results/{name}.txt" for name in ("one", "two")]
    wait_for(lambda: all(each.is_file() and each.read_text() for each in said), maker)
    children = Path(f"/proc/{maker.pid}/task/{maker.pid}/children").read_text().split()
    maker.stderr.close()  # as a terminal does
    maker.send_signal(signal.SIGTERM)
    maker.send_signal(signal.SIGHUP)
    assert maker.wait(60) == command.INTERRUPTED
    assert len(children) == 2
    assert not any(is_alive(each) for each in children)


def test_what_comes_before_is_made_first_and_where_it_fails_what_comes_after_is_not(
    project, monkeypatch, capsys
):
    after = listed.Listed("after", ("after.txt",), ("toy.after",), after=("toy",))
    use(monkeypatch, project, [after])
    project.write("toy/after.py", "open('results/after.txt', 'w').write('1')\n")
    project.write("toy/helper.py", HELPER.replace("return 1", "return 2"))
    digests.forget()
    assert command.main(["make", "after"]) == 0
    assert project.status().state == "of today"
    project.write("toy/helper.py", "raise RuntimeError('broken')\n")
    digests.forget()
    assert command.main(["make", "after"]) == 1
    assert "after was not made: toy is not of today" in capsys.readouterr().err


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


def test_a_set_has_the_same_order_each_time(project):
    project.write("toy/deep.py", "import os\nassert os.environ['PYTHONHASHSEED'] == '0'\n")
    assert making.make([project.toy]) == 0
    assert records.record_of("toy").made["hash_seed"] == "0"


def test_what_changes_while_a_result_is_made_is_not_recorded(project, capsys):
    before = records.record_of("toy")
    project.write("toy/deep.py", "import os, time\ntime.sleep(0.05)\nos.utime(__file__)\n")
    assert making.make([project.toy]) == 1
    assert "toy is not recorded: toy/deep.py changed meanwhile" in capsys.readouterr().err
    assert records.record_of("toy") == before


@pytest.mark.parametrize(
    "change",
    [
        "os.replace('toy/new.py', 'toy/deep.py')",  # written earlier than the making
        "os.rename('toy/deep.py', 'toy/away.py')",
        "os.rename('toy', 'old'); __import__('shutil').copytree('old', 'toy')",
        "os.remove('toy/deep.py'); os.symlink('new.py', 'toy/deep.py')",
    ],
)
def test_what_is_moved_while_a_result_is_made_is_not_recorded(project, capsys, change):
    project.write("toy/new.py", "depth = 2\n")
    os.utime(project.root / "toy/new.py", (1, 1))
    project.write("toy/worker.py", f"import os, time, toy.deep\ntime.sleep(0.05)\n{change}\n")
    assert making.make([project.toy]) == 1
    assert "toy/deep.py" in capsys.readouterr().err


def test_a_folder_that_changes_while_a_result_is_made_is_not_recorded(project, capsys):
    listing = "import os, pathlib\nlist(pathlib.Path('toy').glob('*.csv'))\n"
    project.write("toy/deep.py", f"{listing}open('toy/more.csv', 'w').close()\n")
    assert making.make([project.toy]) == 1
    assert "toy is not recorded: toy/ changed meanwhile" in capsys.readouterr().err


def test_a_folder_that_is_opened_is_noted_by_its_names(project):
    (project.root / "__pycache__").mkdir()
    project.write("toy/deep.py", "import os\nos.listdir(os.open('toy', os.O_RDONLY))\n"
                  "os.listdir('__pycache__')\nos.listdir('.')\n")  # fmt: skip
    assert making.make([project.toy]) == 0
    assert "__pycache__/" not in records.record_of("toy").read
    project.write("toy/more.csv", "1")
    assert project.status().because == ("toy/",)


def test_what_uses_the_watch_itself_is_watched_once(project):
    project.write("toy/deep.py", "import pkgutil, toy\nimport experiments.results.digests\n"
                  "list(pkgutil.iter_modules(toy.__path__))\n")  # fmt: skip
    assert making.make([project.toy]) == 0


def test_a_log_that_is_gone_is_no_record(project, capsys):
    project.write("toy/deep.py", "import os, contextlib\nos.remove('build/results/toy.read')\n"
                  "with contextlib.suppress(OSError):\n    open('toy/table.csv')\n")  # fmt: skip
    assert making.make([project.toy]) == 1
    assert "toy" in capsys.readouterr().err
    assert project.status().state != "of today"


@pytest.mark.parametrize(
    "reading",
    [
        "for each in 'pq':\n with contextlib.chdir('toy/' + each):\n  open('t.csv').read()",
        "open('toy/q/t.csv', 'r+').read()",
        "open(b'toy/q/t.csv').read()",
        "io.FileIO(pathlib.Path('toy/q/t.csv')).read()",
        "numpy.memmap('toy/q/t.csv')",
    ],
)
def test_whatever_way_a_file_is_read_it_is_recorded(project, reading):
    for each in "pq":
        (project.root / "toy" / each).mkdir()
        project.write(f"toy/{each}/t.csv", "1")
    project.write("toy/deep.py", f"import contextlib, io, pathlib, numpy\n{reading}\n")
    assert making.make([project.toy]) == 0
    assert "toy/q/t.csv" in records.record_of("toy").read


def test_a_name_with_a_line_end_or_no_unicode_is_recorded(project):
    for name in (b"a\nb.csv", b"caf\xe9.csv"):
        (project.root / "toy" / os.fsdecode(name)).write_text("1")
    project.write("toy/deep.py", "from pathlib import Path\n"
                  "[each.read_text() for each in Path('toy').glob('*.csv')]\n")  # fmt: skip
    assert making.make([project.toy]) == 0
    assert project.status().state == "of today"
    project.write("toy/a\nb.csv", "2")
    assert project.status().because == ("toy/a\nb.csv",)
    assert command.main(["status"]) == 0


def test_byte_code_of_an_earlier_source_is_not_used(project):
    helper = project.root / "toy/helper.py"
    for number in (3, 4):  # of the same size and the same second
        project.write("toy/helper.py", HELPER.replace("return 1", f"return {number}"))
        os.utime(helper, (1e9, 1e9))
        if number == 3:
            words = [sys.executable, "-c", "import toy.helper"]
            subprocess.run(words, cwd=project.root, check=True)
    assert making.make([project.toy]) == 0
    assert json.loads(project.read("results/toy.json"))["number"] == 4


def test_what_was_not_there_when_it_was_wanted_is_no_matter(project):
    project.write("toy/deep.py", "import os, contextlib\n"
                  "with contextlib.suppress(OSError):\n    open('toy/settings.csv')\n")  # fmt: skip
    assert making.make([project.toy]) == 0
    assert "toy/settings.csv" not in records.record_of("toy").read


def test_what_a_killed_maker_has_begun_holds_the_lock(project, capsys):
    with making.alone() as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=(lock,))
    assert command.main(["make"]) == 2
    assert "one that a killed process has begun ends by itself" in capsys.readouterr().err
    child.kill()
    child.wait()
    assert command.main(["make"]) == 0


def test_the_processes_of_a_making_have_its_lock(project):
    project.write("toy/worker.py", "import os\nfrom pathlib import Path\nimport toy.deep\n"
                  "held = [each.resolve() for each in Path(f'/proc/{os.getppid()}/fd').iterdir()]\n"
                  "assert any(each.name == 'lock' for each in held)\n")  # fmt: skip
    assert command.main(["make"]) == 0


def test_a_reader_that_has_enough_stops_nothing(project):
    program = "from experiments.results import making\nmaking.say('1')\nmaking.say('2')\n"
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([sys.executable, "-c", program], stderr=writing)
    os.close(writing)
    assert ended.returncode == 0


def test_a_result_that_ends_by_an_error_in_the_middle_is_not_recorded(project, capsys):
    project.write("toy/__main__.py", TOY + "raise ValueError('later')\n")
    assert making.make([project.toy]) == 1
    assert "toy was not made (exit 1)" in capsys.readouterr().err
    assert project.status().state != "of today"
    os.utime(project.root / "results/toy.md", (1, 1))
    last = 'Path("results/toy.md")'
    project.write("toy/__main__.py", TOY.replace(last, f"sys.exit('no')\n{last}"))
    assert making.make([project.toy]) == 1  # with half of its files
    assert project.status().state != "of today"
    project.write("toy/__main__.py", TOY + "sys.exit(1)\n")  # a verdict
    assert making.make([project.toy]) == 1
    assert project.status().state == "of today"


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
