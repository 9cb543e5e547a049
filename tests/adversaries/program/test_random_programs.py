"""Steps hold against their generators on programs that chance writes, and broken ones do not."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.adversaries.program import assembly
from tests.helpers import random_programs
from tests.helpers.exploring import examples
from tests.helpers.random_programs import agreed, kernel_agreed

ROOT = Path(__file__).parents[3]


@examples(100)
@given(st.integers(0, 2**40))
def test_a_step_plays_as_its_generator(seed):
    agreed(seed)


@examples(100)
@given(st.integers(0, 2**40))
@example(201012)  # LLVM takes fmod of NaN for no value at all
def test_the_step_of_a_rule_plays_as_the_rule(seed):
    agreed(seed, step=True)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(2000, 2004))
def test_a_whole_kernel_plays_as_python(seed):
    assert kernel_agreed(seed)


NEW = 10**6 * date.today().toordinal()
"""The first of the night's seeds, of which each night has its own."""


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(100))
def test_new_programs_play_compiled_as_in_python(batch):
    """A hundred programs in a process of its own, as numba does not give memory back."""
    seeds = NEW + 50 * batch, NEW + 50 * batch + 50
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.random_programs", *map(str, seeds)],
        capture_output=True, text=True, cwd=ROOT, check=False, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, f"seeds {seeds}: {done.stdout}\n{done.stderr[-2000:]}"
    assert int(done.stdout.split()[-1]) >= 3000, done.stdout


def test_a_difference_ends_a_batch(monkeypatch, capsys):
    monkeypatch.setattr(random_programs, "agreed", lambda seed, **how: 1 / (seed - 7))
    monkeypatch.setattr(random_programs, "kernel_agreed", bool)
    assert random_programs.batch(6, 9) == 1
    assert "seed 7 differs, compiled: ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.sampled
@pytest.mark.parametrize(("step", "least"), [(False, 600), (True, 600)])
def test_most_programs_are_read_and_play(step, least):
    found = [agreed(seed, step=step) for seed in range(12)]
    assert sum(rounds is None for rounds in found) <= 3
    assert sum(rounds or 0 for rounds in found) >= least


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize(
    ("name", "base", "broken", "seeds"),
    [
        ("//", "float", "$r = fdiv double $a, $b", range(170, 180)),
        ("%", "float", "$r = frem double $a, $b", range(30, 40)),
        ("min", "int", "$r = or i64 $a, 0", range(475, 485)),
        ("**", "float", "$r = fmul double $a, $a", range(115, 125)),
        ("%", "int", "%no = icmp eq i64 $b, 0\nstop %no\n$r = srem i64 $a, $b", range(25, 35)),
    ],
)
def test_chance_finds_a_broken_operation(monkeypatch, name, base, broken, seeds):
    """Among ten programs, of which one was found by a search through the first 500."""
    monkeypatch.setitem(assembly.TEMPLATES, (name, base), broken)

    def wrong(seed: int) -> bool:
        try:
            agreed(seed)
        except AssertionError:
            return True
        return False

    assert any(wrong(seed) for seed in seeds)
