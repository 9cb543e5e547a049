"""Rare events: the choice of a sampling measure, and estimates under it.

A measure is chosen on held-out draws and then fixed; weights correct the final sample for it.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
