"""Adaptive adversaries against other people's libraries, where they are installed.

Each audit states a false-alarm probability of 1e-6. The libraries draw from the operating system,
so no seed fixes their answers: a sound one fails these tests with that probability, and the budgets
are such that the broken uses are caught with a probability near 1.
"""

import pytest

from simulator import Database, PureDP, simulate
from simulator.auditing import audit_composition
from simulator.mechanisms import BlackBox, Handle, Interactive, Raised

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
REASON = "the library is not installed"


class UsersOwn:
    """A class of a user: it keeps a budget, and its noise is too small by a factor."""

    def __init__(self, database, rng, factor):
        self.count = database.count_of("alice")
        self.rng = rng
        self.scale = factor / 0.5
        self.left = 2

    def __call__(self, message):
        if not self.left:
            raise PermissionError("the budget is spent")
        self.left -= 1
        return int(self.count + round(self.rng.laplace(scale=self.scale)))


def users_own(factor):
    return Interactive(lambda database, rng: UsersOwn(database, rng, factor), PureDP(1.0))


def asks_until_refused(mechanism):
    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, mechanism
        while True:
            yield handle.ask("a query")

    return adversary


def trial(adversary, rounds, claimed, samples=4000):
    return audit_composition(
        adversary, PureDP(5.0), rounds, claimed=claimed, samples=samples, seed=4, jobs=1
    )


@pytest.mark.nightly
def test_a_user_s_class_that_keeps_a_budget():
    """Two Laplace counts for 0.5 each, rounded, and then refusals: 1 in all."""
    assert not trial(asks_until_refused(users_own(1.0)), 4, PureDP(1.0)).violated
    assert trial(asks_until_refused(users_own(0.4)), 4, PureDP(1.0)).violated
    refused = simulate(asks_until_refused(users_own(1.0)), PureDP(1.0), 4, 10, jobs=1)
    assert {view.answers[3] for view in refused.views} == {Raised("PermissionError")}


@pytest.fixture(scope="module")
def opendp():
    dp = pytest.importorskip("opendp.prelude", reason=REASON)
    dp.enable_features("contrib", "honest-but-curious")
    return dp


def geometric(dp, scale):
    return dp.m.make_geometric(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)


def alice(database):
    return int(database.count_of("alice"))


def test_opendp_measurements_asked_adaptively(opendp):
    def adversary_of(scales):
        made = [geometric(opendp, scale) for scale in scales]
        boxes = [
            BlackBox(lambda database, m=m: m(alice(database)), PureDP(1.0), str(i))
            for i, m in enumerate(made)
        ]

        def adversary(coins):
            answer = yield WITHOUT, EVERYONE, boxes[0]
            while True:
                answer = yield WITHOUT, EVERYONE, boxes[answer > 0]

        return adversary

    sound = trial(adversary_of((2.0, 1.0)), 3, PureDP(2.5), samples=2000)
    assert not sound.violated
    assert not sound.reproducible
    assert trial(adversary_of((2.0, 0.1)), 3, PureDP(2.5), samples=2000).violated


def test_an_opendp_composition_that_is_asked(opendp):
    """A queryable for two rounds of 0.5; the third is refused by an exception."""
    domain, metric = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)

    def opener(database):
        compose = getattr(opendp.c, "make_adaptive_composition", None)
        compose = compose or opendp.c.make_sequential_composition
        composed = compose(domain, metric, opendp.max_divergence(), 1, [0.5, 0.5])
        return composed(alice(database))

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(opener, PureDP(1.0))
        assert handle == Handle(0)
        measurement = geometric(opendp, 2.0)
        while True:
            yield handle.ask(measurement)

    view = simulate(adversary, PureDP(1.0), 4, 3, jobs=1).views[0]
    assert all(isinstance(answer, int) for answer in view.answers[1:3])
    assert view.answers[3] == Raised("OpenDPException")
    # a refusal takes OpenDP 0.3 s, so the audits stop before
    assert not trial(adversary, 3, PureDP(1.0), samples=300).violated


def test_an_opendp_filter_or_odometer_that_is_asked(opendp):
    if not hasattr(opendp.c, "make_privacy_filter"):
        pytest.skip("this OpenDP has no filters")
    domain, metric = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)

    def opener(database):
        odometer = opendp.c.make_fully_adaptive_composition(domain, metric, opendp.max_divergence())
        return opendp.c.make_privacy_filter(odometer, 1, 1.0)(alice(database))

    def adversary(coins):
        handle = yield WITHOUT, EVERYONE, Interactive(opener, PureDP(1.0))
        answer = yield handle.ask(geometric(opendp, 2.0))
        while True:
            scale = 2.0 if answer > 0 else 4.0
            answer = yield handle.ask(geometric(opendp, scale))
            answer = 0 if isinstance(answer, Raised) else answer

    assert not trial(adversary, 3, PureDP(1.0), samples=300).violated
    view = simulate(adversary, PureDP(1.0), 6, 3, jobs=1).views[0]
    assert isinstance(view.answers[1], int)
    assert isinstance(view.answers[-1], Raised)


def test_diffprivlib_s_geometric_mechanism():
    mechanisms = pytest.importorskip("diffprivlib.mechanisms", reason=REASON)

    def adversary_of(epsilon):
        noisy = mechanisms.Geometric(epsilon=epsilon, sensitivity=1)
        box = BlackBox(lambda database: noisy.randomise(alice(database)), PureDP(0.5), "noisy")

        def adversary(coins):
            while True:
                yield WITHOUT, EVERYONE, box

        return adversary

    assert not trial(adversary_of(0.5), 3, PureDP(1.5), samples=2000).violated
    assert trial(adversary_of(1.5), 3, PureDP(1.5), samples=4000).violated
