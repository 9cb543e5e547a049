"""Mechanisms, auditors, accountants, filters and odometers on trial."""
