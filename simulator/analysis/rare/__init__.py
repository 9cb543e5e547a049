"""Rare events: choosing a measure to sample from, and estimating under it.

Nothing here changes what is estimated: every measure is chosen on held-out draws, then frozen, and
the weights of the final sample make up for it.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
