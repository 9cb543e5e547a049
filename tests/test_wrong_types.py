"""A value of another class is refused by one line where it is given, and not by what it lacks."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.analysis.estimation import difference, mean_loss, splitting_runs
from simulator.auditing.pipelines.neighbours import pairs
from simulator.data.queries import check_pair, score_query
from simulator.errors import InvalidInput
from simulator.foundations.validation import experiment_number, instance, listed, text_of
from simulator.studies import Quantity, report
from simulator.teaching import claims, games
from simulator.teaching.mechanisms import lloyd_centres
from simulator.theory import (
    Bracket,
    FiniteLaw,
    RunningFilter,
    bounds_for,
    compose_laws,
    parallel,
    parse_filter,
    parse_guarantee,
    shuffled,
    tail_bounds,
)
from simulator.theory.events import LaplaceEvent
from simulator.worst import entries, parse_menu, read_certified

CALLS = {
    "composition must be a Composition": (bounds_for, tail_bounds),
    "must be a list, not": (parallel, compose_laws, entries),
    "must be text, not": (parse_filter, parse_guarantee, games.find, parse_menu, Quantity),
    "must be a": (
        lambda value: shuffled(value, 10),
        RunningFilter,
        lambda value: difference(value, value),
        lambda value: check_pair(value, value, value, value),
        lambda value: claims.sweep(value, "x", 0.0, 1.0),
        lambda value: games.played("q", "what", value),
        lambda value: Bracket(value, 1.0),
        lambda value: FiniteLaw(value, value),
        lambda value: score_query(value, len, 1.0),
        read_certified,
    ),
}


@pytest.mark.parametrize("said", CALLS)
@pytest.mark.parametrize("value", [None, 3.5, object(), print, np.array(1, dtype=object)], ids=type)
def test_it_is_refused_by_its_class(said, value):
    if said == "must be a" and isinstance(value, np.ndarray | float):
        return  # what some of them take
    for call in CALLS[said]:
        with pytest.raises(InvalidInput, match=said):
            call(value)


def test_the_checks_themselves():
    assert instance("it", 3, int) == 3
    assert text_of("it", "a") == "a"
    assert listed("it", iter([1, 2])) == (1, 2)
    with pytest.raises(InvalidInput, match="it must be a list, not array"):
        listed("it", np.array(3.0))
    with pytest.raises(InvalidInput, match="the experiment must be 0 or 1"):
        experiment_number(np.zeros(3))


def test_an_array_in_a_message_leaves_it_one_line():
    with pytest.raises(InvalidInput) as refused:
        text_of("it", np.zeros((3, 3)))
    assert len(str(refused.value).splitlines()) == 1


LEAKED = {
    "answer has 1 clusters, and otherwise 2": lambda: lloyd_centres([[2.0, 1.0]], [[0.0], [1.0]]),
    r"answer must have shape \(k, 1 \+ d\)": lambda: lloyd_centres([1.0, 2.0], [[]]),
    "neighbours must be databases, not None": lambda: list(pairs([1], None, 2, None)),
    "the function of neighbours raised TypeError": lambda: list(pairs([1], abs, 2, None)),
    "estimates must be one finite number": lambda: splitting_runs([]),
    "upper must be a number within floats": lambda: replace(mean_loss([0.1], 1.0), upper=10**400),
    "points must be a list": lambda: report({"a": 1}),
}


@pytest.mark.parametrize("said", LEAKED)
def test_what_once_leaked_an_error_of_python_is_refused(said):
    with pytest.raises(InvalidInput, match=said):
        LEAKED[said]()


def test_extreme_numbers_that_are_taken_have_an_answer():
    assert LaplaceEvent(scale=np.float32(0.5)).epsilon == 2.0
    assert "1e+308" in repr(mean_loss([0.1, 0.3], reach=1e308))
