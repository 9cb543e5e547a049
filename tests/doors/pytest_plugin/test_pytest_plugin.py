"""Sessions of pytest with the plugin: one budget, whatever is run, rerun or run in parallel."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

from experiments import stages
from simulator.doors import pytest_plugin as plugin
from simulator.trials.auditing.spending import Spending, part, share, three_digits
from tests.doors.pytest_plugin import stub_audit

pytest_plugins = ["pytester"]

MECHANISMS = """
    import numpy as np
    from simulator import PureDP

    P = 1 / (1 + np.exp(-1.0))

    def honest(bit, n, rng):
        return (rng.random(n) < (P if bit else 1 - P)).astype(int)

    def constant(bit, n, rng):
        return np.full(n, bit)
"""
STUB = "from tests.doors.pytest_plugin import stub_audit\nstub_audit.install()\n"


@pytest.fixture
def stubbed(monkeypatch):
    stub_audit.install(monkeypatch)


def summary(result):
    """(assertions, spent, budget, samples) of the line in the terminal summary."""
    (line,) = [line for line in result.outlines if line.startswith("dpcompose: ")]
    found = re.fullmatch(
        r"dpcompose: (\d+) assertions?, false-alarm budget (\S+) of (\S+) spent, ([\d,]+) samples,"
        r" \d+\.\d s",
        line,
    )
    return int(found[1]), float(found[2]), float(found[3]), int(found[4].replace(",", ""))


def spent_by(assertions, budget=1e-6):
    running = Spending(budget)
    return sum(running.spend() for _ in range(assertions))


def test_a_broken_mechanism_fails_and_an_honest_one_passes(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_honest(dp):
            result = dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=1000)
            assert not result.violated

        def test_constant(dp):
            dp.assert_private(constant, 1, 0, claimed="pure:1", samples=1000)
    """)
    result = session("--dp-seed=3")
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    alpha = three_digits(1e-6 * share(2))
    for line in (
        r"E .*PrivacyViolation: constant does not keep pure:1\.0",
        r"E +inputs +1 and 0",
        r"E +claimed +epsilon <= 1 at delta = 0\n",
        r"E +found +epsilon >= 0\.123 at delta = 0, delta >= 0\.0456 at epsilon = 1\n",
        rf"E +false alarm +with probability {alpha!r} at most\n",
        r"E +event +answer = 1",
        r"E +input_0 +1,000 of 1,000 draws \(1\)",
        r"E +input_1 +0 of 1,000 draws \(0\)",
        rf"E +replay +pytest test_\w+\.py::test_constant --dp-seed 3 --dp-alpha {alpha!r}\n",
        r"E +one answer +1 \(of input_0\)\n",
        r"E +dpcompose audit broken\.py:constant --claimed pure:1\.0 --pair 1 0 --samples 1000",
    ):
        assert re.search(line, text), line
    assert "simulator/" not in text  # no traceback of ours
    assert summary(result)[:2] == (2, pytest.approx(spent_by(2), rel=1e-2))
    assert summary(result)[3] == 4000


