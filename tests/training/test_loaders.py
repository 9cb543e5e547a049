"""Loaders that are not what their accountant assumes: what is claimed, proved and played."""

import pytest

from simulator.adversaries.contract import Challenge
from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE
from simulator.theory import compose_laws
from simulator.training import DividedStep
from simulator.training.adversaries.loaders import (
    Loader,
    all_loaders,
    dividing_loaders,
    poisson,
    shuffling_loaders,
)

GAME = {
    "sigma": 1.0, "batches": 20, "epochs": 2, "rate": 0.1, "coordinates": 300, "steps": 2,
    "records": 200, "draws": 5, "heavy": 30,
}  # fmt: skip
LOADERS = {loader.name: loader for loader in all_loaders(GAME)}
PLAYED = ("each record in one random step", "sum over the size of the sample")


def played(loader, trials=400):
    return simulate(
        loader, loader.family, loader.rounds, trials, seed=3, relation=loader.relation, jobs=1,
        progress=False,
    )  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted({*LOADERS} - {*PLAYED}))
def test_play_loses_at_least_what_is_proved(name):
    """Intervals with a false alarm of 1e-6; a law of more loss than is played is not proved."""
    loader = LOADERS[name]
    result, proved = played(loader), compose_laws(loader.proved, 1e-3)
    for b, law in enumerate((proved, proved.reversed())):
        for epsilon in (0.0, 1.0, 3.0):
            assert result.delta(epsilon, b, 1.0 - 1e-6).upper >= law.delta(epsilon).lower


def test_more_than_is_claimed_is_proved():
    for name in {*LOADERS} - {*PLAYED}:
        assert LOADERS[name].proved_epsilon(1e-5) > 2.0 * LOADERS[name].claimed_epsilon(1e-5)
    assert all(LOADERS[name].proved_epsilon(1e-5) is None for name in PLAYED)


def test_a_sum_over_the_size_of_the_sample_loses_more_than_is_claimed_by_play_alone():
    (loader,) = (one for one in dividing_loaders(1.0, 0.1, 1000, 3) if not one.proved)
    shown = played(loader).epsilon(0.02, 1, 1.0 - 1e-6).lower
    assert shown > loader.claimed_epsilon(0.02)


def test_a_sum_over_a_public_size_loses_what_is_claimed():
    """The same records, and a divisor that they do not change."""
    broken = dividing_loaders(1.0, 0.1, 1000, 3)[0]
    step = broken.challenge.mechanism
    honest = Challenge(
        *broken.challenge[:2], DividedStep(step.step, step.rate, step.coordinates, "public")
    )
    result = played(Loader("public", honest, ADD_REMOVE, rounds=3, claimed=broken.claimed))
    claimed = compose_laws(broken.claimed, 1e-3)
    for b, law in enumerate((claimed, claimed.reversed())):
        for epsilon in (0.0, 0.3):
            found = result.delta(epsilon, b, 1.0 - 1e-6)
            assert found.lower <= law.delta(epsilon).upper
            assert found.upper >= law.delta(epsilon).lower


def test_random_steps_lose_about_what_poisson_samples_do():
    loader = LOADERS["each record in one random step"]
    found, claimed = played(loader, 1000), compose_laws(loader.claimed, 1e-3)
    for b, law in enumerate((claimed, claimed.reversed())):
        exact = law.delta(0.3).value
        estimate = found.delta(0.3, b, 1.0 - 1e-6)
        assert 0.3 * exact < estimate.value < 3.0 * exact


def test_one_epoch_shuffled_once_is_one_shuffled_in_every_epoch():
    loaders = {one.name: one for one in shuffling_loaders(1.0, 50, 1)}
    once, every = loaders["shuffled once"], loaders["shuffled in every epoch"]
    assert once.proved == every.proved
    assert once.claimed == every.claimed == poisson(1.0, 0.02, 50)
