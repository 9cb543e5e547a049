"""Errors, checks of plain values, random generators, files and progress, used by every package."""
