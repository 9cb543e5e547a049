"""Another package adds a library, a mechanism, an adversary, a family, a filter by entry points."""

import sys

import pytest

from simulator import simulate
from simulator.adversaries.registry import entries, make
from simulator.auditing import conformance
from simulator.auditing.conformance.accountants import worker_for
from simulator.errors import InvalidInput
from simulator.foundations.extensions import added
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound, bounds_for
from simulator.theory.events.named import MECHANISMS, compare, mechanism_names, named_mechanism
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.worst.menu_parsing import parse_menu

MODULE = '''
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import Laplace
from simulator.theory import ApproxDP, Bound
from simulator.theory.events import LaplaceEvent
from simulator.theory.events.named import EventMechanism
from simulator.theory.filters.sums import SumFilter
from simulator.auditing.conformance import Library, Subject

class Claims:
    """Claims half of the sum."""
    def epsilon(self, events, delta):
        return 0.1 * sum(event.parameter * event.count for event in events)
    def delta(self, events, epsilon):
        return 0.5

LIBRARY = Library(
    name="guest", distribution="guest", packages=(), extra="",
    load=lambda: [Subject(name="Claims", role="accountant", make=Claims, claims="half",
                          kinds=("pure",))],
)

def patient(family, rounds):
    """Plays Laplace noise of a tenth.

    And nothing else."""
    def play(coins):
        while True:
            yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)
    return play

class Leaky(ApproxDP):
    kind = "leaky"

class Half(SumFilter):
    name = "half"

class Twice(Bound):
    """Twice the sum: sound and loose."""
    name = "twice"
    source = "none"
    def _why_not(self, core):
        return None
    def _epsilon(self, core, delta):
        return 2.0 * core.total(lambda guarantee: guarantee.pure_epsilon)
    def _delta(self, core, epsilon):
        return 0.0 if epsilon >= self._epsilon(core, 0.0) else 1.0

def quiet_laplace(epsilon):
    return Laplace(ALICE, epsilon / 2)

OWN = EventMechanism(lambda epsilon: LaplaceEvent(1.0, epsilon), "Laplace noise again.")

broken = 3
'''

METADATA = "Metadata-Version: 2.1\nName: guest\nVersion: 1.5\n"
POINTS = """
[dpcompose.libraries]
guest = guest_package

[dpcompose.adversaries]
patient = guest_package:patient
double-when-behind = guest_package:patient

[dpcompose.families]
leaky = guest_package:Leaky
pure = guest_package:Leaky
no-family = guest_package:broken

[dpcompose.bounds]
twice = guest_package:Twice

[dpcompose.filters]
half = guest_package:Half
no-filter = guest_package:broken

[dpcompose.mechanisms]
quiet-laplace = guest_package:quiet_laplace
own = guest_package:OWN
no-mechanism = guest_package:broken
absent = guest_package:absent
"""


