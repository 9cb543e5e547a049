"""Calls in a second thread, so that Ctrl-C raises at once in the main thread and not in the call.

A signal's exception is raised in the main thread, at whatever line it runs. The compiler calls back
from C++, where an exception is lost or fatal; so it runs in its own thread, and the main thread
waits.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

_under_way: set[Future[Any]] = set()


def uninterrupted(call: Callable[[], T]) -> T:
    """Return what ``call`` returns, or raise what it raises, from a thread other than the main one.

    An interrupt raises here at once; the call continues to its end, and its result is discarded. A
    program that ends before it waits for it, see :func:`under_way`.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    _under_way.add(future)
    future.add_done_callback(_under_way.discard)
    threading.Thread(target=work, name="uninterrupted", daemon=True).start()
    return future.result()


def under_way() -> bool:
    """Whether an interrupted call still runs; the interpreter must not be ended before."""
    return bool(_under_way)


@atexit.register
def _wait() -> None:
    wait(list(_under_way))
