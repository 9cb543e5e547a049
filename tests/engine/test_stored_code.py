"""Kernels on disk: equal to the bit, compiled anew where an entry is damaged, foreign or of others.

A process of its own plays each time: a kernel that is loaded is not loaded again.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simulator
from simulator import PureDP
from simulator.data import ADD_REMOVE
from simulator.engine.compiled import stored_code
from simulator.engine.compiled.compiling import numba_compile
from simulator.engine.compiled.entry import generators_type
from simulator.engine.compiled.functions_of_c import NotStored, of_c
from simulator.engine.compiled.kernels import KernelKey
from simulator.engine.compiled.machine_code import Code, Loaded, compiled, linked, words_of
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import plain_kernel
from simulator.engine.compiled.steps import as_program
from simulator.engine.compiled.stored_code import FORMAT, is_stored, packed, unpacked
from simulator.engine.compiled.tilted_kernel import tilted_kernel
from simulator.engine.enumerated import covering
from simulator.engine.enumerated.covering import plays_tables
from simulator.errors import InvalidInput
from simulator.foundations.private_folder import PrivateFolder
from simulator.mechanisms import laplace
from simulator.theory.filters.sums import SumFilter
from tests.helpers.stored_kernels import rule_of

ROOT = Path(simulator.__file__).parent.parent

PROGRAM = ROOT / "tests" / "helpers" / "stored_kernels.py"


def played(cache, what, **environment):
    """What is printed by a new process, which ends with how many kernels it compiled."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], input=what, capture_output=True, text=True, cwd=ROOT,
        env=os.environ | {"DPCOMPOSE_CACHE": str(cache)} | environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    *lines, count = done.stdout.splitlines()
    return lines, int(count)


PLAY = "print(plain(0.5).tobytes().hex())"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with the entry of one kernel, and what its play prints: compiled once for all."""
    cache = tmp_path_factory.mktemp("stored") / "cache"
    lines, count = played(cache, PLAY)
    assert count == 1
    return cache, lines


@pytest.fixture
def entry(stored, tmp_path):
    """A copy of the folder for one test, what its kernel's play prints, and the entry's file.

    Beside the entry is the kernel without its step.
    """
    cache = tmp_path / "cache"
    shutil.copytree(stored[0], cache)
    (file,) = cache.glob("*.kernel")
    return cache, stored[1], file


def without_step(cache):
    """The file of the only kernel without its step."""
    (file,) = cache.glob("*.bitcode")
    return file


def test_a_stored_kernel_plays_the_same_bits(entry):
    cache, fresh, file = entry
    assert cache.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    before = sorted(cache.iterdir())
    imported = "import sys; print('numba' in sys.modules)"
    assert played(cache, f"{PLAY}\n{imported}") == ([*fresh, "False"], 0)
    assert sorted(cache.iterdir()) == before


def test_it_is_known_what_is_stored(entry, monkeypatch):
    """With its step, or the kernel without it."""
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(entry[0]))
    found = []
    for bound, every, filter_ in ((0.5, 1, None), (0.5, 2, None), (0.5, 1, SumFilter(1.0))):
        program, _ = as_program(rule_of(bound, every))
        menu = Menu.of(program, PureDP(0.2), ADD_REMOVE, filter_)
        key = KernelKey.of(plain_kernel, menu, lambda kernel: None)
        found.append(is_stored(key.name, key.step))
    assert found == [True, True, False]
    without_step(entry[0]).unlink()
    assert is_stored(key.name, key.step) is False


def test_another_step_is_linked_without_numba(entry):
    """Only the kernel around it is compiled by numba, which takes most of the time."""
    cache, fresh, file = entry
    imported = "import sys; print('numba' in sys.modules)"
    lines, count = played(cache, PLAY.replace("0.5", "0.5, 2") + "\n" + imported)
    assert (lines[1], count) == ("False", 0)
    assert lines[0] != fresh[0]
    assert len(list(cache.glob("*.kernel"))) == 2
    assert played("off", PLAY.replace("0.5", "0.5, 2")) == ([lines[0]], 1)
    assert file.exists()


@pytest.mark.nightly
def test_a_play_that_stores_nothing_has_the_same_bits(entry):
    _, fresh, _ = entry
    assert played("off", PLAY) == (fresh, 1)


def damaged(file):
    """Contents of an entry's file that are not what was stored under its name."""
    whole = file.read_bytes()
    body = whole.index(b"\n") + 1
    return {
        "flipped": whole[: body + 4000] + b"\xff" * 9 + whole[body + 4009 :],
        "empty": b"",
        "short": whole[:-1],
        "long": whole + b"\0",
        "of another name": packed(unpacked(whole, file.stem), "0" * 40),
    }


