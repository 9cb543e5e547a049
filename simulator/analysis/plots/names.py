"""Bounds and games as they are named in a figure."""

from __future__ import annotations

LABELS = {
    "basic": "basic",
    "advanced": "advanced (Theorem 3.20)",
    "advanced-tight-mean": "advanced, tight mean",
    "freedman": "Freedman",
    "kairouz-oh-viswanath-3.5": "Kairouz–Oh–Viswanath 3.5",
    "kairouz-oh-viswanath-3.3": "exact, randomized response",
    "zcdp-bun-steinke": "zCDP, Bun–Steinke",
    "zcdp-canonne-kamath-steinke": "zCDP, Canonne–Kamath–Steinke",
    "rdp-mironov": "RDP, Mironov",
    "rdp-canonne-kamath-steinke": "RDP, Canonne–Kamath–Steinke",
    "gdp": "Gaussian that dominates",
    "gdp-clt": "central limit (approximation)",
    "corollary-3.21": "Corollary 3.21",
    "laplace": "exact, Laplace",
    "amplified-by-sampling": "amplified, then composed",
    "dominating-both-directions": "dominating pair, composed",
    "clones-closed-form": "clones, closed form",
    "clones-numerical": "clones, summed",
    "shuffled-randomized-response": "exact, shuffled randomized response",
    "analytic-gaussian": "exact, Gaussian",
    "gaussian-in-zcdp": "Gaussian in zCDP",
    "dominating-pairs": "dominating pairs, composed",
    "any-direction": "dominating pair, any direction",
    "one-direction": "dominating pair, one direction",
    "bounded-range-azuma": "bounded range, Azuma",
    "bounded-range-non-adaptive": "bounded range, not adaptive",
    "bounded-range-adaptive": "bounded range, adaptive",
    "murtagh-vadhan": "Murtagh–Vadhan",
    "murtagh-vadhan-rounded": "Murtagh–Vadhan, rounded",
    "privacy-loss-distribution": "privacy loss, composed",
}


EXACT = "exact, "


def label(name: str, kind: str = "exact") -> str:
    """A registered bound's name in a figure; the registry's own where there is no other.

    ``kind`` is that of the row: an exact bound is an upper bound where nothing attains it.
    """
    found = LABELS.get(name, name.replace("-", " "))
    if kind != "exact" and found.startswith(EXACT):
        return f"upper bound, {found.removeprefix(EXACT)}"
    return found
