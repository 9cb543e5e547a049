"""The bounds that one checks unless others are named."""

BOUNDS = (
    "basic",
    "advanced",
    "advanced-tight-mean",
    "kairouz-oh-viswanath-3.3",
    "zcdp-canonne-kamath-steinke",
    "analytic-gaussian",
    "dominating-pairs",
    "dominating-both-directions",
)
"""Checked by default, those of them that apply: for every family there is one."""
