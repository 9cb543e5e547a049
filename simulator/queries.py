"""Moved to :mod:`simulator.data.queries`; this path works until 0.3, with a warning."""

from simulator.moved import moved_module

__getattr__ = moved_module(__name__, "simulator.data.queries")
