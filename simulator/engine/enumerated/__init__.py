"""Exact play, by enumeration of the states of a rule."""
