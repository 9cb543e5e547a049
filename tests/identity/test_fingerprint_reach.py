"""Whatever an adversary reaches is in its fingerprint, or is named as not covered."""

import copy
import copyreg
import enum
import functools
import importlib
import logging
import math
import numbers
import random
import re
import sys
import types
import uuid
from dataclasses import dataclass

import numba
import numpy as np
import pytest
import scipy.stats

from simulator import Database, Laplace, counting_query
from simulator.identity.fingerprint import Walk, fingerprint
from simulator.theory.filters.sums import SumFilter
from tests.helpers.cases import case


def mark(value):
    return fingerprint(value=value).digest


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a module, or a package's module, to disk and import it under a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def write(source, name=None):
        name = name or f"own_{uuid.uuid4().hex}"
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in path.parents:
            if folder != tmp_path and tmp_path in folder.parents:
                (folder / "__init__.py").touch()
        path.write_text(source)
        importlib.invalidate_caches()
        made.append(name)
        return importlib.import_module(name)

    yield write
    for name in made:
        sys.modules.pop(name, None)


SCALE = 1.0
TABLE = np.zeros(3)


def reads_a_global(answer):
    return SCALE * answer


def reads_by_name(answer):
    return globals()["SC" + "ALE"] * answer  # no name of the code leads there


def reads_a_table(answer):
    return answer + TABLE[0]


def wrapped_reader(function):
    @functools.wraps(function)
    def wrapper(answer):
        return function(answer) * SCALE

    return wrapper


@wrapped_reader
def decorated(answer):
    return answer


class Base:
    def factor(self):
        return SCALE


class Derived(Base):
    __slots__ = ("_hidden",)
    _table = (1.0,)

    def __init__(self, hidden):
        self._hidden = hidden

    def __call__(self, answer):
        return answer * self.factor() * self._hidden * getattr(self, "_ta" + "ble")[0]


@pytest.mark.parametrize(
    "reader",
    [
        reads_a_global, decorated, Derived(1.0), Derived(1.0).__call__,
        functools.partial(reads_a_global, answer=2.0), lambda answer: reads_a_global(answer),
    ],
)  # fmt: skip
def test_a_global_that_is_reached_in_any_way_counts(reader, monkeypatch):
    before = mark(reader)
    assert mark(reader) == before
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 1.5)
    assert mark(reader) != before


def test_an_array_changed_in_place_counts():
    before, closed_over = mark(reads_a_table), np.zeros(2)
    closure = mark(lambda: closed_over)
    TABLE[2] = 1.0
    closed_over[1] = -0.0
    try:
        assert mark(reads_a_table) != before
        assert mark(lambda: closed_over) != closure
    finally:
        TABLE[2] = 0.0


def test_members_of_classes_and_slots_of_instances_count(monkeypatch):
    before = mark(Derived(1.0))
    assert mark(Derived(2.0)) != before
    monkeypatch.setattr(Derived, "_table", (2.0,))
    changed = mark(Derived(1.0))
    assert changed != before
    monkeypatch.setattr(Base, "factor", lambda self: 2.0)
    assert mark(Derived(1.0)) not in (before, changed)


def test_a_mutable_default_and_an_attribute_of_a_function_count():
    def remembers(answer, seen=[]):  # noqa: B006
        return len(seen) + answer

    before = mark(remembers)
    remembers.__defaults__[0].append(1)
    grown = mark(remembers)
    remembers.stride = 3
    assert len({before, grown, mark(remembers)}) == 3


def test_a_helper_module_counts_whole_and_so_does_one_imported_late(written):
    helper = written("SCALE = 1.0\ndef scale(x):\n    return SCALE * x\n", "pack.inner.helper")
    source = "{0}\ndef step(x):\n    {1}\n    return {2}(x)\n"
    by_module = written(source.format("from pack.inner import helper", "", "helper.scale"))
    by_name = written(source.format("from pack.inner.helper import scale", "", "scale"))
    late = written(source.format("", "from pack.inner.helper import scale", "scale"))
    computed = written(source.format("import pack.inner.helper as h", "", "getattr(h, 'sc'+'ale')"))
    steps = [module.step for module in (by_module, by_name, late, computed)]
    before = [mark(step) for step in steps]
    helper.SCALE = 2.0
    assert all(mark(step) != old for step, old in zip(steps, before))
    assert all(not fingerprint(step=step).not_covered for step in steps)


def test_a_file_that_was_edited_after_its_import_is_not_read(written, tmp_path):
    module = written("def step(x):\n    return x\n", "edited_later")
    before = mark(module.step)
    (tmp_path / "edited_later.py").write_text("def step(x):\n    return 2 * x\n")
    assert mark(module.step) == before  # what plays is what was imported
    sys.modules.pop("edited_later")
    importlib.invalidate_caches()
    (tmp_path / "edited_later.py").write_text("# a longer file\ndef step(x):\n    return 2 * x\n")
    assert mark(importlib.import_module("edited_later").step) != before


