"""The numbers of a training: from options, from settings, and what is refused."""

import json

import pytest

from simulator.errors import InvalidInput
from simulator.training.as_trained.described import TrainingRun, left_out, training_of

RUN = TrainingRun(noise=1.1, records=1000, batch=30, steps=68, delta=1e-5)


def of(options, settings=None):
    return training_of(options, None if settings is None else json.dumps(settings))


def test_one_training_in_every_way_that_it_may_be_written():
    assert (RUN.per_epoch, RUN.whole_epochs, RUN.begun_epochs, RUN.rate) == (34, 2, 2, 0.03)
    options = {"noise": 1.1, "records": 1000, "batch": 30, "epochs": 2, "delta": 1e-5}
    assert of(options) == RUN
    assert of({**options, "steps": None, "cut": None}) == RUN
    jax = {
        "noise_multipliers": 1.1, "num_samples": 1000, "batch_size": 30, "delta": 1e-5,
        "examples_per_user": None, "cycle_length": None, "is_finite_guarantee": True,
    }  # fmt: skip
    assert of({"steps": 68}, jax) == RUN
    opacus = {"noise_multiplier": 1.1, "batch_size": 30, "epochs": 2, "target_delta": 1e-5, "lr": 1}
    assert of({"records": 1000}, opacus) == RUN
    assert left_out(json.dumps(opacus)) == ["lr"]
    state = {"history": [[1.1, 0.03, 68]], "mechanism": "prv"}
    assert of({"records": 1000, "delta": 1e-5}, state) == RUN
    with_rate = of({"records": 1000, "delta": 1e-5, "batch": 30}, {"history": [[1.1, 1 / 34, 68]]})
    assert (with_rate.rate, with_rate.per_epoch) == (1 / 34, 34)


@pytest.mark.parametrize(
    ("options", "settings", "message"),
    [
        ({"noise": 1.0}, None, "records is missing"),
        ({"noise": 1.0}, {"noise_multiplier": 1.0}, "noise is both in the settings and"),
        ({}, {"noise_multiplier": 1, "noise_multipliers": 1}, "there under two names"),
        ({}, {"noise_multipliers": [[0, 1.0]]}, "noise_multipliers must be one number"),
        ({}, {"cycle_length": 4}, "cycle_length is not read here"),
        ({}, {"examples_per_user": 3}, "one record of each person alone"),
        ({}, {"is_finite_guarantee": False}, "no epsilon"),
        ({}, {"history": [[1, 0.1, 1], [2, 0.1, 1]]}, "a history has one entry here"),
        ({}, {"history": [[1, 0.1]]}, "is not [noise, rate, steps]"),
        ({}, {"history": [[1, 0.1, 5]], "sample_rate": 0.1}, "in the history already"),
        ({}, [1], "settings: is not an object"),
    ],
)
def test_what_is_no_training_is_one_line(options, settings, message):
    with pytest.raises(InvalidInput) as refused:
        of(options, settings)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": 0.0}, "noise"), ({"noise": 0.01}, "noise must be in"),
        ({"batch": 1001}, "batch must be at most"), ({"steps": 0}, "steps"),
        ({"steps": 10**7}, "steps must be at most"), ({"delta": 1.0}, "delta"),
        ({"steps": None}, "number of steps or of epochs"), ({"epochs": 2}, "not both"),
        ({"rate": 2.0}, "rate must be in"), ({"steps": 1.5}, "steps"), ({"cut": -1}, "cut"),
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_one_line(change, message):
    numbers = {"noise": 1.0, "records": 1000, "batch": 30, "steps": 60, "delta": 1e-5}
    with pytest.raises(InvalidInput) as refused:
        of({**numbers, **change})
    assert message in str(refused.value)
