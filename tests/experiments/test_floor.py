"""The random questions of the bench: drawn from a seed, judged by width and by time."""

import math

import pytest

from experiments.benchmarks import floor
from simulator.foundations.errors import NotApplicable
from simulator.theory import Bracket


def test_a_seed_draws_its_questions_over_every_kind_of_event():
    first, again, other = (list(map(str, floor.drawn(30, seed))) for seed in (1, 1, 2))
    assert first == again != other
    text = "\n".join(first)
    for kind in ("Gaussian", "Laplace", "RandomizedResponse", "Promise", "Discrete", "rate = "):
        assert kind in text


@pytest.mark.parametrize(
    ("ends", "width"),
    [
        (Bracket(1.0, 2.0), 0.5),
        (Bracket(0.0, 0.0), 0.0),
        (Bracket(0.0, 1e-301), 0.0),
        (Bracket(0.0, 1e-20), 1.0),
        (Bracket(1.0, math.inf), math.inf),
        (Bracket(math.inf, math.inf), 0.0),
        (None, math.inf),
    ],
)
def test_the_width_of_an_answer(ends, width):
    assert floor.Answered(next(floor.drawn(1, 1)), ends, "", 0.0).width == width


def test_a_wide_and_a_refused_answer_are_the_worst(monkeypatch):
    def refuses(asked):
        raise NotApplicable("too wide a range")

    asked = next(floor.drawn(1, 1))
    monkeypatch.setattr(floor.Asked, "answer", lambda asked: Bracket(0.9, 1.0))
    wide = floor.answered(asked)
    assert wide.width == pytest.approx(0.1)
    monkeypatch.setattr(floor.Asked, "answer", refuses)
    refused = floor.answered(asked)
    assert (refused.width, refused.why) == (math.inf, "too wide a range")
    monkeypatch.setattr(floor, "all_answered", lambda count, seed: [wide, refused])
    widest, slowest = floor.random_questions()
    assert (widest.figure, widest.met, widest.detail["missed"]) == (math.inf, False, 2)
    assert slowest.met is True
