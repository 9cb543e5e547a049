"""A value of another class is refused by one line where it is given, and not by what it lacks."""

import numpy as np
import pytest

from simulator.analysis.estimation import difference
from simulator.data.queries import check_pair, score_query
from simulator.errors import InvalidInput
from simulator.foundations.validation import experiment_number, instance, listed, text_of
from simulator.studies import Quantity
from simulator.teaching import claims, games
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
