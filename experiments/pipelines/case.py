"""A pipeline on trial: how it is built, what is published about it, and what is expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

PAPER = "published"
"""Cebere, Erb, Desfontaines, Bellet and Fitzsimons 2026, arXiv 2602.17454: 13 violations."""

OURS = "found here"
"""Not named in what could be read of that list."""


@dataclass(frozen=True)
class Setting:
    """A pipeline, two neighbouring databases and a claim.

    ``patches`` are as for :func:`simulator.auditing.record`, made anew for each run.
    """

    pipeline: Callable[[Any], Any]
    databases: tuple[Any, Any]
    claimed: str | None = None
    patches: Callable[[], Sequence[Any]] = field(default=tuple)
    public_coins: bool = False


@dataclass(frozen=True)
class PipelineCase:
    """A published violation, and the same pipeline used in a way that keeps its claim.

    Attributes
    ----------
    name : of the pipeline.
    package : the distribution whose version is written down.
    defect : what is wrong, one sentence.
    source : who published it.
    relation : of the two databases.
    expected : the kind of the finding, and a part of the name or line that it must blame.
    make : builds the broken setting; raises ImportError where the library is absent.
    control : builds the honest setting, where there is one.
    """

    name: str
    package: str
    defect: str
    source: str
    relation: str
    expected: tuple[str, str] = field(kw_only=True)
    make: Callable[[], Setting] = field(kw_only=True)
    control: Callable[[], Setting] | None = field(default=None, kw_only=True)
