"""Exact play: every state that a rule can come to."""
