"""Counts by bins from sorted numbers are those of placing each number."""

import numpy as np
import pytest

from simulator.auditing.evidence.bins import Ordered, bin_counts, bin_of, cut
from simulator.auditing.evidence.columns import KeptColumns, read
from simulator.auditing.evidence.scores import Binned, Column, sample_of

EDGES = np.array([-1.0, 0.0, 0.5, 3.0])


def numbers(seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([np.round(rng.normal(0.0, 2.0, 200), 1), [np.nan, np.inf, -np.inf, 0.5]])


def placed(x, edges):
    return np.bincount(bin_of(x, edges), minlength=len(edges) + 2)


def test_sorted_numbers_are_counted_as_placed_ones():
    x = numbers()
    assert bin_counts(x, EDGES).tolist() == placed(x, EDGES).tolist()
    assert bin_counts(x, EDGES[:0]).tolist() == [len(x) - 1, 1]
    assert bin_counts(x[:0], EDGES).tolist() == [0] * 6


def test_values_with_counts_are_as_many_single_ones():
    x = np.sort(np.round(numbers()[:200]))
    values, counts = np.unique(x, return_counts=True)
    one, many = Ordered.weighed(values[::-1], counts[::-1]), Ordered.of(x)
    levels = np.linspace(0.0, 1.0, 33)
    assert one.counts(EDGES).tolist() == many.counts(EDGES).tolist()
    assert one.quantiles(levels).tolist() == many.quantiles(levels).tolist()
    assert many.quantiles(levels).tolist() == np.quantile(x, levels, method="lower").tolist()
    assert one.means(EDGES) == pytest.approx(many.means(EDGES))
    inside = x[(x >= 0.5) & (x < 3.0)]
    assert many.means(EDGES)[3] == pytest.approx(inside.mean())
    assert len(one.joined(one)) == len(many.joined(many)) == 400


def test_an_empty_bin_has_its_lower_edge_as_mean():
    assert Ordered(np.array([5.0])).means(EDGES).tolist() == [-1.0, -1.0, 0.0, 0.5, 5.0]


def test_few_values_are_edges_themselves():
    assert cut(np.array([2.0, 1.0, 2.0, np.nan, np.inf])).tolist() == [1.0, 2.0]
    assert len(cut(np.arange(1000.0))) == 63


def test_scores_of_a_column_are_counted_without_placing_each():
    x, y = numbers(1), numbers(2)
    reader = read(x, y)
    bins, _ = Binned.learn(reader, 0, x, y)
    for score in (Column(0, "x"), bins):
        found = sample_of(score, KeptColumns(reader), x).counts(EDGES)
        assert found.tolist() == placed(score.of(reader, x), EDGES).tolist()


def test_joined_bins_are_on_the_same_side():
    x = numbers(3)
    reader = read(x, x)
    bins, _ = Binned.learn(reader, 0, x, x + 0.4)
    for threshold in np.unique(bins.ratios):
        few = bins.halved(threshold)
        assert len(few.edges) <= len(bins.edges)
        same = (few.of(reader, x) >= threshold) == (bins.of(reader, x) >= threshold)
        assert same.all()
