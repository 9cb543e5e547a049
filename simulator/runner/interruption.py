"""Ctrl-C and SIGTERM while worker processes start."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Hold back Ctrl-C while workers start, so that they never hear it: stopping them is ours.

    A terminal sends it to every process of the run, and each would print where it was. Starting
    the resource tracker would let the signal through again, so that is done before.
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
    """Answer Ctrl-C, and SIGTERM where Python answers it, at the end only.

    What this thread blocks, another one (of a linear algebra library, say) still receives, and
    Python would interrupt this one for it: a worker left half started complains.
    """
    answers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if threading.current_thread() is not threading.main_thread():
        answers = {}
    heard: list[int] = []
    for number, answer in answers.items():
        if callable(answer):
            signal.signal(number, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        for number, answer in answers.items():
            if callable(answer):
                signal.signal(number, answer)
        if heard:
            signal.raise_signal(heard[0])