def test_the_replay_command_draws_the_same(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        import pytest
        from broken import *

        def test_before(dp):
            for _ in range(5):
                dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=100)

        @pytest.mark.parametrize("name", ["a b", "c"])
        def test_almost(dp, name):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=100)
            dp.assert_private(honest, 1, 0, claimed=PureDP(0.9), samples=20_000)
    """)
    first = session("--dp-seed=11", "--dp-false-alarm=1e-3")
    first.assert_outcomes(passed=1, failed=2)
    told = re.findall(r"E +replay +pytest (.*)", first.stdout.str())
    counts = re.findall(r"E +input_0 +(.*)", first.stdout.str())
    alarms = re.findall(r"false alarm  with probability (\S+)", first.stdout.str())
    assert len(told) == 2
    assert len(set(counts)) == 2  # each test has its own draws
    for command, count, alarm in zip(told, counts, alarms):
        again = session(*shlex.split(command))
        again.assert_outcomes(failed=1)
        assert re.findall(r"E +input_0 +(.*)", again.stdout.str()) == [count]
        assert re.findall(r"false alarm  with probability (\S+)", again.stdout.str()) == [alarm]
        assert f"(--dp-alpha {float(alarm):g})" in again.stdout.str()


def test_the_replay_names_a_file_from_where_pytest_was_called(session, pytester, stubbed):
    folder = pytester.mkdir("suite")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_here.py").write_text(
        "import numpy as np\n"
        "class TestIt:\n"
        "    def test_it(self, dp):\n"
        "        dp.assert_private(lambda b, n, r: np.ones(n), 1, 0, claimed='pure:1',\n"
        "                          samples=99)\n"
    )
    first = session("suite")
    (command,) = re.findall(r"E +replay +(.*)", first.stdout.str())
    assert command.startswith("pytest suite/test_here.py::TestIt::test_it --dp-seed 0 --dp-alpha ")
    session(*shlex.split(command)[1:]).assert_outcomes(failed=1)


def test_a_rerun_has_the_same_share_and_spends_nothing(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_many(dp):
            for _ in range(50):
                dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
    """)
    pytester.makeconftest("""
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for _ in range(2):  # as a plugin of reruns does
                for report in runtestprotocol(item, nextitem=nextitem, log=False):
                    item.ihook.pytest_runtest_logreport(report=report)
            return True
    """)
    result = session()
    assertions, spent, budget, samples = summary(result)
    assert (assertions, budget, samples) == (100, 1e-6, 2000)
    assert spent == pytest.approx(spent_by(50), rel=1e-2)
    assert spent < budget


def test_a_failure_fails_again_in_a_rerun(session, pytester):
    """The first share of .5 is .0268, the second .0217: an alarm at .025 must not turn green."""
    pytester.makepyfile("""
        from types import SimpleNamespace
        from simulator.trials import auditing

        def test_edge(dp, monkeypatch):
            shares = []

            def audit(*arguments, confidence, **others):
                shares.append(1.0 - confidence)
                return SimpleNamespace(violated=False, samples=1)

            monkeypatch.setattr(auditing, "audit", audit)
            dp.assert_private(lambda bit: bit, 0, 1, claimed="pure:1")
            assert shares[0] < 0.025
    """)
    pytester.makeconftest("""
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for _ in range(2):
                for report in runtestprotocol(item, nextitem=nextitem, log=False):
                    item.ihook.pytest_runtest_logreport(report=report)
            return True
    """)
    session("--dp-false-alarm=0.5").assert_outcomes(failed=2)


def test_assertions_of_setup_and_teardown_are_counted(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        import pytest
        from broken import *

        @pytest.fixture
        def checked(dp):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
            yield
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)

        def test_nothing(checked):
            pass
    """)
    assert summary(session())[0] == 2


def test_reports_that_are_thrown_away_leave_the_count_whole(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_one(dp):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
    """)
    pytester.makeconftest("""
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for last in (False, False, True):  # as flaky does, which logs the last run alone
                for report in runtestprotocol(item, nextitem=nextitem, log=False):
                    if last:
                        item.ihook.pytest_runtest_logreport(report=report)
            return True
    """)
    assertions, spent, _, samples = summary(session())
    assert (assertions, samples) == (3, 60)
    assert spent == pytest.approx(spent_by(1), rel=1e-2)


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_tests_in_forked_processes_never_take_the_same_share(session, pytester):
    pytester.makeconftest(STUB)
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        import os
        from broken import *

        def test_forked(dp):  # before anything was spent: each child would take the first share
            for _ in range(2):
                if not (child := os.fork()):
                    said = "spent"
                    try:
                        dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
                    except BaseException as error:
                        said = str(error)
                    with open("notes", "a") as notes:
                        notes.write(said + "\\n")
                    os._exit(0)
                os.waitpid(child, 0)
    """)
    session(subprocess=True).assert_outcomes(passed=1)
    lines = (pytester.path / "notes").read_text().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("a forked process cannot divide") for line in lines)


def test_threads_that_come_first_never_take_the_same_share(request, monkeypatch):
    together = threading.Barrier(2)
    mine = plugin._Session(request.config)

    def slowly():
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.5)  # both threads get here, where nothing prevents it
        return Spending(1e-6)

    monkeypatch.setattr(mine, "_division", slowly)
    with ThreadPoolExecutor(2) as pool:
        spent = [each.result() for each in [pool.submit(mine.spend, "test", i) for i in (0, 1)]]
    running = Spending(1e-6)
    assert sorted(spent, reverse=True) == [
        (share,) * 2 for share in (running.spend(), running.spend())
    ]


def test_deselected_tests_spend_nothing(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_one(dp):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)

        def test_two(dp):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
    """)
    result = session("-k", "two")
    assert summary(result) == (1, pytest.approx(spent_by(1), rel=1e-2), 1e-6, 20)


