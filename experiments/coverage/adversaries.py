"""Adversaries by randomized response that hide their large losses.

In experiment 0 the answer 0 adds epsilon to the loss and the answer 1 takes epsilon away. Sampling
tilted towards large losses draws the answer 0 far too often: losses that follow a row of ones, an
exact pattern or a rare coin are rare in the sample.
"""

from __future__ import annotations

from experiments.coverage.automata import automata
from experiments.coverage.entries import blank, flipped, rr
from experiments.coverage.generators import CAST as GENERATORS
from experiments.coverage.mixed import CAST as MIXED
from experiments.coverage.subject import Cast, Subject
from simulator import PureDP

# steps are compiled as they stand, so their arguments are not annotated
# mypy: disallow-untyped-defs=False

CAST = Cast()


@CAST.rule("feint", 40, rr(0.25), rr(1.5))
def feint(state, i, answer, coins):
    """Lose eight in a row, only then bold."""
    if 0 < i <= 8 and answer < .5: state = 1  # noqa: E701  # fmt: skip
    return state, 1 if i >= 8 and state == 0 else 0


@CAST.rule("coin", 150, rr(0.1), rr(2.0), blank(2.0), coin_cuts=(1e-3,))
def two_thetas(state, i, answer, coins):
    """A rare coin, then six bold rounds and silence."""
    if i == 0 and coins.random() < 1e-3: state = 1  # noqa: E701  # fmt: skip
    return state, 0 if state == 0 else (1 if i < 6 else 2)


@CAST.rule("feint", 25, rr(0.2), rr(1.0))
def feint_anywhere(state, i, answer, coins):
    """Lose four in a row at any time: bold from then on."""
    if i > 0 and state < 4:
        state = state + 1 if answer > 0.5 else 0
    return state, 1 if state >= 4 else 0


@CAST.rule("feint", 60, rr(0.05), rr(0.8))
def feint_for_long(state, i, answer, coins):
    """Lose sixteen of the first sixteen, at small stakes."""
    if 0 < i <= 16 and answer < 0.5:
        state = 1
    return state, 1 if i >= 16 and state == 0 else 0


@CAST.rule("detour", 60, rr(0.1), rr(0.6))
def sink_first(state, i, answer, coins):
    """Bold for good once six behind."""
    if i > 0 and state > -6:
        state += 1 if answer < 0.5 else -1
    return state, 1 if state <= -6 else 0


@CAST.rule("detour", 40, rr(0.2), rr(1.2), state=(0, 0))
def down_and_up(state, i, answer, coins):
    """First four behind, then four ahead of that, and only then bold."""
    place, leg = state
    if i > 0 and leg < 2:
        place += 1 if answer < 0.5 else -1
        if leg == 0 and place <= -4:
            leg = 1
        elif leg == 1 and place >= 0:
            leg = 2
    return (place, leg), 1 if leg == 2 else 0


@CAST.rule("detour", 30, rr(0.3), rr(1.0), state=(0, 0))
def bounce(state, i, answer, coins):
    """Touch two behind and one ahead in turn, three legs, before it turns bold."""
    place, legs = state
    if i > 0 and legs < 3:
        place += 1 if answer < 0.5 else -1
        if (legs % 2 == 0 and place == -2) or (legs % 2 == 1 and place == 1):
            legs += 1
    return (place, legs), 1 if legs >= 3 else 0


@CAST.rule("scales", 30, rr(0.05), rr(0.3), rr(1.5), state=(0, 0))
def ladder(state, i, answer, coins):
    """Three losses in a row are a rung: three scales of stakes."""
    rung, run = state
    if i > 0 and rung < 2:
        run = run + 1 if answer > 0.5 else 0
        if run == 3:
            rung, run = rung + 1, 0
    return (rung, run), rung


@CAST.rule("scales", 24, rr(0.01), rr(0.1), rr(1.0), state=(0, 0))
def decades(state, i, answer, coins):
    """Four net losses at one scale lead to the next, ten times as large."""
    scale, place = state
    if i > 0 and scale < 2:
        place += 1 if answer < 0.5 else -1
        if place == -4:
            scale, place = scale + 1, 0
    return (scale, place), scale


@CAST.rule("scales", 30, rr(0.25), rr(0.5), rr(0.75), state=0)
def ties(state, i, answer, coins):
    """Stakes of one, two and three units: many paths meet at every atom."""
    if i > 0:
        state = min(state + 1, 2) if answer > 0.5 else 0
    return state, state


