"""The names of the methods for rare events."""

METHODS = (
    "auto", "doob", "covering", "plain", "tilted", "steered", "guarded", "splitting",
)  # fmt: skip
