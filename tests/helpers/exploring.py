"""How many examples a property is tried on, by the profile of tests/conftest.py."""

from hypothesis import settings


def examples(number: int) -> settings:
    """Settings for a fifth of ``number`` examples daily, and twenty times ``number`` nightly."""
    return settings(max_examples=max(number * settings.default.max_examples // 100, 5))
