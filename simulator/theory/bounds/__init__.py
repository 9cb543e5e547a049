"""Theorems on adaptive composition: a class for each, in a file with those of its kind."""
