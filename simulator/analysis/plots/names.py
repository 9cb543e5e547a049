"""Bounds and games as they are named in a figure, and which of the looks of bounds each has."""

from __future__ import annotations

LABELS = {
    "kairouz-oh-viswanath-3.3": "exact, randomized response",
    "basic": "basic",
    "advanced": "advanced (Theorem 3.20)",
    "advanced-tight-mean": "advanced, tight mean",
    "kairouz-oh-viswanath-3.5": "Kairouz–Oh–Viswanath 3.5",
    "zcdp-canonne-kamath-steinke": "zCDP, Canonne–Kamath–Steinke",
    "laplace": "exact, Laplace",
    "rdp-canonne-kamath-steinke": "RDP, Canonne–Kamath–Steinke",
    "gdp": "Gaussian that dominates",
    "bounded-range-azuma": "bounded range, Azuma",
    "freedman": "Freedman",
    "zcdp-bun-steinke": "zCDP, Bun–Steinke",
    "privacy-loss-distribution": "privacy loss, composed",
    "gdp-clt": "central limit (approximation)",
    "one-direction": "dominating pair, one direction",
    "dominating-pairs": "dominating pairs, composed",
    "dominating-both-directions": "dominating pair, composed",
    "any-direction": "dominating pair, any direction",
    "analytic-gaussian": "exact, Gaussian",
    "amplified-by-sampling": "amplified, then composed",
    "clones-closed-form": "clones, closed form",
    "clones-numerical": "clones, summed",
    "shuffled-randomized-response": "exact, shuffled randomized response",
    "gaussian-in-zcdp": "Gaussian in zCDP",
    "bounded-range-non-adaptive": "bounded range, not adaptive",
    "bounded-range-adaptive": "bounded range, adaptive",
    "murtagh-vadhan": "Murtagh–Vadhan",
    "murtagh-vadhan-rounded": "Murtagh–Vadhan, rounded",
    "corollary-3.21": "Corollary 3.21",
    "rdp-mironov": "RDP, Mironov",
}
"""By registered name. A bound has one look in all figures: that of its place here, so that those
that are often drawn together come first and have colours of their own, and exact ones are solid."""

TAILS = {
    "Azuma, tight drift": "advanced-tight-mean",
    "Azuma, drift of Lemma 7": "advanced",
    "basic composition": "basic",
}
"""Other names of bounds, where the tail is drawn and not the divergence."""


EXACT, UPPER = "exact, ", "upper bound, "


def label(name: str, kind: str = "exact") -> str:
    """A registered bound's name in a figure; the registry's own where there is no other.

    ``kind`` is that of the row: an exact bound is an upper bound where nothing attains it.
    """
    found = LABELS.get(name, name.replace("-", " "))
    if kind != "exact" and found.startswith(EXACT):
        return UPPER + found.removeprefix(EXACT)
    return found


def place_of(name: str) -> int | None:
    """The place of a bound in the table, by its registered name or by that of a figure, or None.

    What follows the name after a comma is a remark.
    """
    parts = name.removeprefix(UPPER).split(", ")
    for count in range(len(parts), 0, -1):
        start = ", ".join(parts[:count])
        found = _PLACES.get(start, _PLACES.get(EXACT + start if name.startswith(UPPER) else start))
        if found is not None:
            return found
    return None


_PLACES = {name: place for place, name in enumerate(LABELS)}
_PLACES |= {text: _PLACES[name] for name, text in LABELS.items()}
_PLACES |= {text: _PLACES[name] for text, name in TAILS.items()}
