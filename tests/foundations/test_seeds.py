"""Generators are functions of (root, task, stream, block): distinct, repeatable, resumable."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.foundations.seeds import Pilot, Stream, generator, pilot_generators, record, restore
from tests.helpers.exploring import examples

reproducibly = examples(40)
places = st.tuples(
    st.integers(0, 2**128),
    st.integers(0, 2**64 - 1),
    st.sampled_from(Stream),
    st.integers(0, 2**40),
)


def first_words(place):
    return generator(*place).integers(0, 2**63, size=4).tolist()


@reproducibly
@given(places)
def test_a_place_always_gives_the_same_draws(place):
    assert first_words(place) == first_words(place)


@reproducibly
@given(places, places)
def test_other_places_give_other_draws(one, other):
    assert (one == other) == (first_words(one) == first_words(other))


def test_held_out_plays_draw_from_streams_of_their_own():
    """The numbers are part of a result's identity: they must not change."""
    assert [int(pilot) for pilot in Pilot] == [0, 200, 700]
    for number in (Pilot.SPLITTING_LEVELS, Pilot.MEASURES + 3):
        pair = [g.random() for g in pilot_generators(5, 7, number)]
        blocks = (2 * number, 2 * number + 1)
        assert pair == [generator(5, 7, Stream.PILOT, block).random() for block in blocks]


def test_neighbouring_seeds_tasks_streams_and_blocks_never_meet():
    words = {
        tuple(first_words((root, task, stream, block)))
        for root in range(4)
        for task in range(4)
        for stream in Stream
        for block in range(16)
    }
    assert len(words) == 4 * 4 * len(Stream) * 16


@reproducibly
@given(places, st.integers(0, 20), st.booleans())
def test_a_recorded_generator_goes_on_where_it_stood(place, drawn, half_a_word):
    rng = generator(*place)
    rng.random(drawn)
    if half_a_word:  # 32-bit draws keep the other half of a word for later
        rng.integers(0, 2**31, dtype=np.int32)
    again = restore(record(rng))
    assert again.integers(0, 2**31, size=3, dtype=np.int32).tolist() == (
        rng.integers(0, 2**31, size=3, dtype=np.int32).tolist()
    )
    assert again.standard_normal(5).tolist() == rng.standard_normal(5).tolist()


def test_recording_draws_nothing_and_fits_in_words():
    rng, untouched = generator(1, 2, Stream.COINS, 3), generator(1, 2, Stream.COINS, 3)
    recorded = record(rng)
    assert len(recorded) == 6
    assert all(0 <= word < 2**64 for word in recorded)
    assert rng.random() == untouched.random()


def test_experiments_draw_from_streams_of_their_own():
    assert Stream.mechanism(0) is Stream.MECHANISM_0
    assert Stream.mechanism(1) is Stream.MECHANISM_1
    assert len({int(stream) for stream in Stream}) == len(Stream)


def test_the_draws_of_a_place_are_fixed_for_good():
    # a result on disk is a promise: these numbers change only with its identity
    expected = np.random.Generator(
        np.random.SFC64(np.random.SeedSequence(7, spawn_key=(11, 1, 3)))
    ).random(3)
    assert generator(7, 11, Stream.MECHANISM_0, 3).random(3).tolist() == expected.tolist()
