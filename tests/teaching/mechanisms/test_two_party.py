import numpy as np
import pytest
from scipy import stats

from simulator.data.databases import REPLACE_ONE, Database
from simulator.data.queries import counting_query
from simulator.foundations.errors import Breach, InvalidInput
from simulator.teaching.mechanisms.two_party import TwoPartyCount
from simulator.theory import LaplaceLaw
from simulator.theory.guarantees.pure import PureDP
from tests.helpers.mechanism_cases import draws


def is_ill(record):
    return record[1] == "ill"


ILL = counting_query(is_ill)
SHARED = Database({(1, "ill"): 4, (1, "well"): 6, (2, "ill"): 7, (2, "well"): 2})
MORE = SHARED.add((2, "ill"))
FIRST = TwoPartyCount(ILL, 0.8)


def test_the_view_is_the_own_count_and_both_messages():
    # false alarm 3e-6 in all
    for b, count in ((0, 7), (1, 8)):
        sample = draws(FIRST.pair(SHARED, MORE), b, 4_000)
        assert (sample[:, 0] == 4).all()
        assert stats.kstest(sample[:, 1], stats.laplace(4, 2 / 0.8).cdf).pvalue > 1e-6
        assert stats.kstest(sample[:, 2], stats.laplace(count, 2 / 0.8).cdf).pvalue > 1e-6
        assert stats.kstest(sample[:, 2], stats.laplace(count, 1 / 0.8).cdf).pvalue < 1e-6


def test_the_loss_is_that_of_the_other_message_and_half_of_what_is_printed():
    laws = stats.laplace(7, 2 / 0.8), stats.laplace(8, 2 / 0.8)
    pair = FIRST.pair(SHARED, MORE)
    sample = draws(pair, 0, 500)
    losses = np.array([pair.loss(view) for view in sample])
    expected = laws[0].logpdf(sample[:, 2]) - laws[1].logpdf(sample[:, 2])
    np.testing.assert_allclose(losses, expected, atol=1e-13)
    assert np.abs(losses).max() == pytest.approx(0.4, rel=1e-14)
    assert FIRST.guarantee() == PureDP(0.4)
    assert FIRST.law(SHARED, MORE) == LaplaceLaw(0.4)
    assert not PureDP(np.abs(losses).max()).implies(PureDP(0.2))  # a quarter would be a lie


def test_the_other_party_views_the_first():
    second = TwoPartyCount(ILL, 0.8, viewer=2)
    other = SHARED.replace((1, "ill"), (1, "well"))
    pair = second.pair(SHARED, other, REPLACE_ONE)
    view = pair.sample(0, np.random.default_rng(0))
    assert view[0] == 7
    assert pair.loss(np.array([7.0, 99.0, 0.0])) == pytest.approx(0.4, rel=1e-14)


def test_the_viewers_own_records_are_no_secret_from_it():
    with pytest.raises(Breach, match="party 1, the viewer"):
        FIRST.pair(SHARED, SHARED.add((1, "ill")))
    with pytest.raises(Breach, match="party 1, the viewer"):
        FIRST.pair(SHARED, SHARED.replace((2, "ill"), (1, "ill")), REPLACE_ONE)


def test_sampling_one_database_and_replaying():
    view = FIRST.sample(SHARED, np.random.default_rng(4))
    assert view.shape == (3,)
    direct = FIRST.log_likelihood_ratio(view, SHARED, MORE)
    assert direct == FIRST.pair(SHARED, MORE).loss(view)


def test_input():
    for epsilon, viewer in [(0.0, 1), (np.nan, 1), (1.0, 3), (1.0, None)]:
        with pytest.raises(InvalidInput):
            TwoPartyCount(ILL, epsilon, viewer)
    with pytest.raises(InvalidInput, match="belongs to party"):
        FIRST.pair(SHARED.add((3, "ill")), SHARED)