@pytest.mark.nightly
def test_workers_share_the_budget_and_the_controller_adds_up(session, pytester, stubbed):
    pytest.importorskip("xdist")
    pytester.makeconftest(STUB)
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        import pytest
        from broken import *

        @pytest.mark.parametrize("number", range(6))
        def test_many(dp, number, request):
            for _ in range(number + 1):
                dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)

        @pytest.mark.xdist_group("mine")
        def test_grouped(dp):
            dp.assert_private(constant, 1, 0, claimed=PureDP(1.0), samples=100)
    """)
    result = session("-n2", "--dist=loadgroup", "--dp-false-alarm=1e-4", subprocess=True)
    result.assert_outcomes(passed=6, failed=1)
    assertions, spent, budget, samples = summary(result)
    assert assertions == 1 + 2 + 3 + 4 + 5 + 6 + 1
    assert samples == 20 * (assertions - 1) + 200
    assert budget == 1e-4
    assert spent < budget
    text = result.stdout.str()
    (command,) = re.findall(r"E +replay +pytest (.*)", text)
    (count,) = re.findall(r"E +input_0 +(.*)", text)
    assert "@mine" not in command
    alpha = float(command.split()[-1])
    possible = {
        three_digits(1e-4 * part(worker, 2) * share(n)) for worker in range(2) for n in range(1, 25)
    }
    assert alpha in possible
    again = session(*shlex.split(command))
    again.assert_outcomes(failed=1)
    assert re.findall(r"E +input_0 +(.*)", again.stdout.str()) == [count]


@pytest.mark.nightly
def test_a_worker_that_replaces_another_has_a_number_of_its_own(session, pytester):
    pytest.importorskip("xdist")
    pytester.makeconftest(STUB)
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        import os
        import pytest
        from broken import *

        @pytest.mark.parametrize("number", range(8))
        def test_first(dp, number, request):
            worker = request.config.workerinput
            alpha = 1 - dp.assert_private(
                honest, 1, 0, claimed=PureDP(1.0), samples=10
            ).confidence
            with open(os.environ["NOTES"], "a") as notes:
                notes.write(f"{worker['workerid']} {alpha:.3g}\\n")
            if number == 3:
                os._exit(3)
    """)
    notes = pytester.path / "notes"
    pytester._monkeypatch.setenv("NOTES", str(notes))
    result = session("-n1", "--dp-false-alarm=1e-4", subprocess=True)
    result.assert_outcomes(passed=7, failed=1)
    assert summary(result)[0] == 7  # what the test that crashed did is lost with its worker
    spent = [line.split() for line in notes.read_text().splitlines()]
    assert [worker for worker, _ in spent] == ["gw0"] * 4 + ["gw1"] * 4
    of = {}
    for worker, alpha in spent:
        of.setdefault(worker, []).append(float(alpha))
    for number in range(2):
        found = of[f"gw{number}"]
        mine = 1e-4 * part(number, 1)
        expected = [three_digits(mine * share(n)) for n in range(1, len(found) + 1)]
        assert found == pytest.approx(expected, rel=1e-9)
    assert sum(map(sum, of.values())) < 1e-4


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--dp-false-alarm=0"], "--dp-false-alarm must lie strictly between 0 and 1, not 0"),
        (["--dp-false-alarm=1"], "--dp-false-alarm must lie strictly between 0 and 1, not 1"),
        (["--dp-false-alarm=nan"], "--dp-false-alarm must lie strictly between 0 and 1, not nan"),
        (["--dp-false-alarm="], "--dp-false-alarm must be a number, not ''"),
        (["--dp-false-alarm=tiny"], "--dp-false-alarm must be a number, not 'tiny'"),
        (["--dp-alpha=2"], "--dp-alpha must lie strictly between 0 and 1, not 2"),
        (["--dp-seed=-1"], "--dp-seed must be at least 0, not -1"),
        (["-o", "dp_false_alarm=7"], "dp_false_alarm must lie strictly between 0 and 1, not 7"),
    ],
)
def test_bad_options_are_usage_errors_of_one_line(session, arguments, line):
    result = session(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0] == f"ERROR: {line}"


