"""Adapters of auditors: a module has ``auditors()``, and imports its library there."""
