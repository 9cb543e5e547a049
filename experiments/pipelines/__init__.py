"""Pipelines of other libraries on trial: violations that others have published, and controls."""
