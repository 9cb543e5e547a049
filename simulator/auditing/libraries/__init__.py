"""The tested libraries: one module each, imported in a separate process."""
