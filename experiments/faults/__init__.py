"""Runs that are killed, damaged and starved on purpose: what is left of them, counted."""
