"""The commands ``worst-case`` and ``filter``."""
