"""Attacks that reconstruct a database from answers that are too accurate."""

from simulator.teaching.reconstruction.exhaustive import (
    consistent_databases,
    reconstruct_exhaustively,
    subset_sums,
)
from simulator.teaching.reconstruction.linear_program import (
    random_subsets,
    reconstruct_by_linear_program,
)

__all__ = [
    "consistent_databases",
    "random_subsets",
    "reconstruct_by_linear_program",
    "reconstruct_exhaustively",
    "subset_sums",
]
