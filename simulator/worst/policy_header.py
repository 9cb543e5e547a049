"""The comment at the top of a saved policy: the game and its bracket."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.foundations.wording import count_of
from simulator.theory.filters.interface import Filter
from simulator.worst.game import Game
from simulator.worst.policy_files import NAME
from simulator.worst.search import WorstCase


def game_lines(game: Game) -> list[tuple[str, str]]:
    """Pairs (name, value) of the terms of a game."""
    lines = [("menu", ", ".join(entry.name for entry in game.menu))]
    if game.filter is not None:
        own = type(game.filter).__name__
        lines.append(("filter", str(game.filter) if isinstance(game.filter, Filter) else own))
    if game.rounds is not None:
        lines.append(("rounds", f"at most {game.rounds}"))
    lines += [("relation", str(game.relation)), ("experiment", str(game.experiment))]
    return lines


def header(found: WorstCase, path: Path, more: Sequence[str] = ()) -> tuple[str, ...]:
    """The comment: the game, the bracket, and how to play the policy, with ``more`` lines."""
    policy, epsilon, game = found.policy, found.epsilon, found.game
    facts = [
        *game_lines(game),
        ("epsilon", f"{epsilon!r}"),
        ("delta", f"the worst adversary's lies in [{found.delta.lower!r}, {found.delta.upper!r}]"),
        ("", f"this one gets {policy.value:.12g}"),
    ]
    return (
        "The worst adaptive adversary of a game, found by a search.",
        "",
        *(f"{name:<11} {value}".rstrip() for name, value in facts),
        "",
        f"It plays {count_of(policy.rounds, 'round')} at most, in the family {policy.family}. "
        "To play it:",
        "  from simulator.analysis import Setting, estimate_rare",
        f"  from {path.stem} import policy, {NAME}",
        f"  estimate_rare({NAME}, policy.family, policy.rounds, trials=100_000,",
        f"                epsilon={epsilon!r}, experiment={game.experiment},",
        "                setting=Setting(relation=policy.relation))",
        *(f"  {line}" for line in more),
    )
