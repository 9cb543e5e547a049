"""Adversarial composition experiments for differential privacy.

An adversary picks, round by round, two neighbouring databases and a private mechanism, and is
handed the mechanism's answer on database b (Roth 2011, Lecture 4, Algorithm 1). Play it with
:func:`simulate`; hold what was measured against :mod:`simulator.theory`.

The public names are listed in ``__init__.pyi``, and imported when first used, so that a worker
process loads only what it plays with.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
