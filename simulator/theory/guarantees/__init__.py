"""Guarantees of one round: the families an adversary must choose from."""
