"""Two runs that are the same to the bit: losses, traces and views."""


def assert_same(one, other):
    """Fail where the results of two runs that kept their losses differ."""
    for b in (0, 1):
        assert one.losses(b).tobytes() == other.losses(b).tobytes()
    assert one.traces.keys() == other.traces.keys()
    for b in one.traces:
        assert one.traces[b].tobytes() == other.traces[b].tobytes()
    assert one.views == other.views