@CAST.rule("late", 50, rr(0.1), rr(1.5))
def late_switch(state, i, answer, coins):
    """Bold in the last six rounds, if more than 34 of the first 44 were lost."""
    if 0 < i <= 44 and answer > 0.5:
        state += 1
    return state, 1 if i >= 44 and state > 34 else 0


@CAST.rule("late", 100, rr(0.05), rr(1.0), coin_cuts=(1e-4,))
def late_coin(state, i, answer, coins):
    """A coin of one in ten thousand, tossed in round 85 only."""
    if i == 85 and coins.random() < 1e-4:
        state = 1
    return state, 1 if state == 1 else 0


@CAST.rule("late", 40, rr(0.4), blank(0.4), rr(1.5), state=0)
def last_word(state, i, answer, coins):
    """Silent but for a first answer and, had all of five been lies, the last four rounds."""
    if 0 < i <= 5 and answer < 0.5:
        state = 1
    if i < 5:
        return state, 0
    return state, 2 if i >= 36 and state == 0 else 1


@CAST.rule("coin", 20, rr(0.1), rr(1.0), coin_cuts=(1e-5,))
def needle(state, i, answer, coins):
    """One in a hundred thousand is bold throughout."""
    if i == 0 and coins.random() < 1e-5:
        state = 1
    return state, state


@CAST.rule("coin", 60, rr(0.1), rr(0.9), coin_cuts=(2e-3,))
def any_day(state, i, answer, coins):
    """A coin of two in a thousand every round; bold for good when it falls."""
    if state == 0 and coins.random() < 2e-3:
        state = 1
    return state, state


@CAST.rule("coin", 30, rr(0.2), rr(1.2), state=(0, 0), coin_cuts=(0.01,))
def coin_then_feint(state, i, answer, coins):
    """A coin of one in a hundred, and then three losses in a row as well."""
    chosen, run = state
    if i == 0 and coins.random() < 0.01:
        chosen = 1
    if i > 0 and chosen == 1 and run < 3:
        run = run + 1 if answer > 0.5 else 0
    return (chosen, run), 1 if run == 3 else 0


@CAST.rule("coin", 25, rr(0.2), rr(0.9), state=1.0, coin_cuts=(1e-4, 1e-2))
def kept_coin(state, i, answer, coins):
    """Keep the number that a coin gave, and compare it later, twice."""
    if i == 0:
        state = coins.random()
    return state, 1 if (i >= 15 and state < 1e-2) or (i >= 5 and state < 1e-4) else 0


@CAST.rule("coin", 24, rr(0.7), flipped(0.7), coin_cuts=(1e-3, 0.3))
def two_faces(state, i, answer, coins):
    """By a coin: always one way, always the other, or one way and then back."""
    if i == 0:
        u = coins.random()
        state = 0 if u < 1e-3 else (1 if u < 0.3 else 2)
    return state, 0 if state == 0 else (1 if state == 1 else i % 2)


@CAST.rule("coin", 40, rr(0.02), rr(0.3), rr(2.0), coin_cuts=(1e-6, 1e-2))
def three_coins(state, i, answer, coins):
    """Three scales by one coin: the dearest once in a million."""
    if i == 0:
        u = coins.random()
        state = 2 if u < 1e-6 else (1 if u < 1e-2 else 0)
    return state, state if i < 8 else 0


@CAST.rule("pattern", 30, rr(0.3), rr(1.3))
def password(state, i, answer, coins):
    """The first eight answers must be 0 1 0 1 1 0 1 1."""
    if 0 < i <= 8:
        wanted = 1 if i in (2, 4, 5, 7, 8) else 0
        if state == i - 1 and int(answer) == wanted:
            state = i
    return state, 1 if state == 8 else 0


@CAST.rule("pattern", 40, rr(0.4), rr(1.1))
def word(state, i, answer, coins):
    """The word 1 1 0 1 1 anywhere, found as a text search finds it."""
    if i > 0 and state < 5:
        one = answer > 0.5
        if state == 2:
            state = 2 if one else 3
        elif state in (0, 1, 3, 4):
            state = state + 1 if one else 0
    return state, 1 if state == 5 else 0