def test_the_ini_option_is_the_default_of_the_flag(session, pytester, stubbed):
    pytester.makeini("[pytest]\ndp_false_alarm = 1e-3\n")
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_one(dp):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
    """)
    assert summary(session())[2] == 1e-3
    assert summary(session("--dp-false-alarm=1e-4"))[2] == 1e-4


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("dp.assert_private(print, 1, 0, claimed=0.1)", "claimed must be a guarantee"),
        ("dp.assert_private(print, 1, 0, claimed='pure:x')", "is not a list of numbers"),
        ("dp.assert_private(print, 1, 0, claimed='pure:1', seed=1)", "takes no seed="),
        ("dp.assert_private(print, 1, 0, claimed='pure:1', false_alarm=1)", "no false_alarm="),
        ("dp.assert_composition(print, 'pure:1', 2, claimed=None)", "claimed must be a guarantee"),
        ("dp.assert_accountant('1', [], 0.5)", "claimed_epsilon must be a number"),
        ("dp.assert_accountant(1.0, [], 0.5)", "at least one round"),
    ],
)
def test_bad_claims_are_one_line_at_the_call(session, pytester, call, line):
    pytester.makepyfile(f"def test_it(dp):\n    {call}\n")
    result = session()
    result.assert_outcomes(failed=1)
    said = [text for text in result.outlines if text.startswith("E ")]
    assert len(said) == 1
    assert "UsageError" in said[0]
    assert line in said[0]
    assert "simulator/" not in result.stdout.str()


def test_a_probability_that_is_too_small_is_one_line(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_one(dp):
            dp.assert_private(honest, 1, 0, claimed=PureDP(1.0), samples=10)
    """)
    text = session("--dp-alpha=1e-20").stdout.str()
    assert "UsageError: --dp-alpha must be at least 2.2e-16, not 1e-20" in text


def test_a_budget_that_is_used_up_is_one_line(session, pytester, stubbed):
    pytester.makepyfile(broken=MECHANISMS)
    pytester.makepyfile("""
        from broken import *

        def test_it(dp):
            dp.assert_private(honest, 1, 0, claimed="pure:1", samples=10)
    """)
    result = session("--dp-false-alarm=1e-15")
    (line,) = [text for text in result.outlines if text.startswith("E ")]
    assert "UsageError: assertion 1 would be left" in line
    assert line.endswith("state a larger budget")


def test_an_accountant_is_held_against_the_truth_and_spends_nothing(session, pytester):
    pytester.makepyfile("""
        from simulator import Composition, PureDP

        def test_sound(dp):
            truth = dp.assert_accountant(10.0, Composition.repeat(PureDP(0.1), 100), 0.0)
            assert truth.lower == 10.0

        def test_unsound(dp):
            dp.assert_accountant(9.0, [(PureDP(0.1), 100)], 0.0)
    """)
    result = session()
    result.assert_outcomes(passed=1, failed=1)
    said = "the accountant claims epsilon = 9 at delta = 0, too little by at least 1 (10.00%)"
    assert said in result.stdout.str()
    assert summary(result)[:2] == (2, 0.0)


def test_nothing_is_printed_and_little_loaded_when_unused(session, pytester):
    pytester.makepyfile("""
        import sys

        def test_nothing():
            heavy = {"numpy", "scipy", "numba"}
            heavy |= {"simulator.trials.testing", "simulator.trials.auditing"}
            assert not heavy & set(sys.modules)
    """)
    result = session(subprocess=True)
    result.assert_outcomes(passed=1)
    printed = [line for line in result.outlines if not line.startswith("plugins: ")]
    assert not any("dpcompose" in line for line in printed)


def test_the_distribution_announces_the_plugin():
    project = tomllib.loads((stages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {
        "dpcompose": "simulator.doors.pytest_plugin"
    }


def test_the_plugin_imports_nothing_heavy():
    program = "import simulator.doors.pytest_plugin, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=stages.ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "scipy", "numba", "joblib", "click"} & set(loaded)
