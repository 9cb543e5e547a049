"""Sessions of pytest with the plugin: failures and their replays, options, and loading."""

import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from experiments import stages
from simulator.auditing.audits.spending import share, three_digits
from tests.auditing.pytest_plugin.stub_audit import MECHANISMS, spent_by, summary

pytest_plugins = ["pytester"]


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
        r"E +found +epsilon >= 0\.123 at delta = 0\n",
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
        ("dp.assert_private(print, 1, 0, claimed='pure:x')", "epsilon must be a number"),
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
            heavy |= {"simulator.auditing.testing", "simulator.auditing.audits"}
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
    program = "import simulator.auditing.pytest_plugin, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=stages.ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "scipy", "numba", "joblib", "click"} & set(loaded)