def test_code_without_a_source_is_told_by_its_code():
    def made(text):
        names = {"__name__": "__main__", "LIMIT": 2}
        exec(text, names)
        return names["step"]

    first, again = (
        made("def step(x):\n    return x < LIMIT\n"),
        made("def step(x): return x < LIMIT"),
    )
    assert mark(first) == mark(again)
    assert mark(made("def step(x): return x > LIMIT")) != mark(first)
    first.__globals__["LIMIT"] = 3
    assert mark(first) != mark(again)


def test_a_wrapper_of_an_installed_function_counts_by_its_own_code():
    def doubled(function):
        @functools.wraps(function)
        def wrapper(x):
            return 2 * function(x)

        return wrapper

    def halved(function):
        @functools.wraps(function)
        def wrapper(x):
            return function(x) / 2

        return wrapper

    assert len({mark(f) for f in (random.gauss, doubled(random.gauss), halved(random.gauss))}) == 3


def test_a_number_or_a_list_of_ones_own_counts_by_what_it_holds():
    class Number(float):
        def __repr__(self):
            return "1.0"

    class Numbers(list):
        pass

    assert mark(Number(1.0)) != mark(Number(2.0))
    assert mark(Numbers([1.0])) != mark(Numbers([2.0]))
    assert mark(Numbers([1.0])) != mark([1.0])
    tagged = Numbers([1.0])
    tagged.tag = "x"
    assert mark(tagged) != mark(Numbers([1.0]))


@dataclass(frozen=True)
class Person:
    name: str
    age: int


def test_records_that_are_objects_count_in_no_order():
    people = [Person("alice", 30), Person("bob", 40), Person("carol", 50)]
    assert mark(Database(people)) == mark(Database(people[::-1]))
    assert mark(Database(people)) != mark(Database([*people[:2], Person("carol", 51)]))


def test_a_filter_of_the_users_counts_by_its_step(written):
    source = (
        "from simulator.theory.filters.sums import SumFilter\n"
        "class Mine(SumFilter):\n"
        "    name = 'mine'\n"
        "    @staticmethod\n"
        "    def step(state, epsilon, delta):\n"
        "        return {}, state\n"
    )
    generous, strict, again = (written(source.format(text)) for text in ("True", "False", "True"))
    assert mark(generous.Mine(1.0)) != mark(strict.Mine(1.0))
    assert mark(generous.Mine(1.0)) == mark(again.Mine(1.0))
    assert mark(SumFilter(1.0)) != mark(SumFilter(2.0))


def test_names_that_a_module_makes_when_they_are_looked_up_count(written):
    makes = "def __getattr__(name):\n    return {}\n"
    uses = "import {0}\ndef step(x):\n    return {0}.scale * x\n"
    marks = []
    for number, scale in enumerate((1.5, 12.5)):  # equal sizes could be one compiled file
        written(makes.format(scale), "made_late")
        marks.append(mark(written(uses.format("made_late"), f"user_{number}").step))
        sys.modules.pop("made_late")
    assert marks[0] != marks[1]


def test_a_number_that_was_set_in_an_installed_module_counts(monkeypatch):
    def turn():
        return math.tau

    before = mark(turn)
    monkeypatch.setattr(math, "tau", 6.0)
    assert mark(turn) != before


class Side(enum.Flag):
    LEFT = enum.auto()
    RIGHT = enum.auto()


class Slotted:
    __slots__ = ("x",)


class Lazy:
    @functools.cached_property
    def table(self):
        return [1.0]


@functools.singledispatch
def shown(x):
    return x


def test_what_is_made_at_first_use_does_not_count():
    vectorized = np.vectorize(lambda x: x + 1.0, otypes=[float])
    remembered = functools.lru_cache(lambda x: x + 1.0)
    part = functools.partial(min, 1.0)
    compiled = numba.njit(lambda x: x + 1.0)
    ufunc = numba.vectorize(lambda x: x + 1.0)
    cases = {
        "a flag": (Side.LEFT, lambda: Side.LEFT | Side.RIGHT),
        "a cached property": (lazy := Lazy(), lambda: lazy.table),
        "a vectorized function": (vectorized, lambda: vectorized([1.0])),
        "a cached function": (remembered, lambda: remembered(1.0)),
        "a single dispatch": (shown, lambda: shown(1)),
        "a partial": (part, lambda: vars(part)),
        "a frozen distribution": (normal := scipy.stats.norm(0.0, 2.0), lambda: normal.rvs(2)),
        "a pattern": (pattern := re.compile("a+"), lambda: pattern.match("aa")),
        "a logger": (log := logging.getLogger("own"), lambda: log.debug("x")),
        "a compiled function": (compiled, lambda: compiled(1.0)),
        "a compiled ufunc": (ufunc, lambda: ufunc(1.0)),
        "a mechanism": (
            mechanism := Laplace(counting_query("alice"), 0.1),
            lambda: (mechanism.guarantee(), hash(mechanism), repr(mechanism)),
        ),
        "a class": (Slotted, lambda: copy.copy(Slotted())),
    }
    for name, (value, use) in cases.items():
        with case(name):
            before = fingerprint(value=value)
            assert fingerprint(value=value) == before
            use()
            assert fingerprint(value=value) == before


