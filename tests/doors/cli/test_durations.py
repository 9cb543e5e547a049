"""``--time`` in seconds, minutes and hours."""

import pytest

from simulator.doors.cli.options import Duration


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90.0), ("2m", 120.0), ("1.5h", 5400.0)])
def test_a_duration_is_read_with_its_unit(text, seconds):
    assert Duration().convert(text, None, None) == seconds
