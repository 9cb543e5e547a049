"""The false-alarm budget of a session of pytest: shares in reruns, threads, forks and workers."""

import contextlib
import os
import re
import shlex
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from simulator.auditing import pytest_plugin as plugin
from simulator.auditing.audits.spending import Spending, part, share, three_digits
from tests.auditing.pytest_plugin.stub_audit import MECHANISMS, STUB, spent_by, summary

pytest_plugins = ["pytester"]


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
        from simulator.auditing import audits as auditing

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

    monkeypatch.setattr(mine, "_make_spending", slowly)
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


def test_workers_have_parts_that_add_up_to_the_budget():
    """Of three workers and all that may replace them; a part each, not the budget each."""
    options = {"--dp-seed": 0, "--dp-false-alarm": "0.05", "--dp-alpha": None}
    budgets = []
    for number in range(200):
        config = SimpleNamespace(
            workerinput={plugin._NUMBER: number, "workercount": 3}, getoption=options.get
        )
        budgets.append(plugin._Session(config)._make_spending().budget)
    assert max(budgets) < 0.02
    assert 0.04 < sum(budgets) <= 0.05
