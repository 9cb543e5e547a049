"""The picture of a claim: its verdict, and its slack where it has one, as knobs are turned."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from experiments.site.knobs import Sweep, Turn
from simulator.analysis.plots import paper_figure
from simulator.foundations.stages import in_stages
from simulator.teaching.claims import Verdict

COLOURS = {"holds": "#00674a", "loose": "#0b5a8a", "unsupported": "#7a4a6b", "fails": "#a33b00"}
MARKS = {"holds": "o", "loose": "s", "unsupported": "D", "fails": "X"}
NAMES = {
    "holds": "holds",
    "loose": "holds, not tight",
    "unsupported": "does not follow",
    "fails": "fails",
}


def look(verdict: str) -> str:
    """The class of a verdict: its colour and mark in pictures, and its style on pages."""
    known = {Verdict.HOLDS: "holds", Verdict.NOT_TIGHT: "loose"}
    if verdict in known:
        return known[Verdict(verdict)]
    return "unsupported" if verdict != Verdict.FAILS else "fails"


def save_all(sweeps: Mapping[str, Sequence[Sweep]], folder: Path) -> Path:
    """Draw every claim's pictures, one for each knob, into a folder below ``folder``; return it.

    Its name is a digest of what is drawn and how, so that nothing is drawn twice.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(repr(sorted((id, list(each)) for id, each in sweeps.items())).encode())
    drawn = folder / f"pictures-{digest.hexdigest()[:16]}"
    drawn.mkdir(parents=True, exist_ok=True)
    for other in set(folder.glob("pictures-*")) - {drawn}:
        shutil.rmtree(other)
    for id, each in in_stages(list(sweeps.items()), "pictures of the claims"):
        for sweep in each:
            path = drawn / name(id, sweep)
            if not path.exists():
                unfinished = path.with_suffix(".part")
                save(sweep, unfinished)
                unfinished.replace(path)
    return drawn


def name(id: str, sweep: Sweep) -> str:
    """The file of a claim's picture."""
    return f"{id}-{sweep.knob}.svg"


def save(sweep: Sweep, path: Path) -> None:
    """Draw one knob of a claim into an SVG file."""
    with matplotlib.rc_context({"svg.hashsalt": "dpcompose"}):
        draw(sweep).savefig(path, format="svg", metadata={"Date": None})


def draw(sweep: Sweep) -> Figure:
    """The slack or the verdict as the knob is turned."""
    # margins that fit all: there are hundreds of pictures, and to fit each takes longest
    with paper_figure(height=2.6, fitted=False) as (figure, axes):
        axes.set_position((0.24, 0.18, 0.72, 0.76))
        draw_sweep(axes, sweep)
    return figure


def draw_sweep(axes: Any, sweep: Sweep) -> None:
    """The slack against the knob where there is one; else the verdict against the knob."""
    shown = [turn for turn in sweep.turns if turn.verdict is not None]
    has_slack = sum(turn.slack is not None for turn in shown) >= 2
    if has_slack:
        shown = [turn for turn in shown if turn.slack is not None]
    truth = isinstance(sweep.default, bool)
    seen = {name: place for place, name in enumerate(NAMES) if has(shown, name)}
    levels = {name: place for place, name in enumerate(reversed(list(seen)))}

    def place(turn: Turn) -> tuple[Any, float]:
        across = int(turn.value) if truth else turn.value
        assert turn.verdict is not None
        up = turn.slack if has_slack and turn.slack is not None else levels[look(turn.verdict)]
        return across, up

    if has_slack and not truth:
        axes.plot(*zip(*map(place, shown)), color="0.75", linewidth=0.8, zorder=1)
    for kind in seen:
        alike = [place(turn) for turn in shown if look(turn.verdict or "") == kind]
        axes.plot(*zip(*alike), marker=MARKS[kind], color=COLOURS[kind], markersize=6, linestyle="")
    own = [turn for turn in shown if turn.value == sweep.default]
    for turn in own:
        axes.plot(*place(turn), marker="o", markersize=13, markerfacecolor="none", color="0.3")
        axes.annotate("as printed", place(turn), xytext=(0, 9), textcoords="offset points",
                      ha="center", fontsize=7)  # fmt: skip
    if has_slack:
        draw_tight(axes, shown)
    else:
        axes.set_yticks(list(levels.values()), [NAMES[name] for name in levels])
        axes.set_ylim(-0.6, max(levels.values(), default=0) + 0.6)
    if truth:
        axes.set_xticks([0, 1], ["False", "True"])
        axes.set_xlim(-0.6, 1.6)
    elif shown and 0 < 8 * shown[0].value < shown[-1].value:
        axes.set_xscale("log")
        ends = dict.fromkeys([shown[0].value, sweep.default, shown[-1].value])
        axes.set_xticks(list(ends), [f"{value:,.5g}" for value in ends])
        axes.minorticks_off()
    axes.margins(x=0.1)
    axes.set_xlabel(sweep.knob)


def draw_tight(axes: Any, shown: Sequence[Turn]) -> None:
    """The line of a tight claim, below which it is exceeded."""
    slacks = [turn.slack for turn in shown if turn.slack]
    axes.axhline(1.0, color="0.5", linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    if slacks and max(slacks) > 20 * min(slacks):
        axes.set_yscale("log", nonpositive="clip")
    axes.margins(y=0.25)
    axes.set_ylabel("claimed over attained")


def has(turns: Sequence[Turn], kind: str) -> bool:
    """Whether some verdict is of that kind."""
    return any(turn.verdict is not None and look(turn.verdict) == kind for turn in turns)
