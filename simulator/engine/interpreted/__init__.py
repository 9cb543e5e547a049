"""Play round by round in Python: any generator, any mechanism."""
