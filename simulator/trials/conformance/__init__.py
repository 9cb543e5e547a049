"""Accountants, filters and odometers on trial, of other libraries and of this one.

A library has an adapter in :mod:`simulator.trials.libraries`, which states what each of its
subjects claims; it runs in a process of its own. :func:`tried` holds every claim against certified
ends of the truth, and whatever falls short is computed a second way before it is called a defect.

The names are listed in ``__init__.pyi``, and imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
