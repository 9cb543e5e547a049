"""Seven notebooks, each a class of twenty minutes; :mod:`experiments.notebooks.running` runs them."""
