"""The bounds that are checked by default."""

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
"""Names of bounds; at least one of them applies to every family."""
