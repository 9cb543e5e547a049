"""The scripts that make each figure, and the benchmarks.

``make plots`` runs ``python -m experiments simulate NAME`` where a script or the code that it uses
has changed, and ``python -m experiments draw NAME`` where its data have. A new figure is one new
file in ``experiments/figures/``.
"""
