"""Moved to :mod:`simulator.trials.testing`; this path works until 0.3, with a warning."""

from simulator.moved import moved_module

__getattr__ = moved_module(__name__, "simulator.trials.testing")
