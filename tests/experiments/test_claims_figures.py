"""Committed data of the figures of the claims, against witnesses made another way."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.cluster.vq import vq
from scipy.stats import binom

from experiments import stages
from experiments.figures import posterior_odds, randomized_response


def committed(name):
    return json.loads(stages.data_path(name).read_text(encoding="utf-8"))["data"]


def test_posteriors_stay_within_twice_epsilon_but_pass_epsilon():
    data = committed("posterior_odds")
    band = np.array(data["band"]) * (1 + 1e-9) + 1e-12
    largest, least = np.array(data["largest"]), np.array(data["least"])
    assert np.all(largest <= band)
    assert np.all(-band <= least)
    assert (largest > band / 2).any()  # so that a band of one epsilon would be too narrow
    assert np.all(least <= 0.0)


def test_without_her_data_alice_is_known_by_the_rate_alone():
    data = committed("posterior_odds")
    assert data["prior_odds"] == pytest.approx(0.65 / 0.35)
    assert np.exp(np.array(data["without"])[:, -1]) == pytest.approx(4.0, rel=1e-3)


def test_beliefs_are_bayes_rule_written_out():
    settings = {"people": 4, "rates": [0.5, 0.8], "epsilon": 0.3}
    answers = [2.5, 0.1, 3.7]
    found = posterior_odds.beliefs(settings, answers)

    def odds(with_alice):
        weight = {0: 0.0, 1: 0.0}
        for bits in itertools.product((0, 1), repeat=4):  # Alice first
            prior = sum(math.prod(r if b else 1 - r for b in bits) for r in settings["rates"]) / 2
            count = sum(bits) if with_alice else sum(bits[1:])
            likelihood = math.prod(math.exp(-0.3 * abs(y - count)) for y in answers)
            weight[bits[0]] += prior * likelihood
        return math.log(weight[1] / weight[0])

    assert found["with"][-1] == pytest.approx(odds(True), rel=1e-12)
    assert found["without"][-1] == pytest.approx(odds(False), rel=1e-12)


def test_surveys_estimate_the_frequency():
    data = committed("randomized_response")
    for at, surveys in zip(data["surveyed_at"], data["surveys"]):
        truth = 1 / (1 + math.exp(-at))
        deviation = math.sqrt(truth * (1 - truth) / data["surveys_of"]) / (2 * truth - 1)
        # each survey passes 5 deviations with probability below 1e-6; 132 of them, fixed seed
        assert np.abs(np.array(surveys) - data["frequency"]).max() < 5 * deviation


def test_intervals_are_the_normal_ones_for_many_people():
    epsilon, people = 1.0, 10_000
    truth = 1 / (1 + math.exp(-epsilon))
    deviation = math.sqrt(truth * (1 - truth) / people) / (2 * truth - 1)
    low, high = randomized_response.central(people, 0.3, epsilon, 0.95)
    one_answer = 1 / people / (2 * truth - 1)
    assert low == pytest.approx(0.3 - 1.96 * deviation, abs=one_answer)
    assert high == pytest.approx(0.3 + 1.96 * deviation, abs=one_answer)


def test_the_exact_interval_of_equal_people_is_the_binomial_one():
    low, high = randomized_response.central(20, 1.0, 1.0, 0.9)
    truth = 1 / (1 + math.exp(-1.0))
    ends = binom.ppf([0.05, 0.95], 20, truth)
    assert [low, high] == pytest.approx((ends / 20 - 1 + truth) / (2 * truth - 1))


def test_smooth_sensitivity_is_a_tent_and_local_a_spike():
    data = committed("smooth_sensitivity")
    ones, top = np.array(data["ones"]), data["top"]
    steps = np.maximum(np.maximum(50 - ones, ones - 51), 0)  # to where the median jumps
    np.testing.assert_allclose(data["smooth"], top * np.exp(-data["beta"] * steps), rtol=1e-8)
    np.testing.assert_array_equal(data["local"], np.where(steps == 0, top, 0.0))
    noise = {name: np.array(scales) for name, scales in data["noise"].items()}
    assert np.all(noise["local"] < noise["smooth"])
    assert np.all(noise["smooth"] < noise["global"])


def test_reconstruction_keeps_its_guarantee_and_fails_past_root_n():
    data = committed("reconstruction")
    left = data["exhaustive"]
    assert np.all(np.array(left["worst"]) >= np.array(left["guaranteed"]) - 1e-9)
    assert np.isclose(left["worst"], left["guaranteed"]).sum() >= 5  # tight where 4 alpha n is even
    for shares in data["linear_program"].values():
        assert shares["lower"][0] > 0.8
        assert shares["lower"][-1] < 0.5 < shares["upper"][-1] < 0.7


def test_centres_without_privacy_are_those_of_lloyd_and_privacy_costs():
    data = committed("private_kmeans")
    points, centres = np.array(data["points"]), np.array(data["start"])
    scale = np.array([8.0, 3.0])  # distances are taken in the scaled box
    for _ in range(data["steps"]):
        nearest = vq(points / scale, centres / scale)[0]
        centres = np.array([points[nearest == c].mean(axis=0) for c in range(len(centres))])
    np.testing.assert_allclose(data["plain"], centres, rtol=1e-8)
    costs = [found["cost"] for found in data["private"]]
    assert 1.0 <= costs[0] < costs[1] < costs[2]
