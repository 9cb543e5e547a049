"""Training as it is done: batches, epochs and matrices of noise, their laws and mechanisms.

Records come into batches by allocation at random, by balls in bins, or by a loader that shuffles;
a model is trained by noisy gradient steps. The names are listed in ``__init__.pyi``, and imported
when first used.
"""

from simulator.foundations.attached import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
