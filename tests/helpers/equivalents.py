"""Why nothing that is promised changes with a mutant: arguments, by the mutants' labels.

A mutant is one of :mod:`tests.helpers.chance`. Each argument says what the two codes share; one
that only makes a program slower or faster is here too, and says so.
"""

EQUIVALENT: dict[str, str] = {}
