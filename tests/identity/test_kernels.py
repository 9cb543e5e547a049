"""What a kernel is known by: whatever numba freezes into it, and nothing else."""

import subprocess
import sys

import numba
import numpy as np
import pytest

from simulator import ADD_REMOVE, Geometric, Laplace, PureDP, Rule
from simulator.adversaries import entries, make
from simulator.engine.compiled.compiling import numba_compile
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import plain_kernel
from simulator.engine.compiled.tilted_kernel import tilted_kernel
from simulator.identity.kernels import parts_of, surroundings
from simulator.theory.filters.families import SumFilter
from tests.helpers.games import ALICE, RULES, on_alice

MENU = on_alice(Laplace(ALICE, 0.1), Laplace(ALICE, 0.2))
BAR = 0.5


FAMILY = PureDP(0.2)


def parts(rule, family=FAMILY, filter_=None, bind=plain_kernel):
    menu = Menu.of(rule, family, ADD_REMOVE, filter_)
    return parts_of(bind(menu, filter_, numba_compile))


def of_step(step, menu=MENU, state=0.0):
    return parts(Rule(step, menu, state))


def by_global(state, _i, answer, _coins):
    return state, 1 if answer > BAR else 0


def above(answer, bar=0.5):
    return answer > bar


def above_half(answer):
    return answer > 0.5


helper = numba.njit(above)


def by_helper(state, _i, answer, _coins):
    return state, 1 if helper(answer) else 0


def by_closure(bar):
    def step(state, _i, answer, _coins):
        return state, 1 if answer > bar else 0

    return step


def by_default(state, _i, answer, _coins, bar=0.5):
    return state, 1 if answer > bar else 0


def test_the_same_rule_made_anew_is_the_same_kernel():
    assert of_step(by_closure(0.5)) == of_step(by_closure(0.5)) is not None


def test_a_global_is_part_of_it(monkeypatch):
    before = of_step(by_global)
    for other in (0.25, 1, True):
        monkeypatch.setattr(sys.modules[__name__], "BAR", other)
        assert of_step(by_global) != before
    monkeypatch.setattr(sys.modules[__name__], "BAR", 0.5)
    assert of_step(by_global) == before


def test_a_closure_is_part_of_it_with_its_types():
    kernels = [of_step(by_closure(bar)) for bar in (0.0, -0.0, 0, False, 0.5, np.float32(0.5))]
    assert len(set(kernels)) == len(kernels)


def test_an_array_is_part_of_it_with_its_layout():
    def step_over(values):
        def step(state, i, _answer, _coins):
            return state, int(values[i % 2, 1])

        return step

    rows = np.arange(4.0).reshape(2, 2)
    shapes = [rows, rows + 1.0, rows.astype(np.float32), np.asfortranarray(rows)]
    assert len({of_step(step_over(values)) for values in shapes}) == len(shapes)


def test_a_default_argument_is_part_of_it(monkeypatch):
    before = of_step(by_default)
    monkeypatch.setattr(by_default, "__defaults__", (0.25,))
    assert of_step(by_default) != before


def test_a_compiled_helper_is_part_of_it_with_its_options(monkeypatch):
    module = sys.modules[__name__]
    kernels = [of_step(by_helper)]
    for other in (
        numba.njit(fastmath=True)(above),
        numba.njit("boolean(float64)")(above_half),
        numba.njit(lambda answer: answer > 0.25),
    ):
        monkeypatch.setattr(module, "helper", other)
        kernels.append(of_step(by_helper))
    monkeypatch.setattr(module, "helper", numba.njit(above))
    assert of_step(by_helper) == kernels[0]
    monkeypatch.setattr(above, "__defaults__", (0.25,))
    kernels.append(of_step(by_helper))
    assert None not in kernels
    assert len(set(kernels)) == len(kernels)


def test_the_state_before_the_first_round_is_part_of_it():
    step = by_closure(0.5)
    assert len({of_step(step, state=state) for state in (0.0, 0, (0.0,), 1.0)}) == 4


def test_the_menus_numbers_are_arguments_and_no_part_of_it():
    other = on_alice(Laplace(ALICE, 0.15), Laplace(ALICE, 0.2))
    assert of_step(by_global, other) == of_step(by_global)


