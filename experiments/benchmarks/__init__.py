"""How fast and how accurate: ``make bench`` measures, prints a table, writes it down.

Speed is given as the ratio of two rates measured alternately in one run, so that a busy or slow
machine changes both. Nothing here is asserted by the tests.
"""
