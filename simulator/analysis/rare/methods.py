"""The names of the ways to estimate a rare event."""

METHODS = (
    "auto", "doob", "covering", "plain", "tilted", "steered", "guarded", "splitting",
)  # fmt: skip
