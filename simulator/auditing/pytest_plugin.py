"""The pytest plugin: the fixture ``dp``, whose assertions share one false-alarm budget.

``--dp-false-alarm`` (ini option ``dp_false_alarm``) is an upper bound on the probability that any
assertion of the session fails on mechanisms that keep their claims, for any number of assertions
and of processes of pytest-xdist; see :mod:`simulator.auditing.audits.spending`. A test that is
rerun has the same draws and the same share of the budget, hence the same outcome. The assertions
are those of :mod:`simulator.auditing.testing`, which is imported when one is called.
"""

from __future__ import annotations

import itertools
import os
import shlex
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import pytest

from simulator.foundations.errors import DpcomposeError
from simulator.foundations.wording import count_of

if TYPE_CHECKING:
    from simulator.auditing.audits import AuditResult
    from simulator.auditing.audits.spending import FixedSpending, Spending
    from simulator.auditing.pipelines import PipelineReport
    from simulator.auditing.testing.assertions import Rounds
    from simulator.theory import Bracket, Guarantee

FALSE_ALARM, SEED, ALPHA = "--dp-false-alarm", "--dp-seed", "--dp-alpha"
DEFAULT_BUDGET = 1e-6
"""The default of --dp-false-alarm."""
_NUMBER = "dpcompose_number"
"""The entry of pytest-xdist's ``workerinput`` with the number of a worker."""
_TALLY = "dpcompose"
"""The attribute of a test report with the counts of its process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options to pytest."""
    group = parser.getgroup("dpcompose", "assertions on differential privacy (fixture dp)")
    group.addoption(
        FALSE_ALARM,
        metavar="P",
        help="Largest probability that any assertion of the session fails though all mechanisms "
        f"keep their claims. [default: the ini option dp_false_alarm, or {DEFAULT_BUDGET:g}]",
    )
    group.addoption(
        SEED, type=int, default=0, metavar="N", help="Seed of all draws, >= 0. [default: 0]"
    )
    group.addoption(
        ALPHA,
        metavar="P",
        help="False-alarm probability of every assertion, instead of a divided budget; replays a "
        "failure.",
    )
    parser.addini("dp_false_alarm", f"As {FALSE_ALARM}.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; raises UsageError for a value outside its range."""
    config.pluginmanager.register(_Session(config), "dpcompose-session")


@pytest.fixture
def dp(request: pytest.FixtureRequest) -> Assertions:
    """Return the assertions: private, composition, accountant, pipeline and no adversary."""
    session: Any = request.config.pluginmanager.get_plugin("dpcompose-session")
    return Assertions(session, request.node)


@dataclass
class _Tally:
    """Counts of assertions."""

    assertions: int = 0
    spent: float = 0.0
    samples: int = 0
    seconds: float = 0.0

    def add(self, other: _Tally) -> None:
        self.assertions += other.assertions
        self.spent += other.spent
        self.samples += other.samples
        self.seconds += other.seconds


class _Session:
    """The options and counts of one session, or of one worker of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        worker = getattr(config, "workerinput", None) or {}
        self._process = os.getpid()
        self._number = worker.get(_NUMBER, -1)
        self._tallies: dict[tuple[int, int], _Tally] = {}  # by worker number and process id
        self._lock = threading.Lock()
        self.seed = config.getoption(SEED)
        if self.seed < 0:
            raise pytest.UsageError(f"{SEED} must be at least 0, not {self.seed}")
        stated = config.getoption(FALSE_ALARM)
        where, stated = (
            (FALSE_ALARM, stated)
            if stated is not None
            else ("dp_false_alarm", config.getini("dp_false_alarm") or str(DEFAULT_BUDGET))
        )
        self.budget = _probability(where, stated)
        alpha = config.getoption(ALPHA)
        self.alpha = None if alpha is None else _probability(ALPHA, alpha)
        self._spending: Spending | FixedSpending | None = None
        self._shares: dict[tuple[str, int], float] = {}
        self._numbered = 0

    def spend(self, test: str, number: int) -> tuple[float, float]:
        """Return the false-alarm probability of an assertion, and how much of it is newly spent.

        It is the ``number``-th assertion of ``test``. A test that is rerun has the same draws, and
        hence keeps the shares of its assertions.
        """
        with self._lock:
            if (test, number) in self._shares:
                return self._shares[test, number], 0.0
            if self._spending is None:
                self._spending = self._make_spending()
            alpha = self._shares[test, number] = self._spending.spend()
        return alpha, alpha

    def count(self, tally: _Tally) -> None:
        """Count an assertion."""
        with self._lock:
            self._tallies.setdefault((self._number, os.getpid()), _Tally()).add(tally)

    def _make_spending(self) -> Spending | FixedSpending:
        from simulator.auditing.audits.spending import LEAST, FixedSpending, Spending, part

        if self.alpha is not None:
            if self.alpha < LEAST:
                raise pytest.UsageError(f"{ALPHA} must be at least {LEAST:.2g}, not {self.alpha:g}")
            return FixedSpending(self.alpha)
        worker = getattr(self.config, "workerinput", None)
        if worker is None:
            return Spending(self.budget, self._process)
        if _NUMBER not in worker:
            raise pytest.UsageError("pytest-xdist's controller did not load the plugin dpcompose")
        budget = self.budget * part(worker[_NUMBER], worker["workercount"])
        return Spending(budget, self._process)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Number the workers of pytest-xdist; a worker that replaces another gets a new number."""
        node.workerinput[_NUMBER] = self._numbered
        self._numbered += 1

    @pytest.hookimpl(hookwrapper=True)  # not wrapper=True, which an old pluggy lacks
    def pytest_runtest_makereport(self) -> Generator[None, Any, None]:
        """Attach the counts of this process to a report; pytest-xdist sends it to the controller.

        They are totals, not increments, because other plugins may discard a report.
        """
        outcome = yield
        key = (self._number, os.getpid())
        if key in self._tallies:
            setattr(outcome.get_result(), _TALLY, (*key, *astuple(self._tallies[key])))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the counts of other processes."""
        number, process, *tally = getattr(report, _TALLY, (self._number, os.getpid()))
        if (number, process) != (self._number, os.getpid()):
            self._tallies[number, process] = _Tally(*tally)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write one line, if there were assertions."""
        total = _Tally()
        for tally in self._tallies.values():
            total.add(tally)
        if not total.assertions:
            return
        budget = f"of {self.budget:.3g}" if self.alpha is None else f"({ALPHA} {self.alpha:g})"
        terminalreporter.write_line(
            f"dpcompose: {count_of(total.assertions, 'assertion', spec=',')}, "
            f"false-alarm budget {total.spent:.3g} {budget} spent, "
            f"{count_of(total.samples, 'sample', spec=',')}, {total.seconds:.1f} s"
        )


class Assertions:
    """The fixture ``dp``: the assertions of :mod:`simulator.auditing.testing`, on one budget.

    Each takes the next part of the session's false-alarm budget. Its seed is a function of
    ``--dp-seed``, of the test's name and file name, and of its number within the test.
    """

    def __init__(self, session: _Session, item: pytest.Item) -> None:
        self._session = session
        # not item.nodeid: pytest-xdist appends a test's group to it
        parent = item.parent.nodeid if item.parent is not None else ""
        path, *inner = f"{parent}::{item.name}".split("::")
        # without the folder, which depends on the arguments of pytest
        self._name = "::".join([path.rpartition("/")[2], *inner])
        config = item.config
        relative = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
        self._address = "::".join([relative, *inner])
        self._numbers = itertools.count()  # safe in threads

    def assert_private(
        self,
        mechanism: Callable[..., Any],
        input_0: Any = None,
        input_1: Any = None,
        *,
        claimed: Guarantee | str,
        **options: Any,
    ) -> AuditResult:
        """Call ``assert_private`` with its share of the budget and a seed."""
        __tracebackhide__ = True
        from simulator.auditing.testing import assert_private

        return self._drawing(
            assert_private, mechanism, input_0, input_1, claimed=claimed, **options
        )

    def assert_composition(
        self,
        adversary: Callable[..., Any],
        family: Guarantee | str,
        rounds: int,
        *,
        claimed: Guarantee | str,
        **options: Any,
    ) -> AuditResult:
        """Call ``assert_composition`` with its share of the budget and a seed."""
        __tracebackhide__ = True
        from simulator.auditing.testing import assert_composition

        return self._drawing(
            assert_composition, adversary, family, rounds, claimed=claimed, **options
        )

    def assert_accountant(
        self,
        claimed_epsilon: float,
        composition: Rounds,
        delta: float,
        *,
        loose: float | None = None,
    ) -> Bracket:
        """Call ``assert_accountant``, which spends nothing of the budget."""
        __tracebackhide__ = True
        from simulator.auditing.testing import assert_accountant

        arguments = (claimed_epsilon, composition, delta)
        return self._counted(0.0, assert_accountant, *arguments, loose=loose)

    def assert_pipeline(
        self,
        pipeline: Callable[..., Any],
        database: Any,
        *,
        claimed: Guarantee | str,
        **options: Any,
    ) -> PipelineReport:
        """Call ``assert_pipeline`` with a seed; it spends nothing of the budget."""
        __tracebackhide__ = True
        from simulator.auditing.testing import assert_pipeline
        from simulator.foundations.seeds import named_seed

        for name in ("seed", "replay"):
            if name in options:
                raise pytest.UsageError(f"the fixture dp takes no {name}=; give {SEED}")
        root = self._session.seed
        options["seed"] = named_seed(root, self._name, next(self._numbers))
        options["replay"] = [shlex.join(["pytest", self._address, SEED, str(root)])]
        return self._counted(0.0, assert_pipeline, pipeline, database, claimed=claimed, **options)

    def assert_no_adversary(self, claim: Any, menu: Any = None, **options: Any) -> Any:
        """Call ``assert_no_adversary`` of the attacks, with its share of the budget and a seed."""
        __tracebackhide__ = True
        from simulator.analysis.searches import assert_no_adversary

        return self._drawing(assert_no_adversary, claim, menu, **options)

    def _drawing(self, check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call an assertion with its share of the budget and a seed."""
        __tracebackhide__ = True
        from simulator.foundations.seeds import named_seed

        for name, flag in (("false_alarm", FALSE_ALARM), ("seed", SEED), ("replay", SEED)):
            if name in options:
                raise pytest.UsageError(
                    f"the fixture dp divides one budget and takes no {name}=; give {flag}, or "
                    f"call simulator.auditing.testing.{check.__name__}"
                )
        number = next(self._numbers)
        seed = named_seed(self._session.seed, self._name, number)
        try:
            alpha, spent = self._session.spend(self._address, number)
        except DpcomposeError as error:
            raise pytest.UsageError(str(error)) from None
        replay = shlex.join(
            ["pytest", self._address, SEED, str(self._session.seed), ALPHA, repr(alpha)]
        )
        options |= {"false_alarm": alpha, "seed": seed, "replay": [replay]}
        return self._counted(spent, check, *arguments, **options)

    def _counted(
        self, spent: float, check: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        """Call the check, count it however it ends, and return its result."""
        __tracebackhide__ = True
        start = time.perf_counter()
        result = None
        try:
            result = check(*arguments, **options)
            return result
        except DpcomposeError as error:
            raise pytest.UsageError(str(error)) from None
        except AssertionError as error:
            result = getattr(error, "result", None)
            raise
        finally:
            drawn = 2 * int(getattr(result, "samples", 0))
            self._session.count(_Tally(1, spent, drawn, time.perf_counter() - start))


def _probability(name: str, text: str) -> float:
    """The number of an option; raises UsageError outside (0, 1)."""
    try:
        value = float(text)
    except ValueError:
        raise pytest.UsageError(f"{name} must be a number, not {text!r}") from None
    if not 0.0 < value < 1.0:
        raise pytest.UsageError(f"{name} must lie strictly between 0 and 1, not {text}")
    return value
