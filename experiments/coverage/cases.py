"""The cases of each adversary, a function of one seed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.coverage.subject import Subject
from experiments.coverage.truth import Law

QUANTITIES = ("tail", "delta", "epsilon")
METHODS = ("auto", "plain", "tilted", "steered", "exchanged", "splitting")
AUTO_SHARE = 0.84
"""Of the cases; the other methods share the rest."""
FEWEST, MANY, MOST = 5, 10_000, 100_000
MANY_SHARE = 0.4
"""Of the cases have MANY trials at least: with few trials most calls are refused."""
GENERATOR_ROUNDS = 300_000
"""Rounds of the final sample of a generator, which plays interpreted: some seconds."""
DEEPEST = 12.0
"""Decades down to which a threshold or a delta is rare."""
PLACES = ("atom", "float below", "float above", "just below", "just above", "midpoint")


@dataclass(frozen=True)
class Case:
    """One call of ``estimate_rare``.

    Attributes
    ----------
    subject : the adversary's name.
    quantity : the one interval of the answer that tables over several quantities count: of one
        sample no two, for their misses come together.
    point : the epsilon of a tail or a delta; the delta of an epsilon.
    method : of ``estimate_rare``; "exchanged" reads the answer from a sample of the other
        experiment.
    place : where the point lies among the atoms of the loss.
    """

    subject: str
    number: int
    experiment: int
    quantity: str
    point: float
    place: str
    trials: int
    method: str
    seed: int


def cases(subject: Subject, laws: Sequence[Law], seed: int) -> Iterator[Case]:
    """Endless cases of one adversary; ``laws`` are those of experiments 0 and 1."""
    stream = np.random.default_rng((seed, zlib.crc32(subject.name.encode())))
    number = 0
    for law in laws:
        if not len(law.atoms()):
            raise ValueError(f"{subject.name} has no positive loss: there is nothing to estimate")
    while True:
        b = int(stream.integers(2))
        quantity = QUANTITIES[int(stream.integers(3))]
        method = "auto"
        if stream.random() > AUTO_SHARE:
            allowed = METHODS[1:] if quantity != "epsilon" else METHODS[1:5]
            method = str(stream.choice(allowed))
        rare = float(10.0 ** -stream.uniform(1.0, DEEPEST))
        place = PLACES[int(stream.integers(len(PLACES)))]
        fewest = MANY if stream.random() < MANY_SHARE else FEWEST
        trials = round(float(np.exp(stream.uniform(np.log(fewest), np.log(MOST)))))
        if subject.generator is not None:
            trials = min(trials, GENERATOR_ROUNDS // subject.rounds)
        drawn = int(stream.integers(2**62))
        if quantity == "epsilon":
            point, place = min(rare, 0.5 * laws[b].delta(0.0).lower), "delta"
        elif subject.is_continuous:
            point, place = laws[b].quantile(rare), "continuous"
        else:
            point = at_atom(laws[b], rare, place)
        if point > 0.0:
            yield Case(
                subject.name, number, b, quantity, point, place, max(trials, 1), method, drawn
            )
        number += 1


def at_atom(law: Law, rare: float, place: str) -> float:
    """A threshold at the first atom whose tail is at most ``rare``, or next to it.

    Never at the largest, above which nothing is; at half of it where it is the only one.
    """
    atoms = law.atoms()
    if len(atoms) == 1:
        return 0.5 * float(atoms[0])
    first = min(int(np.searchsorted(atoms, law.quantile(rare) * (1 - 1e-8))), len(atoms) - 2)
    atom = float(atoms[first])
    return {
        "atom": atom,
        "float below": float(np.nextafter(atom, 0.0)),
        "float above": float(np.nextafter(atom, np.inf)),
        "just below": atom * (1.0 - 1e-6),
        "just above": atom * (1.0 + 1e-6),
        "midpoint": 0.5 * (atom + float(atoms[first + 1])),
    }[place]
