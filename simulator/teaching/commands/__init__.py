"""The commands ``claims`` and ``game``."""
