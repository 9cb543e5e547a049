"""Databases as multisets of records, tables, two real data sets, and attacks on them."""
