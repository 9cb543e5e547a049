"""The door of the public names: a class behind it."""

import pytest

from simulator.foundations.attached import behind_door
from simulator.foundations.errors import InvalidInput


def test_a_method_of_a_class_names_its_wrong_argument():
    class Box:
        __module__ = "simulator.box"

        def half(self, size: "float"):
            return size / 2

    class Small(Box):
        __module__ = "simulator.box"

    behind_door(Small, "Small")
    for kind in (Box, Small):
        assert kind().half(3) == 1.5
        with pytest.raises(InvalidInput, match=r"Box\.half: size must be a number, not 'long'"):
            kind().half("long")
