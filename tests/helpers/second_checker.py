"""What a filter's certificate admits, computed from the lemmas alone, by other algorithms.

Nothing is imported from this package: the document is read as the how-to page for other libraries
reads it. :func:`reached` has the largest delta over the listed moves, on a grid of posteriors and
by quadrature, to about a thousandth. :func:`played` is a lower end, exact up to rounding: an
adversary that plays rounds of whole multiples of a step, so that every loss is on its lattice.
"""

import math
from functools import cache, lru_cache

import numpy as np
import scipy

POSTERIORS = 1200
LEGENDRE = np.polynomial.legendre.leggauss(24)
NORMAL = np.linspace(-8.0, 8.0, 193)
OUTCOMES = np.linspace(-9.0, 10.0, 301)


def next_row(document, kind, size, row):
    """The row after a round, or None: the program of the page."""
    fit = [move for move in document["moves"] if move["kind"] == kind and move["size"] >= size]
    falls = [fall for first, fall in fit[0]["falls"] if first <= row] if fit else []
    return row - falls[-1] if falls and falls[-1] else None


def pairs_of(kind, size):
    """The pairs of a round: probabilities in experiment 0, and privacy losses."""
    name, _, sigma = kind.partition(":")
    if name == "pure":
        wins = 1.0 / (1.0 + math.exp(-size))
        return [([wins, 1.0 - wins], [size, -size])]
    if name == "range":
        found = []
        for t in np.linspace(0.0, size, 41):
            high = -math.expm1(t - size) / -math.expm1(-size)
            found.append(([high, 1.0 - high], [t, t - size]))
        return found
    if name == "laplace":  # of noise between the two centres, and beyond either
        x, weights = (LEGENDRE[0] + 1.0) * size / 2.0, LEGENDRE[1] * size / 2.0
        inner = 0.5 * np.exp(-x) * weights
        return [([0.5, 0.5 * math.exp(-size), *inner], [size, -size, *(size - 2.0 * x)])]
    if name == "gdp":
        weights = np.exp(-0.5 * NORMAL**2)
        return [(weights / weights.sum(), size * size / 2.0 + size * NORMAL)]
    noise, rate = float(sigma), size
    x = noise * OUTCOMES + np.where(OUTCOMES > 0.0, OUTCOMES / 10.0, 0.0)
    without = np.exp(-0.5 * (x / noise) ** 2) * np.gradient(x)
    without /= without.sum()
    shifted = without * np.exp((x - 0.5) / noise**2)
    mixed = (1.0 - rate) * without + rate * shifted / shifted.sum()
    loss = np.log(mixed / without)
    return [(mixed, loss), (without, -loss)]


@cache
def grid():
    """The points u: 0, and the odds of posteriors that are dense at both ends."""
    posterior = 0.5 - 0.5 * np.cos(np.pi * np.arange(1, POSTERIORS) / POSTERIORS)
    return np.concatenate([[0.0], np.sort((1.0 - posterior) / posterior)])


@lru_cache(maxsize=200)
def means_of(kind, size):
    """For each pair of a round the matrix of its mean, by linear interpolation in u."""
    u, found = grid(), []
    rows = np.arange(len(u))
    for probabilities, losses in pairs_of(kind, size):
        at = np.minimum(np.outer(np.exp(-np.array(losses)), u), u[-1])  # constant beyond
        right = np.clip(np.searchsorted(u, at), 1, len(u) - 1)
        share = (at - u[right - 1]) / (u[right] - u[right - 1])
        weights = np.array(probabilities)[:, None] * np.array([1.0 - share, share])
        places = np.broadcast_to(rows, weights.shape).ravel(), np.array([right - 1, right]).ravel()
        matrix = scipy.sparse.coo_array((weights.ravel(), places), (len(u), len(u)))
        found.append(matrix.tocsr())
    return found


def reached(document):
    """The delta that the rows reach at epsilon, with what the pool and its floor add."""
    u = grid()
    rows = [np.maximum(0.0, 1.0 - u)]
    for n in range(1, document["rows"] + 1):
        best = rows[-1]
        for move in document["moves"]:
            after = next_row(document, move["kind"], move["size"], n)
            if after is not None:
                every = [mean @ rows[after] for mean in means_of(move["kind"], move["size"])]
                best = np.maximum(best, np.max(every, axis=0))
        rows.append(best)
    pool, top = document["pool"]["squares"] + document["pool"]["floor"], rows[-1]
    if pool:
        top = means_of("gdp", math.sqrt(pool))[0] @ top
    return float(np.interp(math.exp(document["epsilon"]), u, top))


def played(document, steps=60, beyond=120):
    """The delta of an adversary with rounds of multiples of epsilon / ``steps``; no pool.

    Losses are counted from epsilon, in steps; beyond the lattice it gives up, or stops.
    """
    step = document["epsilon"] / steps
    x = step * np.arange(-beyond, beyond + 1)
    rows, most = [np.maximum(0.0, -np.expm1(-np.maximum(x, 0.0)))], {}
    for move in document["moves"]:
        most[move["kind"]] = max(most.get(move["kind"], 0.0), move["size"])
    sizes = [
        (kind, k)
        for kind, size in most.items()
        for k in range(1, min(int(size / step * (1.0 + 1e-12)), beyond) + 1)
        if kind in ("pure", "range", "laplace")
    ]
    for n in range(1, document["rows"] + 1):
        best = rows[0]
        for kind, k in sizes:
            after = next_row(document, kind, k * step * (1.0 - 1e-12), n)
            if after is None:
                continue
            above = -np.expm1(-(x[-1] + step * np.arange(1, k + 1)))
            row = np.concatenate([np.zeros(k), rows[after], above])
            for probabilities, shifts in on_lattice(kind, k, step):
                found = sum(
                    p * row[k + s : k + s + len(x)]
                    for p, s in zip(probabilities, shifts, strict=True)
                )
                best = np.maximum(best, found)
        rows.append(best)
    return float(rows[-1][beyond - steps])


def on_lattice(kind, k, step):
    """Pairs of a round of k steps, with whole losses; of Laplace noise what its answer's bins say.

    A bin of the answer is an answer of a post-processing; its loss is rounded down.
    """
    if kind == "range":
        for t in range(k + 1):
            high = -math.expm1((t - k) * step) / -math.expm1(-k * step)
            yield (high, 1.0 - high), (t, t - k)
        return
    if kind == "pure":
        wins = 1.0 / (1.0 + math.exp(-k * step))
        yield (wins, 1.0 - wins), (k, -k)
        return
    inner = [0.5 * math.exp(-i * step) * -math.expm1(-step) for i in range(k)]
    yield (0.5, 0.5 * math.exp(-k * step), *inner), (k, -k, *(k - 2 * i - 2 for i in range(k)))
