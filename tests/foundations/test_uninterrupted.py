"""Calls in a second thread: their results, their errors, and what an interruption leaves."""

import signal
import threading

import pytest

from simulator.foundations import uninterrupted as module
from simulator.foundations.uninterrupted import under_way, uninterrupted


def test_a_call_aside_is_a_call():
    assert uninterrupted(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        uninterrupted(lambda: 1 / 0)
    assert not under_way()


def test_the_main_thread_waits_and_others_call_for_themselves():
    assert uninterrupted(threading.current_thread) is not threading.main_thread()
    own = []
    thread = threading.Thread(target=lambda: own.append(uninterrupted(threading.current_thread)))
    thread.start()
    thread.join()
    assert own == [thread]


def test_an_interruption_is_heard_at_once_and_the_call_goes_on():
    begun, ending = threading.Event(), threading.Event()

    def call():
        begun.set()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        ending.wait(30)

    with pytest.raises(KeyboardInterrupt):
        uninterrupted(call)
    assert begun.is_set()
    assert under_way()
    ending.set()
    module._wait()
    assert not under_way()