def test_what_is_damaged_is_not_read(entry):
    _, _, file = entry
    assert unpacked(file.read_bytes(), file.stem)
    for content in damaged(file).values():
        assert unpacked(content, file.stem) is None


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["flipped", "empty", "short", "long", "of another name"])
def test_what_is_damaged_is_compiled_anew(entry, kind):
    cache, fresh, file = entry
    file.write_bytes(damaged(file)[kind])
    assert played(cache, PLAY) == (fresh, 0)  # linked anew
    assert unpacked(file.read_bytes(), file.stem)  # and it is stored again
    other = without_step(cache)
    for each in (file, other):
        each.write_bytes(damaged(each)[kind])
    assert played(cache, PLAY) == (fresh, 1)
    assert unpacked(file.read_bytes(), file.stem)
    assert unpacked(other.read_bytes(), other.stem)


@pytest.mark.nightly
def test_what_is_foreign_is_compiled_anew(entry):
    cache, fresh, file = entry
    other = without_step(cache)
    file.chmod(0o622)
    assert played(cache, PLAY) == (fresh, 0)
    for each in (file, other):
        each.chmod(0o622)
    assert played(cache, PLAY) == (fresh, 1)
    other.unlink()
    elsewhere = cache.parent / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert played(cache, PLAY) == (fresh, 1)


def test_a_changed_constant_setting_or_version_has_another_name(monkeypatch):
    def press(bound):
        def step(state, i, answer, coins):
            return state, 1 if answer > bound else 0

        return step

    def name():
        stored_code.surroundings.cache_clear()
        return stored_code.name_of(step=press(0.5), sample=laplace._sample)

    whole = name()
    names = {whole, stored_code.name_of(step=press(0.75), sample=laplace._sample)}
    assert name() == whole
    changed = laplace._sample.__code__.replace(co_name="x")
    for where, value in (
        ("simulator.engine.compiled.stored_code.FORMAT", "another"),
        ("simulator.engine.compiled.stored_code.version", lambda name: "another"),
        ("simulator.mechanisms.laplace._sample.__code__", changed),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, value)
            names.add(name())
    with monkeypatch.context() as patch:
        patch.setenv("NUMBA_OPT", "1")
        names.add(name())
    assert None not in names
    assert len(names) == 6
    assert name() == whole


def test_the_kernel_of_a_covering_measure_has_the_name_of_its_code(monkeypatch):
    def name():
        return covering.covering_kernel.__wrapped__(()).name

    whole = name()
    assert whole
    changed = covering.picked.__code__.replace(co_name="x")
    monkeypatch.setattr("simulator.engine.enumerated.covering.picked.__code__", changed)
    assert name() not in (None, whole)


@pytest.mark.nightly
def test_a_changed_constant_setting_or_version_is_another_kernel(entry):
    cache, fresh, _ = entry
    lines, count = played(cache, PLAY.replace("0.5", "0.75"))
    assert count == 0  # a float is in the state, and the kernel serves both
    assert lines != fresh
    assert played(cache, PLAY, NUMBA_OPT="1") == (fresh, 1)
    assert played(cache, f"stored_code.FORMAT = 'another'\n{PLAY}") == (fresh, 1)
    changed = "from simulator.mechanisms import laplace\n"
    changed += "code = laplace._sample.__code__.replace(co_name='x')\n"
    changed += "laplace._sample.__code__ = code\n"
    assert played(cache, changed + PLAY) == (fresh, 1)


@pytest.mark.nightly
def test_two_processes_at_once(tmp_path):
    both = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, cwd=ROOT, env=os.environ | {"DPCOMPOSE_CACHE": str(tmp_path / "cache")},
        )
        for _ in range(2)
    ]  # fmt: skip
    for each in both:
        each.stdin.write(PLAY)
        each.stdin.close()
    one, two = (each.stdout.read().split() for each in both)
    assert [each.wait() for each in both] == [0, 0]
    assert one[0] == two[0]
    assert played(tmp_path / "cache", PLAY) == (one[:1], 0)


@pytest.mark.nightly
def test_kernels_of_several_processes_play_in_one(entry):
    """numba counts symbols from 1 in every process, so symbols of several kernels are the same."""
    cache, fresh, _ = entry
    other, _ = played(cache, PLAY.replace("0.5", "0.5, 2"))  # whole numbers are in the text
    assert played(cache, f"{PLAY}\n{PLAY.replace('0.5', '0.5, 2')}") == (fresh + other, 0)


@pytest.mark.nightly
def test_kernels_of_six_processes_play_in_one(tmp_path):
    cache = tmp_path / "cache"
    plays = [
        f"print({kind}(0.5, {every}).tobytes().hex())"
        for kind in ("plain", "tilted")
        for every in (1, 2, 3)
    ]
    alone = [played(cache, play) for play in plays]
    assert [count for _, count in alone] == [1, 0, 0] * 2
    assert played(cache, "\n".join(plays)) == ([line for lines, _ in alone for line in lines], 0)


def test_what_numba_has_no_digest_of_has_no_name():
    written = {"__name__": "a_users_module"}
    exec("import numba\nhelper = numba.njit(lambda x: x)\ndef f(x): return x\n", written)
    assert stored_code.name_of(step=written["f"]) is None
    del written["numba"], written["helper"]
    assert stored_code.name_of(step=written["f"])


