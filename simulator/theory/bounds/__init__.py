"""Theorems on adaptive composition: one class per theorem, one file per family of theorems."""
