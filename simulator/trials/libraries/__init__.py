"""The libraries on trial: one module each, imported in a process of its own."""
