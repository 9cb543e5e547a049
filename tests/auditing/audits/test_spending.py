"""The shares of a false-alarm budget add up to no more than it, in any number of processes."""

import math
import os
import threading
from fractions import Fraction

import pytest

from simulator.auditing.audits import spending
from simulator.auditing.audits.spending import (
    LEAST,
    REPLACEMENTS,
    FixedSpending,
    Spending,
    part,
    share,
)
from simulator.foundations.errors import Refusal


def exact_sum(numbers):
    return sum(map(Fraction, numbers), Fraction(0))


@pytest.mark.parametrize("most", [1, 10, 1000, 100_000])
def test_the_shares_add_up_to_what_the_telescope_says(most):
    total = exact_sum(share(n) for n in range(1, most + 1))
    telescope = 1.0 - 3.0 / math.log2(most + 8)
    assert float(total) == pytest.approx(telescope, rel=1e-10)
    assert total < Fraction(telescope)  # rounded down


def test_far_shares_keep_their_digits():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for n in (1, 7, 10**6, 10**12):
            exact = 3 / mpmath.log(n + 7, 2) - 3 / mpmath.log(n + 8, 2)
            assert share(n) <= exact <= share(n) * (1 + 3e-12)


def test_the_price_of_not_knowing_their_number_is_what_the_text_says():
    paid = {n: round(-math.log(n * share(n)), 1) for n in (1, 10, 100, 1000)}
    assert paid == {1: 2.9, 10: 1.9, 100: 2.4, 1000: 3.1}


@pytest.mark.parametrize("planned", [1, 2, 3, 4, 7, 48])
def test_the_parts_of_processes_add_up_to_the_whole_however_many_replace_others(planned):
    parts = exact_sum(part(number, planned) for number in range(planned + 5000))
    assert parts < 1
    assert exact_sum(part(n, planned) for n in range(planned)) > Fraction(0.999 * 0.9)
    assert part(planned, planned) == REPLACEMENTS * share(1)


@pytest.mark.parametrize("budget", [0.05, 1e-6, 1e-9])
def test_what_a_process_spends_is_within_its_budget_and_printed_as_it_is(budget):
    running = Spending(budget)
    spent = [running.spend() for _ in range(2000)]
    assert exact_sum(spent) <= Fraction(budget)
    assert exact_sum(spent) >= Fraction(budget) * Fraction(0.7)
    assert all(len(f"{alpha!r}".partition("e")[0].strip("0.").replace(".", "")) <= 3
               for alpha in spent)  # fmt: skip
    assert spent == sorted(spent, reverse=True)


def test_threads_never_take_the_same_share():
    running, spent = Spending(0.05), []

    def take():
        spent.extend(running.spend() for _ in range(500))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Spending(0.05)
    assert sorted(spent, reverse=True) == [again.spend() for _ in range(2000)]


def test_a_forked_process_is_refused(monkeypatch):
    running = Spending(1e-6)
    running.spend()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(Refusal, match="pytest-xdist"):
        running.spend()


def test_a_budget_too_small_to_divide_is_refused_at_the_assertion_that_finds_nothing_left():
    running = Spending(1e-14)
    for _ in range(6):
        running.spend()
    with pytest.raises(Refusal, match=r"assertion 7 .* state a larger budget"):
        running.spend()


@pytest.mark.parametrize("alpha", [LEAST, 1e-15, 1.23e-9, 0.01, 1 / 3, 0.999])
def test_a_confidence_promises_no_more_alarms_than_stated(alpha):
    level = spending.confidence(alpha)
    assert 1 - Fraction(level) <= Fraction(alpha)
    assert 1 - Fraction(math.nextafter(level, 0.0)) > Fraction(alpha)
    assert 0.0 < level < 1.0


def test_a_replay_has_the_same_probability_every_time():
    fixed = FixedSpending(1e-8)
    assert {fixed.spend() for _ in range(5)} == {1e-8}
