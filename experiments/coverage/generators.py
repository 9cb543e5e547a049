"""Generators with their state in lists, texts and closures, which no enumeration covers.

What each does is written a second time as a step, for the truth; a test plays both.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from experiments.coverage.entries import blank, laplace, leaky, rr
from experiments.coverage.subject import Cast
from simulator.theory import ApproxDP

# steps and generators of a suite: their arguments are those of the contract
# mypy: disallow-untyped-defs=False

CAST = Cast()

DIARY = rr(0.2), rr(1.2)
SEALED = rr(0.1), rr(1.5)
PLANS = rr(0.3), rr(0.9), blank(0.9)
WINDOW = rr(0.25), rr(0.8)
WHISPER = rr(0.3), leaky(0.6, 0.005)
HUM = laplace(0.3, 2.0), laplace(0.8, 2.0)


def diary_step(state, i, answer, coins):
    if 0 < i <= 7 and answer < 0.5:
        state = 1
    return state, 1 if i >= 7 and state == 0 else 0


@CAST.generator("generator", 30, *DIARY, step=diary_step)
def diary(coins):
    """Write every answer down; bold once the diary begins with seven ones."""
    timid, bold = (entry.challenge for entry in DIARY)
    text = ""
    while True:
        answer = yield bold if text.startswith("1111111") else timid
        text += "1" if answer > 0.5 else "0"


def envelope_step(state, i, answer, coins):
    if i == 0:
        state = 1 if coins.random() < 0.002 else 0
    return state, 1 if state == 1 and i >= 12 else 0


@CAST.generator("generator", 24, *SEALED, step=envelope_step, coin_cuts=(0.002,))
def envelope(coins):
    """Seal the number of a lottery in a closure, one in five hundred wins, open it in round 12."""
    number = int(coins.integers(500))

    def won():
        return number == 7

    timid, bold = (entry.challenge for entry in SEALED)
    i = 0
    while True:
        yield bold if i >= 12 and won() else timid
        i += 1


def plans_step(state, i, answer, coins):
    plan, lost = state
    if i == 0:
        u = coins.random()
        plan = 0 if u < 1e-4 else (1 if u < 0.1 else 2)
    elif i <= 3:
        lost += int(answer)
    if i < 3:
        return (plan, lost), 0
    if plan == 0:
        return (plan, lost), 1
    if plan == 1:
        return (plan, lost), 1 if lost == 3 else 0
    return (plan, lost), 2


@CAST.generator(
    "generator", 20, *PLANS, step=plans_step, state=(2, 0), coin_cuts=(1e-4, 0.1)
)  # fmt: skip
def plans(coins):
    """One of three plans by lot: bold, bold if three were lost, or silence."""
    quiet, bold, silent = (entry.challenge for entry in PLANS)
    lot = coins.random()
    first = []
    for _ in range(3):
        first.append((yield quiet))
    if lot < 1e-4:
        plan = bold
    elif lot < 0.1:
        plan = bold if sum(first) == 3.0 else quiet
    else:
        plan = silent
    while True:
        yield plan


def window_step(state, i, answer, coins):
    last, bold = state
    if i > 0 and bold == 0:
        last = (*last, int(answer))[-6:]
        bold = 1 if last == (1, 1, 0, 1, 1, 1) else 0
    return (last, bold), bold


@CAST.generator("generator", 40, *WINDOW, step=window_step, state=((), 0))
def window(coins):
    """A window over the last six answers must show 1 1 0 1 1 1."""
    timid, bold = (entry.challenge for entry in WINDOW)
    last = deque(maxlen=6)
    while list(last) != [1, 1, 0, 1, 1, 1]:
        last.append(int((yield timid)))
    while True:
        yield bold


def whisper_step(state, i, answer, coins):
    if 0 < i <= 3 and answer < 0.5:
        state = 1
    return state, 1 if i >= 3 and state == 0 else 0


@CAST.generator("generator", 12, *WHISPER, step=whisper_step, family=ApproxDP(0.6, 0.005))
def whisper(coins):
    """Leaky after three losses at the start."""
    careful, careless = (entry.challenge for entry in WHISPER)
    answers = {(yield careful), (yield careful), (yield careful)}
    while True:
        yield careless if answers == {1.0} else careful


def hum_step(state, i, answer, coins):
    if i > 0 and state < 2:
        state = state + 1 if answer > 2.0 else 0
    return state, 1 if state == 2 else 0


@CAST.generator("generator", 14, *HUM, step=hum_step)
def hum(coins):
    """Laplace noise, bold after two answers in a row above two."""
    low, high = (entry.challenge for entry in HUM)
    heard = []
    while True:
        loud = any(x > 2.0 and y > 2.0 for x, y in pairwise(heard))
        heard.append((yield high if loud else low))
