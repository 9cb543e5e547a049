"""Outcomes of blocks, which add up in any order, and their stored form."""