def test_an_entry_is_what_was_packed():
    code = Code("entry", ("exp", "pow"), b"\n23")
    whole = packed(code, "a")
    assert unpacked(whole, "a") == code
    assert unpacked(whole, "b") is None
    assert unpacked(whole.replace(b"exp", b"sin"), "a") is None
    assert unpacked(json.dumps({"format": FORMAT, "name": "a"}).encode() + b"\n", "a") is None


@pytest.mark.parametrize("make", [plain_kernel, tilted_kernel, plays_tables])
def test_a_kernel_has_the_same_name_after_code_was_loaded(make):
    before = stored_code.name_of(make=make)
    assert before
    for name in ("dpcompose_c_pow", "exp"):
        of_c(name)
    assert stored_code.name_of(make=make) == before


def test_words_are_what_machine_code_reads():
    noise, array = np.random.default_rng(1), np.zeros((2, 3))
    kinds, words = words_of((1, True, -0.0, (array, (2,)), noise))
    assert kinds == ("int", "bool", "float", ("tuple", (("float64", 2), ("tuple", ("int",)))),
                     "generator")  # fmt: skip
    address = noise.bit_generator.ctypes.state_address
    assert words[:8] == [1, 1, -(2**63), array.ctypes.data, 2, 3, 2, address]
    with pytest.raises(OverflowError):
        words_of((2**63,))
    for odd in (array.T, array.astype(np.float32), "a"):
        with pytest.raises(NotStored):
            words_of((odd,))


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize(
    ("made", "refused"),
    [
        ("0.5", ""),
        ("math.gamma(array[0])", "numba_gamma"),
        ("np.zeros(len(array))[0]", "NRT_"),
        ("np.linalg.det(np.ones((2, 2)))", "NRT_|numba_"),
    ],
)
def test_code_that_calls_numba_is_not_stored(made, refused):
    written = {"np": np, "math": math}
    exec(f"def kernel(array):\n x = {made}\n return 0, 0, 0, 0, x, 0.0, 0.0", written)
    kernel, arguments = numba_compile(written["kernel"]), (np.ones(3),)
    unlinked = compiled(kernel, arguments)
    assert (not refused) == (not unlinked.foreign)
    assert re.search(refused, " ".join(unlinked.foreign))
    code = linked(unlinked, "")
    assert refused or set(code.needs) <= {"memset"}
    x = eval(made, written | {"array": arguments[0]})
    assert Loaded(code)(words_of(arguments)[1]) == (0, 0, 0, 0, pytest.approx(x), 0.0, 0.0)


def test_the_folder_is_named_or_off(monkeypatch, tmp_path):
    monkeypatch.setenv("DPCOMPOSE_CACHE", "off")
    assert stored_code.store() is None
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(tmp_path / "named"))
    assert stored_code.store().path == tmp_path / "named"
    monkeypatch.setenv("DPCOMPOSE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert stored_code.store().path == tmp_path / "caches" / "dpcompose"
    monkeypatch.setenv("XDG_CACHE_HOME", "here")  # not absolute: the standard says to ignore it
    monkeypatch.setenv("HOME", str(tmp_path))
    assert stored_code.store().path == tmp_path / ".cache" / "dpcompose"
    (tmp_path / ".cache" / "dpcompose").chmod(0o777)
    assert stored_code.store() is None
    monkeypatch.setenv("DPCOMPOSE_CACHE", str(tmp_path / ".cache" / "dpcompose"))
    with pytest.raises(InvalidInput, match="others can write it"):
        stored_code.store()
    assert PrivateFolder(tmp_path / "named").path.is_dir()


def draws_of_each_kind(losses, coins):
    for i in range(0, len(losses), 4):
        losses[i] = coins.random()
        losses[i + 1] = coins.standard_exponential()
        losses[i + 2] = coins.standard_normal()
        losses[i + 3] = coins.gamma(2.5)
    return 0, 0, 0, 0, 0.0, 0.0, 0.0


def test_machine_code_draws_what_numpy_draws():
    """By numpy's functions or by numba's, the same bits."""
    losses, coins = np.zeros(4000), np.random.default_rng(5)
    code = linked(compiled(numba_compile(draws_of_each_kind), (losses, coins)), "")
    assert {"random_standard_exponential", "random_standard_normal"} <= set(code.needs)
    Loaded(code)(words_of((losses, coins))[1])
    by_numpy = np.zeros(4000)
    draws_of_each_kind(by_numpy, np.random.default_rng(5))
    assert losses.tobytes() == by_numpy.tobytes()


def test_numba_draws_where_numpy_hides_its_functions(monkeypatch):
    """Then machine code needs none of them."""
    losses = np.zeros(4)
    monkeypatch.setattr("simulator.engine.compiled.entry.IN_NUMPY", ())
    generators_type.cache_clear()
    try:
        arguments = losses, np.random.default_rng(0)
        code = linked(compiled(numba_compile(draws_of_each_kind), arguments), "")
    finally:
        generators_type.cache_clear()
    assert not [name for name in code.needs if name.startswith("random_")]
