"""The commands ``sweep`` and ``diff``."""
