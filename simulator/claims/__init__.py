"""Theorems, lemmas and examples of the literature as checks with a verdict."""
