"""Guarantees of one round; each defines the family of mechanisms that keep it."""
