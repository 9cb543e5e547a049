"""The command as a process: signals, streams that refuse, and what exit 1 is kept for."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.helpers.interrupting import is_blocked, wait_for
from tests.helpers.workplaces import ROOT

CALL = (sys.executable, "-c", "from simulator.doors.cli import main; main()")
LEAK = "def leak(input, rng):\n    return input\n"


def called(*arguments, **options):
    """A finished call of the command: (exit code, standard output, standard error)."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    done = subprocess.run([*CALL, *map(str, arguments)], **settings)
    return done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode()


def one_line(err):
    assert err.startswith("error: ")
    (line,) = err.splitlines()
    return line


@pytest.fixture
def leaky(tmp_path):
    """Arguments of an audit that finds a violation."""
    (tmp_path / "leak.py").write_text(LEAK)
    mechanism = f"{tmp_path}/leak.py:leak"
    return ("audit", mechanism, "--claimed", "pure:0.1", "--pair", "0", "1", "--samples", "2000")


@pytest.mark.sampled
@pytest.mark.parametrize("reader", ["reads", "has gone"])
def test_a_reader_that_goes_away_does_not_hide_a_failed_check(leaky, reader):
    process = subprocess.Popen([*CALL, *leaky], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if reader == "has gone":
        process.stdout.close()
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, b"")


def test_a_full_standard_output_is_one_line():
    with open("/dev/full", "wb") as full:
        for arguments in (["adversaries"], ["--help"], ["adversaries", "--json"]):
            code, _, err = called(*arguments, stdout=full)
            assert code == 2
            assert "No space left" in one_line(err)


@pytest.mark.nightly
@pytest.mark.parametrize("closed", [(1,), (0, 1), (2,), (0, 1, 2)])
def test_closed_streams(closed, tmp_path):
    out = tmp_path / "run"
    shut = " ".join(f"{number}>&-" for number in closed)
    words = f"simulate press-when-ahead --family pure:0.2 --rounds 3 --trials 5 --out {out}"
    done = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {words} {shut}', sys.executable, CALL[2]],
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == (2 if 1 in closed else 0)
    if closed == (1,):
        assert "it is closed" in one_line(done.stderr.decode())
    # nothing that was printed went into a file that took a closed stream's place
    assert b"Pr[L" not in (out / "blocks.log").read_bytes()
    assert json.loads((out / "specification.json").read_text())["goal"]["trials"] == 5


