"""Calls of a user's function with a time limit."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from simulator.foundations.errors import InvalidInput

T = TypeVar("T")

_POLL_SECONDS = 0.05


class CallClock:
    """The start of the running call, and whether it was abandoned."""

    def __init__(self) -> None:
        self.begin()
        self.abandoned = False

    def begin(self) -> None:
        """Count the time from now on."""
        self.started = time.monotonic()


class CallThread:
    """Runs calls one after the other on a daemon thread, each with a time limit."""

    def __init__(self) -> None:
        self.orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None

    def run(self, call: Callable[[CallClock], T], limit: float) -> T:
        """Return the call's result; raises InvalidInput if it takes too long."""
        if self.thread is None:
            self.thread = threading.Thread(target=self._serve, args=(self.orders,), daemon=True)
            self.thread.start()
        clock = CallClock()
        reply: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.orders.put((call, clock, reply))
        while True:
            try:
                good, value = reply.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if time.monotonic() - clock.started > limit:
                    clock.abandoned = True
                    self.thread, self.orders = None, queue.SimpleQueue()
                    raise InvalidInput(
                        f"sample did not return within {limit:g} s; raise the time limit, or find "
                        "out why it hangs"
                    ) from None
                continue
            if not good:
                raise value
            return value

    @staticmethod
    def _serve(orders: queue.SimpleQueue[Any]) -> None:
        while True:
            order = orders.get()
            if order is None:
                return
            call, clock, reply = order
            clock.begin()
            try:
                reply.put((True, call(clock)))
            except BaseException as error:
                reply.put((False, error))
            if clock.abandoned:
                return
            del order, call, clock, reply

    def close(self) -> None:
        """End the thread."""
        if self.thread is not None:
            self.orders.put(None)
            self.thread = None
