"""Handling of Ctrl-C and SIGTERM while worker processes start."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Block SIGINT while workers start, so that they ignore it; this process stops them.

    A terminal sends SIGINT to all processes, and each would print a traceback. Starting the
    resource tracker unblocks the signal, so it is started first.
    """
    resource_tracker.ensure_running()
    with _postponed():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _postponed() -> Iterator[None]:
    """Call the Python handlers of SIGINT and SIGTERM at the end only.

    Another thread, as of a linear algebra library, may receive the signal that this one blocks;
    Python would then interrupt this one, and a worker that is half started would print an error.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    received: list[int] = []
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])
