"""Blocks on the workers of a cluster."""
