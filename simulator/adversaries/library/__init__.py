"""The library: one file an adversary, each registered by name in its module."""
