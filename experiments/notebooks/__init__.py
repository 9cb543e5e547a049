"""Seven classes, a notebook each; :mod:`experiments.notebooks.running` runs them."""
