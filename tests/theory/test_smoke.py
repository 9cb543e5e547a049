import simulator


def test_imports():
    assert simulator.__doc__
