"""How often intervals of rare events miss the exact answer: ``make coverage``.

Adversaries that hide their large losses, and random automata, are played with
:func:`simulator.estimate_rare` as users call it, with a fresh pilot in every repetition. The truth
of each is computed here by a separate recursion.
"""
