"""Blocks in parallel: resumed, shown while they run, interrupted, reported."""
