"""How often intervals of rare events miss the exact answer: ``make coverage``.

Adversaries written with bad intent, and automata that nobody designed, are put to
:func:`simulator.estimate_rare` as users call it, with a fresh pilot in every repetition. The truth
of each is computed here by a recursion of its own.
"""