def opens_a_file(answer):
    with open("data.txt") as file:
        return float(file.read())


def imports_by_name(name):
    return importlib.import_module(name)


LOCK = __import__("threading").Lock()
SHARED = np.random.normal


def holds_a_lock(answer):
    return LOCK, SHARED()


def test_what_is_not_covered_is_named():
    assert fingerprint(adversary=opens_a_file).not_covered == ("adversary: opens_a_file uses open",)
    assert "import_module" in fingerprint(adversary=imports_by_name).not_covered[0]
    assert "uses globals" in fingerprint(adversary=reads_by_name).not_covered[0]
    lines = fingerprint(adversary=holds_a_lock).not_covered
    assert any("LOCK: holds a _thread.lock" in line for line in lines)
    assert any("generator that the whole process shares" in line for line in lines)
    assert fingerprint(adversary=reads_a_global).not_covered == ()


def test_long_chains_rings_and_shared_parts_end_quickly():
    chain = None
    for _ in range(20_000):
        chain = [chain]
    shared = [1.0]
    for _ in range(200):
        shared = [shared, shared]
    first, second = types.SimpleNamespace(), types.SimpleNamespace(other=None)
    first.other, second.other = second, first
    for value in (chain, shared, first):
        assert Walk().digest(value)


def test_integers_are_not_their_floats():
    assert mark(0) != mark(0.0) != mark(-0.0)


def test_the_registry_of_a_single_dispatch_is_reached_and_its_cache_is_not():
    def made(stake):
        @functools.singledispatch
        def stakes(x):
            return 0.05

        stakes.register(int, lambda x: stake)
        stakes.register(numbers.Number, lambda x: 0.0)

        def adversary(coins):
            while True:
                yield stakes(1)

        return stakes, adversary

    stakes, one = made(0.1)
    before = fingerprint(adversary=one).parts
    numbers.Number.register(type("New", (), {}))  # what is cached of abstract classes is old now
    stakes(1)
    assert fingerprint(adversary=one).parts == before
    assert fingerprint(adversary=made(0.1)[1]).parts == before
    assert fingerprint(adversary=made(0.2)[1]).parts != before


def test_an_array_that_is_loaded_in_play_is_named():
    def adversary(coins):
        yield np.load("stakes.npy")

    assert any("load" in note for note in fingerprint(adversary=adversary).not_covered)


def test_a_generator_of_numpy_at_module_level_is_taken_apart():
    own = np.random.default_rng(1)

    def adversary(coins):
        yield own.random()

    assert fingerprint(adversary=adversary).parts


def test_an_exception_that_is_closed_over_is_the_same_after_it_was_raised(monkeypatch):
    def kept_with_its_traceback(error):  # as tblib registers it, once dask is imported
        made, arguments, *_ = error.__reduce__()
        return made, arguments, (error.__dict__, error.__traceback__, error.__context__)

    class Own(Exception):
        pass

    for error in (SystemExit(0), GeneratorExit(), ValueError("odd"), Own("odd")):

        def adversary(coins, error=error):
            raise error
            yield

        before = fingerprint(adversary=adversary)
        assert fingerprint(adversary=adversary) == before
        monkeypatch.setitem(copyreg.dispatch_table, type(error), kept_with_its_traceback)
        with pytest.raises(type(error)):
            next(adversary(None))
        assert error.__dict__ == {}
        assert fingerprint(adversary=adversary) == before
    assert mark(SystemExit(0)) != mark(SystemExit(1)) != mark(GeneratorExit(1))


NAMES = {"alice", "bob"}
SIZES = {1, 2.5, (3, 4)}


def test_what_may_depend_on_the_hash_of_texts_is_named():
    def goes_through(coins):
        yield from {"alice", "bob"}

    def makes(coins):
        yield from sorted({name for name in ("alice", "bob")})

    def reaches(coins):
        yield from NAMES

    def converts(coins):
        yield list(set("ab"))

    def hashes(coins):
        yield hash("alice")

    def looks_up(coins):
        yield "alice" in {"alice", "bob"}

    def numbers(coins):
        yield from SIZES
        few, many = {1, 2}, {1, 2.5, 3, (4, 5)}
        yield from {1, 2, 3} & SIZES & few & many if coins else ()

    def grows(coins):
        found = {1, 2}
        found.add("alice")
        yield from found

    def joins(coins):
        yield from {1, 2, *coins}

    def mixes(coins):
        yield from {1, "alice"} if coins else {1, (2, "bob"), coins}

    for adversary in (goes_through, makes, reaches, converts, hashes, grows, joins, mixes):
        with case(adversary.__name__):
            [line] = fingerprint(adversary=adversary).by_hash
            assert line.endswith("may depend on the order of a set, or on a hash")
    assert "NAMES: " in fingerprint(adversary=reaches).by_hash[0]
    assert not fingerprint(adversary=looks_up).by_hash
    assert not fingerprint(adversary=numbers).by_hash
    assert not fingerprint(adversary=dataclass(frozen=True)(type("Kept", (), {}))).by_hash
