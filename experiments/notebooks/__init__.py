"""Seven classes of twenty minutes, a notebook each; :mod:`experiments.notebooks.running` runs them."""
