"""Figures that are studies: the studies that several of them have, and their points as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.play import columns
from simulator.studies import Point, Quantity, Study, collect, grid
from simulator.theory import DominatedDP, LaplaceLaw, PureDP
from simulator.theory.bounds.comparison import TRUTH
from simulator.theory.bounds.registry import all_bounds


def played(specification: Mapping[str, Any], quantities: Sequence[str]) -> Study:
    """The quantities of every adversary in ``trials``, each with its number of trials."""
    s = specification
    return Study.of(
        point
        for name, trials in s["trials"].items()
        for point in collect(
            grid(name, s["family"], s["rounds"], quantities, seed=s["seed"]),
            trials=trials, confidence=s["confidence"],
        )
    )  # fmt: skip


class Curve(NamedTuple):
    """Values with their intervals at ascending places, as the plots take them."""

    at: list[float]
    value: list[float]
    lower: list[float]
    upper: list[float]


def curve(points: Iterable[Point], along: str = "at") -> Curve:
    """The values of points of a study, ascending in ``along``.

    That is "rounds", or "at" for the epsilon or delta that the quantity is a function of.
    """
    listed = sorted(points, key=lambda point: float(getattr(point, along)))
    return Curve([float(getattr(point, along)) for point in listed], **columns(listed))


def curves_of_bounds(study: Study, along: str = "at") -> dict[str, list[float]]:
    """The values of each bound of a study along its points, by the bound's name."""
    named: dict[str, list[Point]] = {}
    for point in study:
        if name := Quantity.parse(point.quantity).name:
            named.setdefault(name, []).append(point)
    return {name: curve(points, along).value for name, points in named.items()}


def bounds_and_laplace(epsilon: float, rounds: Iterable[int], deltas: Iterable[float]) -> Study:
    """epsilon(delta) of every bound on rounds of pure privacy, and of Laplace noise by its law."""
    noise = DominatedDP(LaplaceLaw(epsilon))
    wanted = [f"bound epsilon(delta={delta!r})" for delta in deltas]
    exact = [text.replace("bound", f"bound:{TRUTH}") for text in wanted]
    tasks = [*grid(None, PureDP(epsilon), rounds, wanted), *grid(None, noise, rounds, exact)]
    return Study.of(collect(tasks, jobs=1))


def with_laplace(study: Study, along: str = "at") -> dict[str, list[float]]:
    """The curves of a study of :func:`bounds_and_laplace` by the bound's name, and ``laplace``."""
    pure = curves_of_bounds(study.filter(lambda point: point.family.startswith("pure")), along)
    named = {bound.name: pure[bound.name] for bound in all_bounds() if bound.name in pure}
    noise = curves_of_bounds(study.filter(lambda point: point.family[:4] != "pure"), along)
    return named | {"laplace": noise[TRUTH]}
