"""The defaults of an audit: the largest number of draws per input, and its confidence."""

SAMPLES = 1_000_000
CONFIDENCE = 1.0 - 1e-6
