"""How much an audit draws and how sure it is, unless told otherwise."""

SAMPLES = 1_000_000
CONFIDENCE = 1.0 - 1e-6
