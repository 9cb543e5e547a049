"""A picture of a policy: its likeliest options, a typical play and a winning one."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from simulator.analysis.plots.style import drawable, paper_figure, save_as
from simulator.worst.policy import Policy
from simulator.worst.policy_map import policy_map
from simulator.worst.policy_plot import FEW_MOVES, plot_policy
from simulator.worst.sample_plays import Play, play


def draw(policy: Policy, path: str | PathLike[str], *, seed: int = 0) -> Path:
    """Draw the policy with a typical and a winning play into a file, and return its path.

    Raises InvalidInput for a path that cannot be written, and NotApplicable if nothing is
    reached or no play wins.
    """
    target = drawable(path)
    shown = policy_map(policy)
    plays = {"typical play": play(policy, seed=seed)}
    if policy.probabilities.win(*policy.start) > 0.0:
        plays["winning play"] = play(policy, seed=seed, winning=True)
    names, scale, group = _scale(policy.labels)
    moves = np.where(shown.moves >= 0, group[shown.moves], -1)
    share = shown.remaining.name == "budget left"
    with paper_figure(width=4.6, height=3.4) as (figure, axes):
        plot_policy(
            axes, shown.losses, shown.left * (100.0 if share else 1.0), moves, names,
            values=scale, logarithmic=scale is not None and scale[0].startswith("ε"),
            epsilon=None if policy.thresholds.any() else policy.epsilon,
            paths={name: _path(drawn, share) for name, drawn in plays.items()},
            ylabel=f"{shown.remaining.name}{' (%)' if share else ''}",
        )  # fmt: skip
        return save_as(figure, target)


def _path(drawn: Play, share: bool) -> tuple[np.ndarray, np.ndarray]:
    losses = np.array([*(r.loss for r in drawn.rounds), drawn.loss])
    left = np.array([*(r.left for r in drawn.rounds), drawn.left])
    finite = np.isfinite(losses)
    return losses[finite], left[finite] * (100.0 if share else 1.0)


def _scale(labels: Sequence[str]) -> tuple[list[str], tuple[str, np.ndarray] | None, np.ndarray]:
    """(names, what a colour bar shows, each option's place among the names).

    The bar shows a parameter if many options differ in nothing else. If they are of several
    mechanisms, the options of each share its name.
    """
    alone = np.arange(len(labels))
    if len(labels) <= FEW_MOVES:
        return list(labels), None, alone
    split = [label.rpartition("@" if "@" in label else ":") for label in labels]
    names = list(dict.fromkeys(name for name, _, _ in split))
    if len(names) > 1:
        many = {name: sum(other == name for other, _, _ in split) > 1 for name in names}
        wide = [s[0] if many[s[0]] else label for label, s in zip(labels, split)]
        names = list(dict.fromkeys(wide))
        group = np.array([names.index(name) for name in wide])
        if len(names) <= FEW_MOVES:
            return names, None, group
        return list(labels), ("place in the menu", alone.astype(float)), alone
    name = names[0]
    symbol = f"t of {name}" if "@" in labels[0] else f"ε of {name}"
    return list(labels), (symbol, np.array([float(number) for _, _, number in split])), alone
