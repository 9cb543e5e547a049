"""How many examples a property is tried on, by the profile of tests/conftest.py."""

from hypothesis import settings


def examples(number: int) -> settings:
    """Settings for ``number`` examples by day, and as many times more as the profile tries."""
    return settings(max_examples=number * settings.default.max_examples // 100)