@CAST.rule("pattern", 24, rr(0.5), rr(1.4), state=(0, 0))
def palindrome(state, i, answer, coins):
    """The second five answers repeat the first five backwards, with more ones than zeros."""
    bits, good = state
    if 0 < i <= 5:
        bits = bits * 2 + int(answer)
    elif 5 < i <= 10:
        if bits % 2 == int(answer) and (i > 7 or answer > 0.5):
            good += 1
        bits //= 2
    return (bits, good), 1 if i >= 10 and good == 5 else 0


@CAST.rule("parity", 48, rr(0.3), rr(1.0), state=(0, 1))
def parity(state, i, answer, coins):
    """Of each four answers an odd number must be ones, six times over."""
    ones, alive = state
    if 0 < i <= 24 and alive == 1:
        ones += int(answer)
        if i % 4 == 0:
            alive = ones % 2
            ones = 0
    return (ones, alive), 1 if i >= 24 and alive == 1 else 0


@CAST.rule("counter", 50, rr(0.1), rr(1.2))
def modulus(state, i, answer, coins):
    """Ones counted modulo 11 in twenty rounds: bold at a remainder of 2."""
    if 0 < i <= 20:
        state = (state + int(answer)) % 11
    return state, 1 if i >= 40 and state == 2 else 0


@CAST.rule("counter", 40, rr(0.2), rr(1.0))
def many_lies(state, i, answer, coins):
    """Bold after sixteen lies in twenty rounds."""
    if 0 < i <= 20:
        state += int(answer)
    return state, 1 if i >= 20 and state >= 16 else 0


@CAST.rule("counter", 36, rr(0.2), rr(0.9), state=(0, 0))
def exact_count(state, i, answer, coins):
    """Exactly three ones in the first dozen and exactly nine in the second."""
    ones, passed = state
    if 0 < i <= 24:
        ones += int(answer)
        if i == 12:
            passed = 1 if ones == 3 else 0
            ones = 0
        elif i == 24:
            passed = 2 if passed == 1 and ones == 9 else 0
    return (ones, passed), 1 if i >= 24 and passed == 2 else 0


@CAST.rule("run", 60, rr(0.3), rr(1.0), state=(0, 0))
def run_of_exactly_five(state, i, answer, coins):
    """A run of exactly five ones, neither four nor six, ends the timid part."""
    run, bold = state
    if i > 0 and bold == 0:
        if answer > 0.5:
            run += 1
        else:
            bold = 1 if run == 5 else 0
            run = 0
    return (min(run, 6), bold), bold


@CAST.rule("run", 80, rr(0.15), rr(0.7), state=(0, 0, 0))
def alternation(state, i, answer, coins):
    """Ten answers in turn 0, 1, 0, 1, ... anywhere."""
    last, run, bold = state
    if i > 0 and bold == 0:
        run = run + 1 if i > 1 and int(answer) != last else 1
        last = int(answer)
        bold = 1 if run >= 10 else 0
    return (last, run, bold), bold


@CAST.rule("silence", 30, rr(0.2), blank(1.0), rr(1.8))
def silent_unless(state, i, answer, coins):
    """Six losses in a row are followed by six of the dearest, all else by silence."""
    if 0 < i <= 6 and answer < 0.5:
        state = 1
    if i < 6:
        return state, 0
    return state, 2 if i < 12 and state == 0 else 1


@CAST.rule("silence", 12, rr(1.0), blank(1.0), state=0, family=PureDP(1.0))
def hit_and_run(state, i, answer, coins):
    """Ask until ahead once, then fall silent; the longer it waits the more it has lost."""
    if i > 0 and state == 0 and answer < 0.5:
        state = 1
    return state, state


@CAST.rule("length", 5, rr(0.5), rr(3.0))
def short(state, i, answer, coins):
    """Five rounds: two lost, three very bold."""
    if 0 < i <= 2 and answer < 0.5:
        state = 1
    return state, 1 if i >= 2 and state == 0 else 0


@CAST.rule("length", 150, rr(0.1), rr(0.2), state=(0, 0))
def long_way(state, i, answer, coins):
    """Twelve behind at the smaller stake, then double it for good."""
    place, bold = state
    if i > 0 and bold == 0:
        place += 1 if answer < 0.5 else -1
        if place <= -12:
            place, bold = 0, 1
    return (place, bold), bold


def designed() -> tuple[Subject, ...]:
    """Every adversary that was written by hand."""
    return (*CAST.subjects, *MIXED.subjects, *GENERATORS.subjects)


def suite() -> dict[str, Subject]:
    """Designed adversaries and automata by name."""
    return {subject.name: subject for subject in (*designed(), *automata())}
