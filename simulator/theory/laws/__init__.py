"""Exact laws of the privacy loss of one round."""