def test_a_mechanisms_own_functions_are_part_of_it(monkeypatch):
    before = of_step(by_global)
    loss = MENU[0][2].scalars.loss
    monkeypatch.setattr(loss, "__code__", (lambda params, answer: 0.0 * answer).__code__)
    assert of_step(by_global) != before


def test_a_function_of_this_package_that_they_call_is_part_of_it(monkeypatch):
    piece = Geometric(ALICE, 0.1).scalars.piece
    before = parts_of(numba_compile(piece))
    called = piece.__globals__["_log_geometric"]
    monkeypatch.setattr(called, "__defaults__", (1.0,))
    assert parts_of(numba_compile(piece)) != before


def test_the_filter_and_the_sampling_are_part_of_it():
    rule = Rule(by_global, MENU)
    kernels = {parts(rule), parts(rule, filter_=SumFilter(1.0)), parts(rule, bind=tilted_kernel),
               parts(rule, filter_=SumFilter(2.0))}  # fmt: skip
    assert None not in kernels
    assert len(kernels) == 4


def test_what_reaches_beyond_the_program_has_no_parts():
    under_way = (each for each in range(3))

    def step(state, _i, _answer, _coins):
        return state, 1 if under_way is None else 0

    assert of_step(step) is None


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_every_rule_of_the_library_has_parts(entry):
    family = PureDP(0.2)
    rule = make(entry.name, family, 10) if entry.plays_in(family) else None
    if isinstance(rule, Rule):
        assert parts(rule, family) is not None
        assert parts(rule, family, SumFilter(1.0)) is not None
        assert parts(rule, family, bind=tilted_kernel) is not None


@pytest.mark.parametrize("name", RULES)
def test_every_kind_of_mechanism_has_parts(name):
    rule, family = RULES[name]
    assert parts(rule, family) is not None


def test_settings_of_numba_are_part_of_the_key(monkeypatch):
    from numba.core import config
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    before = surroundings(codegen)
    for setting, value in [("BOUNDSCHECK", 1), ("OPT", 0), ("CPU_NAME", "generic")]:
        with monkeypatch.context() as changed:
            changed.setattr(config, setting, value)
            assert surroundings(codegen) != before
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 1)  # another in each worker
    assert surroundings(codegen) == before


def intrinsic_of(added):
    """A meaning in machine code: the number plus ``added``."""
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic
    def more(context, number):
        def meaning(context, builder, signature, arguments):
            return builder.fadd(arguments[0], context.get_constant(types.float64, added))

        return types.float64(types.float64), meaning

    return numba.njit(lambda number: more(number))


def test_an_intrinsic_is_part_of_what_refers_to_it():
    one, same, other = (intrinsic_of(added) for added in (1.0, 1.0, 2.0))
    assert (one(1.0), other(1.0)) == (2.0, 3.0)
    assert parts_of(one) == parts_of(same)
    assert parts_of(one) not in (None, parts_of(other))


TAUGHT = """
import math, numba
from numba.extending import overload
from simulator.identity.kernels import numba_is_extended
numba.njit(lambda x: math.sin(x))(1.0)
print(numba_is_extended())

def meaning(x): ...

@overload(meaning)
def meant(x):
    return lambda x: x + 1.0

print(numba_is_extended())
"""


def test_nothing_is_kept_where_numba_was_taught_what_no_name_leads_to():
    shown = subprocess.run(
        [sys.executable, "-c", TAUGHT], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["False", "True"]


LOWERED = {
    "getattr": '@imputils.lower_getattr(types.complex128, "real")\ndef meant(*given): ...',
    "setattr": '@imputils.lower_setattr(types.complex128, "real")\ndef meant(*given): ...',
    "cast": "@imputils.lower_cast(types.boolean, types.float64)\ndef meant(*given): ...",
    "constant": "@imputils.lower_constant(types.complex128)\ndef meant(*given): ...",
}


@pytest.mark.parametrize("kind", list(LOWERED))
def test_nothing_is_kept_where_numba_was_taught_to_lower_a(kind):
    program = f"""
import numba
from numba.core import imputils, types
from simulator.identity.kernels import numba_is_extended
numba.njit(lambda x: x)(1.0)
print(numba_is_extended())
{LOWERED[kind]}
print(numba_is_extended())
"""
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["False", "True"]
