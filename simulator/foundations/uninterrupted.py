"""Calls that no Ctrl-C may reach, made in a thread aside, so that the main thread hears it at once.

A signal's exception is raised in the main thread, wherever that is. The compiler calls back from
C++, where an exception is lost or fatal; so it has a thread of its own, and the main one waits.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

_under_way: set[Future[Any]] = set()


def aside(call: Callable[[], T]) -> T:
    """Return what ``call`` returns, or raise what it raises; made aside from the main thread.

    Interrupted, this raises at once and the call goes on to its end, of no use to anybody; a
    program that ends meanwhile waits for it, see :func:`under_way`.
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
    threading.Thread(target=work, name="aside", daemon=True).start()
    return future.result()


def under_way() -> bool:
    """Whether a call that was interrupted is not over: then the interpreter must not be ended."""
    return bool(_under_way)


@atexit.register
def _wait() -> None:
    wait(list(_under_way))