@pytest.mark.sampled
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_users_code_prints_is_kept_apart_from_results(adversary_file, jobs):
    more = """
import os
print("the module")

def loud(coins):
    print("the adversary")
    os.system("echo its shell")
    yield from press_when_ahead(coins)
"""
    code, out, err = called(
        "simulate", adversary_file(more, "loud"), "--family", "pure:0.2", "--rounds", 3,
        "--trials", 4, "--jobs", jobs, "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["trials"] == 4
    assert all(text in err for text in ("the module", "the adversary", "its shell"))


def test_no_command_prints_but_by_the_one_function():
    for path in (ROOT / "simulator" / "cli").glob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.lstrip().startswith("print(") and path.name != "output.py":
                shown = path.read_text().splitlines()[number - 1 : number + 4]
                assert "file=" in "".join(shown), f"{path.name}:{number}: say() prints results"


@pytest.mark.sampled
@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_a_terminal_without_the_letters_of_a_path(tmp_path, environment):
    (tmp_path / "шум.py").write_text(LEAK)
    settings = ("--claimed", "pure:0.1", "--pair", "0", "1", "--samples", "2000")
    code, out, err = called(
        "audit", f"{tmp_path}/шум.py:leak", *settings, env=os.environ | environment
    )
    assert (code, err) == (1, "")
    assert "violated" in out


@pytest.mark.nightly
def test_a_working_folder_that_was_deleted(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    words = " ".join(f"'{word}'" for word in CALL[:2])
    run = "simulate press-when-ahead --family pure:0.2 --rounds 3 --trials 5"
    script = f"rmdir {gone}; PYTHONPATH={ROOT} {words} '{CALL[2]}' {run}"
    done = subprocess.run(
        ["sh", "-c", f"{script} && {script.partition(';')[2]} --out there"],
        cwd=gone, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert "delta(epsilon)" in done.stdout
    *notices, last = done.stderr.splitlines()
    assert "cannot create there" in one_line(f"{last}\n")
    # numba looks for the working folder: without one the rule is played uncompiled, and says so
    assert all("runs uncompiled" in line for line in notices)


def test_a_fault_of_our_own_is_no_failed_check(dpcompose, monkeypatch):
    def fails(*_arguments, **_options):
        raise ZeroDivisionError("of our own")

    monkeypatch.setattr("simulator.doors.cli.bounds.compare", fails)
    said = dpcompose("bounds", "pure:1*5")
    assert (said.code, said.out) == (70, "")
    assert "ZeroDivisionError: of our own" in said.err
    assert said.err.splitlines()[-1].startswith("error: a fault of dpcompose itself")


def test_trouble_of_the_operating_system_is_one_line(dpcompose, monkeypatch):
    def fails(*_arguments, **_options):
        raise OSError(28, "No space left on device", "/some/where")

    monkeypatch.setattr("simulator.doors.cli.bounds.compare", fails)
    assert "refused /some/where: No space" in dpcompose("bounds", "pure:1*5").complaint


# --- signals ------------------------------------------------------------------------------------


def left(body, number):
    """A program that prints "ready", is sent the signal and leaves: (code, errors)."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(body)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    for line in process.stdout:
        if line.strip() == "ready":
            break
    wait_for(lambda: is_blocked(process), process)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err.split()


COMMAND = """
    import os, sys, time, ctypes
    sys.argv = ["dpcompose", "bounds", "pure:1*5"]
    import simulator.doors.cli.bounds
    from simulator.doors.cli import main

    def ready():
        sys.__stdout__.write("ready\\n")
        sys.__stdout__.flush()

    def slow(*arguments, **options):
        {body}

    simulator.doors.cli.bounds.compare = slow
    main()
"""


@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
)
def test_a_signal_ends_a_command_with_its_code_and_one_word(number, said):
    program = COMMAND.format(body="ready(); time.sleep(60)")
    assert left(program, number) == (128 + number, [said])


def test_a_signal_that_a_callback_swallows_ends_the_command_all_the_same():
    body = """
        wait = ctypes.CFUNCTYPE(None)(lambda: (ready(), time.sleep(60)))
        wait()
        time.sleep(60)
    """
    program = COMMAND.format(body=textwrap.indent(textwrap.dedent(body), " " * 8).strip())
    assert left(program, signal.SIGINT) == (130, ["interrupted"])


def test_a_signal_while_a_rule_compiles_is_heard_by_the_thread_that_waits():
    body = """
        from simulator.foundations.uninterrupted import uninterrupted
        uninterrupted(lambda: (ready(), time.sleep(60)))
    """
    program = COMMAND.format(body=textwrap.indent(textwrap.dedent(body), " " * 8).strip())
    assert left(program, signal.SIGINT) == (130, ["interrupted"])


def test_what_ends_a_command_leaves_no_collection_for_after_its_last_word():
    # with a compiler in memory that takes tenths of a second, in which no signal is heard
    body = """
        import atexit, gc, sys
        from simulator.doors.cli import main
        atexit.register(lambda: print(gc.get_freeze_count() > 1000, file=sys.stderr))
        sys.argv = ["dpcompose", "adversaries"]
        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(body)], capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == ["True"]


def test_what_a_users_file_holds_open_is_written_at_the_end(tmp_path):
    # in a module that is nobody's but its functions', which only a collection finds
    (tmp_path / "writes.py").write_text(
        f"""
import atexit

told = open({str(tmp_path / "told.txt")!r}, "w")
atexit.register(told.write, "the end")


class Diary:
    def __init__(self):
        self.file, self.itself = open({str(tmp_path / "diary.txt")!r}, "w"), self


diary = Diary()


def truth(input, rng):
    told.write("x")
    diary.file.write("y")
    return rng.random()
"""
    )
    mechanism = f"{tmp_path}/writes.py:truth"
    asked = ("audit", mechanism, "--claimed", "pure:0.1", "--pair", "0", "1", "--samples", "2000")
    assert called(*asked)[0] == 0
    told, diary = ((tmp_path / name).read_text() for name in ("told.txt", "diary.txt"))
    assert len(diary) > 2000
    assert told == "x" * len(diary) + "the end"
