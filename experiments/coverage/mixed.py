"""Adversaries by other mechanisms that hide their large losses, and filters in play."""

from __future__ import annotations

from experiments.coverage.entries import (
    blank,
    cells,
    exponential,
    gaussian,
    geometric,
    laplace,
    leaky,
    rr,
    table,
)
from experiments.coverage.subject import Cast, square_gate, sum_gate
from simulator import PureDP
from simulator.theory import ApproxDP, GaussianDP
from simulator.theory.filters.advanced import WhitehouseFilter
from simulator.theory.filters.sums import SumFilter

# steps are compiled as they stand, so their arguments are not annotated
# mypy: disallow-untyped-defs=False

CAST = Cast()

TINY = table((0.5, 0.3, 0.2), (0.47, 0.31, 0.22))
SHARP = table((0.001, 0.699, 0.3), (0.00001, 0.3, 0.69999))
CROOKED = table((0.6, 0.25, 0.15), (0.31, 0.27, 0.42))


@CAST.rule("filter", 40, rr(0.1), rr(1.2), filter=SumFilter(7.0), gate=sum_gate(7.0))
def saver(state, i, answer, coins):
    """Spend a budget of 7 on boldness only after five losses in a row."""
    if 0 < i <= 5 and answer < 0.5:
        state = 1
    return state, 1 if i >= 5 and state == 0 else 0


@CAST.rule(
    "filter", 60, rr(0.05), rr(0.5), state=(0, 0),
    filter=WhitehouseFilter(6.0, 1e-3), gate=square_gate(6.0, 1e-3),
)  # fmt: skip
def prober(state, i, answer, coins):
    """Bold after four losses in a row; once refused, it goes on with what is still admitted."""
    run, mood = state
    if i > 0 and answer != answer:
        mood = 2
    elif i > 0 and mood == 0:
        run = run + 1 if answer > 0.5 else 0
        mood = 1 if run == 4 else 0
    return (run, mood), 1 if mood == 1 else 0


@CAST.rule("leak", 20, rr(0.3), leaky(0.5, 1e-3), family=ApproxDP(0.5, 1e-3))
def late_leak(state, i, answer, coins):
    """Leaky only after four losses in a row."""
    if 0 < i <= 4 and answer < 0.5:
        state = 1
    return state, 1 if i >= 4 and state == 0 else 0


@CAST.rule("leak", 25, leaky(0.4, 1e-6), family=ApproxDP(0.4, 1e-6))
def drip(state, i, answer, coins):
    """Leaky throughout, but by one in a million."""
    return state, 0


@CAST.rule(
    "leak", 15, rr(0.4), leaky(0.4, 0.01), family=ApproxDP(0.4, 0.01), coin_cuts=(1e-4,)
)  # fmt: skip
def leak_by_coin(state, i, answer, coins):
    """A coin of one in ten thousand turns the leak on for the rest of the play."""
    if i == 0 and coins.random() < 1e-4:
        state = 1
    return state, state


@CAST.rule("table", 16, TINY, SHARP)
def sharp_after_tiny(state, i, answer, coins):
    """The sharp table only after five times the last answer of the dull one."""
    if i > 0 and state < 5:
        state = state + 1 if answer > 1.5 else 0
    return state, 1 if state == 5 else 0


@CAST.rule("table", 18, CROOKED, TINY, SHARP, state=(0, 0))
def crooked(state, i, answer, coins):
    """Three tables whose losses are on no common lattice, taken in turn by the answers."""
    place, seen = state
    if i > 0:
        place = (place + int(answer)) % 3
        seen = min(seen + 1, 2) if answer > 1.5 else 0
    return (place, seen), 2 if seen == 2 and place == 1 else place % 2


@CAST.rule("table", 24, rr(0.5), exponential(0.5), cells(0.5, (0.2, 0.6, 1.1)))
def switcher(state, i, answer, coins):
    """Three mechanisms with finitely many answers, each used until one is against Alice."""
    if i > 0 and (answer < 0.5 if state == 1 else answer > 0.5):
        state = (state + 1) % 3
    return state, state


@CAST.rule("geometric", 30, geometric(0.3, 12), geometric(1.0, 3))
def far_out(state, i, answer, coins):
    """Bold after an answer above twelve."""
    if i > 0 and state == 0 and answer > 12.5:
        state = 1
    return state, state


@CAST.rule("geometric", 35, geometric(0.2, 5), geometric(0.8, 5), blank(0.1), state=(0, 0))
def geometric_runs(state, i, answer, coins):
    """Silent until two answers above five in a row, in the first ten rounds, then bold."""
    run, bold = state
    if 0 < i <= 10 and bold == 0:
        run = run + 1 if answer > 5.5 else 0
        bold = 1 if run == 2 else 0
    return (run, bold), bold if i < 10 or bold == 1 else 2


@CAST.rule("continuous", 12, laplace(0.5, 8.0), laplace(1.0, 8.0))
def laplace_far(state, i, answer, coins):
    """Laplace noise, bold after an answer above eight."""
    if i > 0 and answer > 8.0:
        state = 1
    return state, state


@CAST.rule("continuous", 20, laplace(0.2, 0.5), laplace(0.6, 0.5))
def laplace_feint(state, i, answer, coins):
    """Laplace noise, bold after the first five answers were all above a half."""
    if 0 < i <= 5 and answer < 0.5:
        state = 1
    return state, 1 if i >= 5 and state == 0 else 0


@CAST.rule(
    "continuous", 10, laplace(0.3, 0.25, 0.75), laplace(1.2, 0.25, 0.75), coin_cuts=(1e-3,)
)  # fmt: skip
def laplace_coin(state, i, answer, coins):
    """A rare coin, or three answers strictly between a quarter and three quarters."""
    if i == 0:
        if coins.random() < 1e-3:
            state = 3
    elif state < 3:
        state = state + 1 if 0.25 < answer < 0.75 else 0
    return state, 1 if state == 3 else 0


@CAST.rule("continuous", 8, gaussian(4.0, 8.0), gaussian(1.5, 8.0), family=GaussianDP(1 / 1.5))
def gaussian_far(state, i, answer, coins):
    """Gaussian noise, bold after an answer two standard deviations out."""
    if i > 0 and answer > 8.0:
        state = 1
    return state, state


@CAST.rule("continuous", 10, gaussian(5.0, 0.5), gaussian(2.0, 0.5), family=GaussianDP(0.5))
def gaussian_feint(state, i, answer, coins):
    """Gaussian noise, bold after four answers above a half at the start."""
    if 0 < i <= 4 and answer < 0.5:
        state = 1
    return state, 1 if i >= 4 and state == 0 else 0


@CAST.rule("leak", 12, leaky(0.8, 0.02), blank(0.8), family=ApproxDP(0.8, 0.02), state=0)
def leak_and_hush(state, i, answer, coins):
    """Leaky until it has a lie, then silent."""
    if i > 0 and answer == 2.0:
        state = 1
    return state, state


@CAST.rule("table", 10, SHARP, TINY, family=PureDP(SHARP.price), coin_cuts=(0.02,))
def sharp_by_coin(state, i, answer, coins):
    """A fresh coin of one in fifty every round decides between the sharp table and the dull."""
    return state, 0 if coins.random() < 0.02 else 1
