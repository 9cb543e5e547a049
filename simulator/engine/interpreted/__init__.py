"""The engine that plays any generator and any mechanism in Python."""
