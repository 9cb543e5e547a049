"""What several threads of a worker ask for at once is made once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import pytest

from simulator.engine.block import Specification, prepared_engine
from simulator.foundations.single_flight import made_once
from tests.helpers.games import TOSS, PureDP


def calls_of(decorate):
    """How often four threads at once run a slow function that ``decorate`` wraps."""
    calls, together = [], threading.Barrier(4)

    @decorate
    def slow(number):
        calls.append(number)
        time.sleep(0.05)
        return object()

    def ask(_):
        together.wait()
        return slow(7)

    with ThreadPoolExecutor(4) as threads:
        values = set(threads.map(ask, range(4)))
    return len(calls), len(values)


def test_a_value_is_made_once_however_many_threads_ask():
    assert calls_of(made_once(maxsize=4)) == (1, 1)


def test_a_cache_alone_would_make_it_for_each():
    assert calls_of(lru_cache(maxsize=4))[0] > 1


def test_an_error_is_raised_and_not_kept():
    @made_once(maxsize=4)
    def refusing(number):
        raise ValueError(number)

    for _ in range(2):
        with pytest.raises(ValueError, match="7"):
            refusing(7)


def test_a_rule_is_compiled_once_by_the_threads_of_a_worker(monkeypatch):
    built = []

    class Counted:
        @staticmethod
        def build(*terms, compiled):
            built.append((terms, compiled))
            time.sleep(0.05)
            return object()

    monkeypatch.setattr("simulator.engine.compiled.plain_kernel.Engine", Counted)
    specification = Specification(TOSS, PureDP(0.123), 9, 8)
    with ThreadPoolExecutor(4) as threads:
        engines = set(threads.map(prepared_engine, [specification] * 4))
    assert (len(built), len(engines)) == (1, 1)
