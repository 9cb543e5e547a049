"""Functions of scipy that are imported when they are called."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.optimize
import scipy.special

from simulator import deferred


def test_nothing_of_scipy_is_imported_before_a_call():
    program = (
        "import sys; from simulator.deferred import ndtr, brentq\n"
        "before = 'scipy.special' in sys.modules\n"
        "print(before, float(ndtr(0.0)), 'scipy.optimize' in sys.modules)"
    )
    call = [sys.executable, "-c", program]
    run = subprocess.run(call, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "0.5", "False"]


def test_they_are_the_functions_of_scipy():
    x = np.array([-1.5, 0.2, 3.0])
    np.testing.assert_array_equal(deferred.ndtr(x), scipy.special.ndtr(x))
    found = deferred.brentq(lambda y: y**3 - 2, 0, 2, xtol=1e-14)
    assert found == scipy.optimize.brentq(lambda y: y**3 - 2, 0, 2, xtol=1e-14)


@pytest.mark.parametrize("name", deferred.__all__)
def test_each_exists_and_pickles(name):
    function = getattr(deferred, name)
    assert function.__name__ == function.__qualname__ == name
    assert pickle.loads(pickle.dumps(function)) is function
    found = [getattr(module, name, None) for module in MODULES]
    assert any(callable(each) for each in found)


MODULES = [
    __import__(f"scipy.{name}", fromlist=["x"])
    for name in ("cluster.vq", "fft", "integrate", "ndimage", "optimize", "special")
]
