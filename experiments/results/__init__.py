"""Results in ``results/`` that know what they were made from: the list, records, making, status.

The record of each result, ``results/made/NAME.json``, has a digest of every file that was read
while it was made (the code that was imported among them) and of every file that was written. So
whether a result is of today's code is a comparison of files, without a clock.
"""
