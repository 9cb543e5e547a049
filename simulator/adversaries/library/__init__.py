"""The library: one file per adversary, each registered by name in its module."""
