"""Exact laws of the privacy loss of one round, and where they come from."""
