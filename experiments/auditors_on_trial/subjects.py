"""Auditors under trial, and the libraries that they come from."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from experiments.auditors_on_trial.games import AuditGame, Runs, Scores

MODULES: dict[str, str] = {
    "dpcompose": "experiments.auditors_on_trial.libraries.dpcompose",
    "jax-privacy": "experiments.auditors_on_trial.libraries.jax_privacy",
    "privacyguard-platform": "experiments.auditors_on_trial.libraries.privacy_guard",
    "opake-auditing": "experiments.auditors_on_trial.libraries.opake",
    "pystatdp": "experiments.auditors_on_trial.libraries.statdp",
    "dpsniper": "experiments.auditors_on_trial.libraries.dpsniper",
    "dp-auditorium": "experiments.auditors_on_trial.libraries.dp_auditorium",
}
"""The adapter of each library, by the name of its distribution."""


@dataclass(frozen=True, kw_only=True)
class AuditorUnderTest:
    """A function from scores to a lower bound on epsilon.

    Attributes
    ----------
    name : of the library's own function.
    runs : the games that it is made for.
    bound : ``bound(scores, level, delta, seed)``, a lower bound on epsilon at delta that is to be
        above the truth with probability at most ``level``.
    claims : what its documentation says that it returns.
    outside : why a game is outside what it documents, or ""; such false bounds are not counted.
    remark : what else a reader must know.
    code : lines of Python that set ``bound`` from ``inside`` and ``outside``, with {level} and
        {delta}; its imports are ``imports``.
    takes : whether it plays a game.
    share : the part of the plays that it gets, because it is slow.
    shown : how many plays the program of a defect makes.
    pure : whether it bounds a pure epsilon, and is held to the true one at delta = 1e-300.
    """

    name: str
    runs: Sequence[Runs]
    bound: Callable[[Scores, float, float, int], float]
    claims: str
    outside: Callable[[AuditGame], str] = field(default=lambda game: "")
    remark: str = ""
    imports: str = ""
    code: str = ""
    takes: Callable[[AuditGame], bool] = field(default=lambda game: True)
    share: float = 1.0
    shown: int = 100
    pure: bool = False


@dataclass(frozen=True, kw_only=True)
class AuditorLibrary:
    """The auditors of a library, or why there are none."""

    name: str
    version: str = ""
    auditors: Sequence[AuditorUnderTest] = ()
    absent: str = ""


def load(name: str) -> AuditorLibrary:
    """The auditors of the library of that name in :data:`MODULES`."""
    try:
        auditors = importlib.import_module(MODULES[name]).auditors()
    except ImportError as error:
        return AuditorLibrary(name=name, absent=f"not installed: {error}")
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = "(from its sources)"
    return AuditorLibrary(name=name, version=version, auditors=auditors)