@pytest.fixture
def guest(tmp_path, monkeypatch):
    """A folder with an installed package, on the paths of this process and its children."""
    (tmp_path / "guest_package.py").write_text(MODULE, encoding="utf-8")
    folder = tmp_path / "guest-1.5.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA, encoding="utf-8")
    (folder / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    added.cache_clear()
    yield tmp_path
    added.cache_clear()
    sys.modules.pop("guest_package", None)


def pure_cases():
    found = conformance.cases(share=0.2)
    return [case for case in found if all(event.kind == "pure" for event in case.events)][:3]


def test_a_library_is_found_by_a_worker(guest):
    assert conformance.names()[-1] == "guest"
    with worker_for("guest") as worker:
        loaded = worker.start()
    assert loaded["version"] == "1.5"
    assert [subject["name"] for subject in loaded["subjects"]] == ["Claims"]


def test_an_adapter_is_tried_by_its_path(guest, monkeypatch):
    path = guest / "guest_package.py"
    (guest / "guest-1.5.dist-info" / "entry_points.txt").write_text("", encoding="utf-8")
    added.cache_clear()
    report = conformance.tried(str(path), pure_cases())
    assert not report.found.absent
    assert any(defect.subject == "Claims" for defect in report.defects)


def test_an_adversary_plays(guest):
    found = {entry.name: entry for entry in entries()}
    assert found["patient"].summary == "Plays Laplace noise of a tenth."
    assert "patient" not in found["double-when-behind"].make.__qualname__  # the library's own wins
    result = simulate("patient", "pure:0.2", rounds=3, trials=20, seed=1)
    assert result.specification.rounds == 3


def test_a_filter_and_a_mechanism_are_read(guest):
    found = parse_filter("half:1")
    assert type(found).__name__ == "Half"
    assert str(found).startswith("half:1.0")
    (entry,) = parse_menu("quiet-laplace:0.4")
    assert entry.name == "quiet-laplace:0.4"
    assert entry.promise.epsilon == pytest.approx(0.2)


def test_a_bound_is_compared_with_the_others(guest):
    composition = Composition.repeat(PureDP(0.1), 10)
    assert bound("twice").on(composition).epsilon(1e-6).value == pytest.approx(2.0)
    assert "twice" in {ready.name for ready in bounds_for(composition)}
    rows = {row.name: row for row in compare("pure:0.1*10", delta=1e-6)}
    assert rows["twice"].answer.upper == pytest.approx(2.0)


def test_a_bound_that_is_none_is_refused_in_a_line(guest):
    points = guest / "guest-1.5.dist-info" / "entry_points.txt"
    points.write_text("[dpcompose.bounds]\nno-bound = guest_package:broken\n", encoding="utf-8")
    added.cache_clear()
    with pytest.raises(InvalidInput, match="'no-bound' must be a subclass of Bound, not 3"):
        bound("basic")


def test_a_family_is_read_and_replaces_none_of_this_package(guest):
    assert str(parse_guarantee("leaky:0.1,1e-6")) == "leaky:0.1,1e-06"
    assert type(parse_guarantee("pure:0.1")) is PureDP


def test_a_mechanism_counts_by_its_guarantee_and_one_with_an_event_by_that(guest):
    def answers(text):
        return [row.answer for row in compare(text, delta=1e-6)]

    assert answers("quiet-laplace:epsilon=0.4*10") == answers("pure:0.2*10")
    assert answers("own:0.2*10") == answers("laplace:0.2*10")
    with pytest.raises(InvalidInput, match="own is no mechanism that an adversary can choose"):
        parse_menu("own:0.2")
    assert {"own", "quiet-laplace"} <= set(mechanism_names()) - set(MECHANISMS)
    with pytest.raises(InvalidInput, match="unknown menu entry") as caught:
        parse_menu("zzz:1")
    assert "quiet-laplace" in str(caught.value)
    assert ", own" not in str(caught.value)


def test_an_entry_point_that_cannot_be_loaded_hides_no_other(guest):
    points = guest / "guest-1.5.dist-info" / "entry_points.txt"
    points.write_text(
        "[dpcompose.libraries]\nguest = guest_package\ngone = no_such_package:LIBRARY\n"
        "[dpcompose.adversaries]\npatient = guest_package:patient\nlost = no_such_package:make\n",
        encoding="utf-8",
    )
    added.cache_clear()
    status = {one.name: one.absent for one in conformance.statuses(conformance.names())}
    assert status["guest"] == status["dpcompose"] == ""
    assert "'gone' of dpcompose.libraries of guest cannot be loaded" in status["gone"]
    listed = {entry.name: entry for entry in entries()}
    assert "cannot be loaded: no_such_package is not installed" in listed["lost"].summary
    assert not listed["lost"].plays_in(PureDP(0.1))
    assert listed["patient"].plays_in(PureDP(0.1))
    with pytest.raises(InvalidInput, match=r"'lost' of dpcompose\.adversaries of guest"):
        make("lost", PureDP(0.1), 3)
    with pytest.raises(InvalidInput, match=r"'gone' of dpcompose\.libraries of guest"):
        conformance.check_names(["gone"])


def test_what_is_wrong_is_one_line(guest, tmp_path):
    with pytest.raises(InvalidInput, match="'no-filter' must be a subclass of Filter"):
        parse_filter("no-filter:1")
    with pytest.raises(InvalidInput, match="'no-family' must be a subclass of Guarantee"):
        parse_guarantee("no-family:1")
    with pytest.raises(InvalidInput, match="'no-mechanism' must be a NamedMechanism, or make"):
        compare("no-mechanism:1", delta=0.1)
    with pytest.raises(InvalidInput, match=r"of dpcompose\.mechanisms of guest cannot be loaded"):
        parse_menu("absent:1")
    with pytest.raises(InvalidInput, match=r"one of .*guest, or path/to/adapter.py"):
        conformance.check_names(["nothing"])
    with pytest.raises(InvalidInput, match="no file"):
        conformance.check_names([str(tmp_path / "missing.py")])
    empty = tmp_path / "empty.py"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="has no LIBRARY"):
        conformance.check_names([str(empty)])


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda name: parse_guarantee(f"{name}:Mine:1"), "family"),
        (lambda name: parse_filter(f"{name}:Mine:1"), "filter"),
        (named_mechanism, "mechanism"),
    ],
    ids=["family", "filter", "mechanism"],
)
def test_what_is_not_loaded_from_a_file_says_how_to_use_it(read, kind):
    with pytest.raises(InvalidInput, match=f"a {kind} is not loaded from a file .mine.py.: in Py"):
        read("mine.py")
    with pytest.raises(InvalidInput) as other:
        read("mine")
    assert "loaded" not in str(other.value)
