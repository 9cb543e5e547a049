"""The commands ``audit``, ``conform``, ``pipeline`` and ``truths``."""
