"""SIGTERM ends what a process has started, and a handler that is set already stays."""

import signal
import threading

import pytest

from simulator.foundations import children


@pytest.fixture(autouse=True)
def usual():
    """SIGTERM ends the process, as where a program has set nothing."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_sigterm_interrupts_as_ctrl_c_does_until_the_end():
    with children.interruptible():
        assert callable(signal.getsignal(signal.SIGTERM))  # else it would end the tests
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_that_is_set_already_stays():
    def own(number, frame):
        pass

    signal.signal(signal.SIGTERM, own)
    with children.interruptible():
        assert signal.getsignal(signal.SIGTERM) is own
    assert signal.getsignal(signal.SIGTERM) is own


def test_another_thread_than_the_main_one_sets_none():
    seen = []

    def inside():
        with children.interruptible():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]
