"""What an adversary gets from the moves of a certificate, by playing them: a lower end of delta.

Nothing is imported from this package: the document is read as the how-to page for other libraries
reads it.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

KINDS = ("pure", "range", "laplace", "gdp", "subsampled-gaussian")


def next_row(document, kind, size, row):
    """The row after a round, or None: the program of the page."""
    fit = [move for move in document["moves"] if move["kind"] == kind and move["size"] >= size]
    falls = [fall for first, fall in fit[0]["falls"] if first <= row] if fit else []
    return row - falls[-1] if falls and falls[-1] else None


def played(document, steps=60, beyond=120):
    """The delta of an adversary with rounds of any size on a fine grid; no pool.

    Sizes are the whole multiples of epsilon / ``steps``, of sampled Gaussians the listed rates and
    60 others. Losses are counted from epsilon, in steps; beyond the lattice it gives up, or stops.
    Exact up to rounding where all losses are whole; others are rounded down, which gains nothing.
    """
    step = document["epsilon"] / steps
    x = step * np.arange(-beyond, beyond + 1)
    rows, most = [np.maximum(0.0, -np.expm1(-np.maximum(x, 0.0)))], {}
    for move in document["moves"]:
        most[move["kind"]] = max(most.get(move["kind"], 0.0), move["size"])
    choices = []
    for kind, largest in most.items():
        if ":" in kind:
            listed = [move["size"] for move in document["moves"] if move["kind"] == kind]
            sizes = sorted({*listed, *(largest * k / 60 for k in range(1, 61))})
        else:
            last = min(int(largest / step * (1.0 + 1e-12)), beyond)
            sizes = [k * step * (1.0 - 1e-12) for k in range(1, last + 1)]
        choices += [(kind, size, list(on_lattice(kind, size, step, beyond))) for size in sizes]
    for n in range(1, document["rows"] + 1):
        best, extended = rows[0], {}
        for kind, size, pairs in choices:
            after = next_row(document, kind, size, n)
            if after is None:
                continue
            if after not in extended:
                above = -np.expm1(-(x[-1] + step * np.arange(1, beyond + 1)))
                extended[after] = np.concatenate([np.zeros(beyond), rows[after], above])
            row = extended[after]
            for probabilities, shifts in pairs:
                found = np.zeros(len(x))
                for p, s in zip(probabilities, shifts, strict=True):
                    found += p * row[beyond + s : beyond + s + len(x)]
                best = np.maximum(best, found)
        rows.append(best)
    return float(rows[-1][beyond - steps])


def on_lattice(kind: str, size: float, step: float, most: int) -> Iterator[tuple[list, list]]:
    """Pairs of a round: probabilities in experiment 0 of losses of whole steps, at most ``most``.

    Of Laplace and Gaussian noise they are what bins of the answer say: a bin of the answer is an
    answer of a post-processing, and its loss is rounded down.
    """
    k = round(size / step)
    if kind == "range":
        for t in range(k + 1):
            high = -math.expm1((t - k) * step) / -math.expm1(-k * step)
            yield [high, 1.0 - high], [t, t - k]
    elif kind == "pure":
        wins = 1.0 / (1.0 + math.exp(-k * step))
        yield [wins, 1.0 - wins], [k, -k]
    elif kind == "laplace":
        inner = [0.5 * math.exp(-i * step) * -math.expm1(-step) for i in range(k)]
        yield (
            [0.5, 0.5 * math.exp(-k * step), *inner],
            [k, -k, *(k - 2 * i - 2 for i in range(k))],
        )
    elif kind == "gdp":
        ends = step * np.arange(-most, most + 1)
        yield in_bins(ndtr((size * size / 2.0 - ends) / size), most)
    else:
        sigma, ends = float(kind.partition(":")[2]), step * np.arange(-most, most + 1)
        for sign in (1.0, -1.0):
            inside = np.expm1(sign * ends) / size + 1.0
            x = np.full(len(ends), -np.inf)
            x[inside > 0.0] = sigma**2 * np.log(inside[inside > 0.0]) + 0.5
            without, other = ndtr(-sign * x / sigma), ndtr(-sign * (x - 1.0) / sigma)
            yield in_bins((1.0 - size) * without + size * other if sign > 0.0 else without, most)


def in_bins(above: np.ndarray, most: int) -> tuple[list, list]:
    """Masses of losses that are rounded down to whole steps, from those above each of the ends.

    Below the last one an adversary gives up: the payoff is not negative.
    """
    masses = above - np.append(above[1:], 0.0)
    kept = np.flatnonzero(masses > 1e-12)
    return list(masses[kept]), [int(place) - most for place in kept]
