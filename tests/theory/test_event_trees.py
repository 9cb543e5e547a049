"""Event trees: what each node comes down to, and witnesses of the theorems behind the nodes."""

import math
import pickle

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom, norm

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms.above_threshold import first_above_law
from simulator.theory import (
    ApproxDP,
    BoundedRange,
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PureDP,
    RenyiDP,
    SampledWithoutReplacementLaw,
    bound,
    compose_laws,
    events,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account, Unit
from simulator.theory.guarantees.run_counts import NegativeBinomialRuns, gamma_of_mean
from simulator.theory.laws.gaussian_curve import gaussian_epsilon

TRAINING = events.self_compose(events.subsampled(events.gaussian(1.0), 0.01), 1000)


def only(event, relation="add-remove"):
    (part,) = event.resolved(Unit(relation))
    return part


# --- what a tree comes down to ------------------------------------------------------------------


def test_a_tree_comes_down_to_its_rounds():
    tree = events.compose(
        TRAINING,
        events.self_compose(events.compose(events.laplace(10.0), TRAINING), 3),
        events.nothing(),
    )
    parts = Account(tree).rounds
    assert [part.count for part in parts] == [1000, 3, 3000, 1]
    law = PoissonSubsampledLaw(GaussianLaw(1.0), 0.01)
    assert [part.law for part in parts[:3]] == [law, LaplaceLaw(0.1), law]
    assert parts[2].where == "event.events[1].event.events[1].event (subsampled)"
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(pickle.loads(pickle.dumps(tree))) == hash(tree)


def test_a_composition_has_the_answer_of_its_laws_in_the_worse_direction():
    account = Account(events.compose(TRAINING, events.laplace(10.0)))
    rounds = [(PoissonSubsampledLaw(GaussianLaw(1.0), 0.01), 1000), (LaplaceLaw(0.1), 1)]
    one = compose_laws(rounds, 1e-4)
    sides = [pld.epsilon(1e-6) for pld in (one, one.reversed())]
    assert account.epsilon(1e-6, 1e-4) == max(sides, key=lambda side: side.upper)
    assert sides[0].upper < sides[1].lower  # so that a forgotten direction would be seen
    assert account.delta(2.0, 1e-3).upper == max(
        pld.delta(2.0).upper for pld in account.directions(1e-3)
    )


def test_different_gaussians_have_the_closed_answer():
    tree = events.compose(
        events.self_compose(events.gaussian(5.0), 3), events.gaussian(3.0, sensitivity=2.0)
    )
    exact = gaussian_epsilon(math.sqrt(3 / 25 + 4 / 9), 1e-6)
    found = Account(tree).epsilon(1e-6, 1e-8)
    assert found.lower <= exact * (1 + 1e-9)
    assert found.upper >= exact * (1 - 1e-9)
    assert found.width < 1e-6


def test_quotients_are_rounded_to_less_privacy():
    assert events.gaussian(3.0).mu > 1 / 3
    assert events.gaussian(3.0).mu == math.nextafter(1 / 3, 1)
    assert events.gaussian(0.5).mu == 2.0
    assert events.laplace(0.7, sensitivity=0.7).epsilon == 1.0


def test_promises_compose_as_the_worst_of_their_family():
    tree = events.self_compose(events.promise(ApproxDP(0.1, 1e-9)), 100)
    account = Account(tree)
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(ApproxDP(0.1, 1e-9), 100))
    assert account.epsilon(1e-6).upper == pytest.approx(exact.epsilon(1e-6).value, rel=1e-6)
    assert account.exact
    assert events.promise("pure:0.1") == events.promise(PureDP(0.1))
    kinds = {row.name: row.kind for row in account.compare(delta=1e-6)}
    assert kinds["kairouz-oh-viswanath-3.3"] == "exact"
    assert kinds["privacy-loss-distribution"] == "exact"


def test_a_promise_without_a_law_leaves_the_bounds():
    account = Account(events.compose(TRAINING, events.promise("renyi:2.0,0.01,16.0,0.1")))
    rows = {row.name: row for row in account.compare(delta=1e-6)}
    assert account.epsilon(1e-6) == Bracket(0.0, min(row.answer.upper for row in rows.values()))
    assert Account().then("zcdp:0.1").delta(2.0).upper <= math.exp(-(1.9**2) / 0.4)
    with pytest.raises(
        NotApplicable, match=r"event.events\[1\] \(promise\): no law is known, only"
    ):
        account.directions()
    assert "privacy-loss-distribution" not in rows
    assert rows["rdp-canonne-kamath-steinke"].answer.upper < 10
    with pytest.raises(NotApplicable, match="no law is known"):
        account.compare(delta=1e-6, names=["privacy-loss-distribution"])


def test_a_bounded_range_is_composed_below_a_gaussian_as_an_upper_end():
    account = Account(events.self_compose(events.promise(BoundedRange(0.2)), 50))
    rows = {row.name: row for row in account.compare(delta=1e-6)}
    composed = rows["privacy-loss-distribution"]
    assert (composed.kind, composed.answer.lower) == ("upper", 0.0)
    assert composed.answer.upper >= rows["bounded-range-adaptive"].answer.lower


@pytest.mark.nightly
def test_the_bounds_are_asked_on_renyi_curves_where_these_are_better():
    quick = ["privacy-loss-distribution", "one-direction", "dominating-both-directions", "gdp"]
    quick += ["rdp-canonne-kamath-steinke", "rdp-mironov", "zcdp-canonne-kamath-steinke"]
    rows = {row.name: row for row in Account(TRAINING).compare(delta=1e-6, names=quick)}
    truth = rows["privacy-loss-distribution"]
    assert truth.kind == "fixed-pair"
    moments = rows["rdp-canonne-kamath-steinke"].answer.upper
    assert truth.answer.upper < moments < 1.3 * truth.answer.upper
    for row in rows.values():
        assert row.kind == "upper" or row.name in ("one-direction", truth.name)
        assert row.answer.upper >= truth.answer.lower
        assert row.answer.lower <= truth.answer.upper


def test_what_loses_nothing_has_epsilon_zero():
    free = [
        events.nothing(),
        events.subsampled(events.laplace(0.1), 0.0),
        events.promise(PureDP(0.0)),
    ]
    account = Account(events.compose(*free))
    assert account.epsilon(1e-300).upper == 0.0
    rows = account.compare(delta=1e-6, names=["privacy-loss-distribution", "basic"])
    assert [row.answer.upper for row in rows] == [0.0, 0.0]


# --- sampling -----------------------------------------------------------------------------------


def test_sampling_under_the_relation_that_has_the_theorem():
    poisson = events.subsampled(events.laplace(1.0), 0.2)
    fixed = events.subsampled(events.laplace(1.0), 0.2, "without_replacement")
    assert only(poisson).law == PoissonSubsampledLaw(LaplaceLaw(1.0), 0.2)
    assert only(poisson).exact
    assert only(fixed, "replace-one").law == SampledWithoutReplacementLaw(LaplaceLaw(1.0), 0.2)
    assert not only(fixed, "replace-one").exact
    assert only(poisson).guarantees[0].epsilon == pytest.approx(math.log1p(0.2 * math.expm1(1.0)))
    with pytest.raises(NotApplicable, match=r"^event \(subsampled\): poisson sampling has a theorem"
                       " under add-remove and replace-special only, not under "):  # fmt: skip
        only(poisson, "replace-one")
    with pytest.raises(NotApplicable, match=r"without_replacement .* under replace-one only"):
        Account(events.compose(TRAINING, fixed)).epsilon(1e-6)


def test_a_whole_sample_is_no_sample_under_either_relation():
    whole = events.subsampled(TRAINING.event.event, 1.0)
    for relation in ("add-remove", "replace-one"):
        assert only(whole, relation).law == GaussianLaw(1.0)


def test_a_sample_of_a_sample_is_one():
    twice = only(events.subsampled(events.subsampled(events.laplace(1.0), 0.5), 0.25))
    once = only(events.subsampled(events.laplace(1.0), 0.125))
    assert twice.law.rate == pytest.approx(once.law.rate, rel=1e-15)
    assert twice.law.rate >= once.law.rate
    assert twice.law.base == once.law.base


def test_gaussians_on_one_sample_are_one_gaussian():
    inner = events.compose(
        events.self_compose(events.gaussian(2.0), 3), events.gaussian(4.0), events.nothing()
    )
    law = only(events.subsampled(inner, 0.1)).law
    assert law.base.mu == pytest.approx(math.sqrt(3 / 4 + 1 / 16), rel=1e-12)
    assert law.base.mu**2 >= 3 / 4 + 1 / 16
    other = events.subsampled(events.compose(events.gaussian(2.0), events.laplace(1.0)), 0.1)
    with pytest.raises(
        NotApplicable, match=r"event.event \(compose\): a composition on one sample"
    ):
        only(other)


# --- mechanisms with a theorem of their own -----------------------------------------------------


@pytest.mark.parametrize("steps", [*range(1, 20), 31, 32, 33, 100])
@pytest.mark.parametrize("padded", [False, True])
def test_the_height_of_a_tree_is_how_many_nodes_a_leaf_has_above_it(steps, padded):
    size = 1 << (steps - 1).bit_length()
    touched = [0] * steps
    width = 1
    while width <= size:
        for start in range(0, size, width):
            complete = start + width <= steps
            if complete or (padded and start < steps):
                for leaf in range(start, min(start + width, steps)):
                    touched[leaf] += 1
        width *= 2
    event = events.tree_aggregation(1.0, steps, padded=padded)
    assert event.height == max(touched)
    mu = only(event).law.mu
    assert mu == pytest.approx(math.sqrt(max(touched)), rel=1e-15)
    assert mu**2 >= max(touched) * (1 - 1e-16)


def test_several_trees_cost_what_the_tallest_does():
    assert events.tree_aggregation(1.0, (3, 10, 7)).height == 4
    assert only(events.tree_aggregation(2.0, 1)).law == only(events.gaussian(2.0)).law


def test_above_threshold_keeps_what_its_event_promises_and_no_tenth_less():
    """The sparse vector's exact probabilities on many pairs; b = 2/epsilon, b' = 4/epsilon."""
    epsilon = 1.3
    event = events.above_threshold(2 / epsilon, 4 / epsilon)
    assert event.epsilon == pytest.approx(epsilon, rel=1e-12)
    worst = 0.0
    for start in (-20.0, -8.0, -4.0, 0.0, 3.0):
        here = (*(start,) * 25, start)
        there = (*(start + epsilon / 2,) * 25, start - epsilon / 2)
        laws = [np.log(first_above_law(margins)) for margins in (here, there)]
        worst = max(worst, float(np.abs(laws[0] - laws[1]).max()))
    assert worst <= event.epsilon
    assert worst > 0.9 * event.epsilon
    monotonic = events.above_threshold(2 / epsilon, 4 / epsilon, monotonic=True)
    assert worst > monotonic.epsilon  # these queries moved both ways
    assert events.above_threshold(10.0, 20.0, positives=5).epsilon == pytest.approx(0.6)
    part = only(event)
    assert not part.exact
    assert part.guarantees == (PureDP(event.epsilon),)


def test_response_among_buckets_is_its_definition():
    epsilon, buckets = 1.2, 5
    weights = np.ones(buckets)
    p0, p1 = weights.copy(), weights.copy()
    p0[0] = p1[1] = math.exp(epsilon)
    exact = FiniteLaw.from_probabilities(p0 / p0.sum(), p1 / p1.sum())
    law = only(events.randomized_response(epsilon, buckets)).law
    for e in (-0.5, 0.0, 0.4, 1.1, 1.3):
        assert law.delta(e) == pytest.approx(exact.delta(e), rel=1e-12, abs=1e-300)
    assert law.delta(0.4) < 0.9 * only(events.randomized_response(epsilon)).law.delta(0.4)


def test_a_mechanism_by_its_probabilities():
    event = events.discrete((0.5, 0.3, 0.2, 0.0), (0.25, 0.4, 0.25, 0.1))
    part = only(event)
    assert part.guarantees[0].delta == pytest.approx(0.1)
    assert part.guarantees[0].epsilon == pytest.approx(math.log(2))
    assert Account(event).delta(0.0).upper == pytest.approx(0.25, rel=1e-9)
    with pytest.raises(InvalidInput, match="p1 must be non-negative and sum to 1"):
        events.discrete((0.5, 0.5), (0.5, 0.4))


# --- private selection --------------------------------------------------------------------------

RUN = FiniteLaw.from_probabilities((0.3, 0.7), (0.45, 0.55))
RUN_EVENT = events.discrete((0.3, 0.7), (0.45, 0.55))


def best_of(p, mean, shape):
    """Probabilities of (best run 1, best run 0, no run) where a run is 1 with probability p."""
    if math.isinf(shape):
        none, all_low = math.exp(-mean), math.exp(-mean * p)
    else:
        from simulator.theory.guarantees.run_counts import gamma_of_mean

        gamma, low = gamma_of_mean(mean, shape), 1.0 - p
        none = 0.0
        if shape == 0.0:
            all_low = math.log(1 - (1 - gamma) * low) / math.log(gamma)
        else:
            all_low = ((1 - (1 - gamma) * low) ** -shape - 1) / (gamma**-shape - 1)
    return 1 - all_low, all_low - none, none


@pytest.mark.parametrize("shape", [1.0, 0.0, 0.5, -0.5, 3.0, math.inf])
def test_the_best_of_many_runs_keeps_what_is_promised(shape):
    """The exact law of the best answer, from the generating function of the number of runs."""
    promised = only(events.select(RUN_EVENT, 8.0, shape))
    assert promised.law is None or not promised.exact
    curve = promised.guarantees[-1]
    assert isinstance(curve, RenyiDP)
    pairs = [np.array(best_of(p, 8.0, shape)) for p in (0.3, 0.45)]
    losses = []
    for one, other in (pairs, pairs[::-1]):
        kept = one > 0
        loss = np.log(one[kept] / other[kept])
        losses.append(float(loss.max()))
        for order, value in curve.curve:
            exact = logsumexp(np.log(one[kept]) + (order - 1) * loss) / (order - 1)
            assert exact <= value
    run = RUN.support[1] if RUN.support[1] > -RUN.support[0] else -RUN.support[0]
    assert max(losses) <= promised.guarantees[0].epsilon
    assert promised.guarantees[0].epsilon < (2 + shape) * run
    assert max(losses) > run or shape <= 0  # selection is not free


def test_one_run_is_the_event_itself():
    for shape in (1.0, 0.0, 1e-320):  # of the last no other mean is within floats
        assert only(events.select(RUN_EVENT, 1.0, shape)).law == only(RUN_EVENT).law
    assert only(events.select(events.nothing(), 5.0)).guarantees == (PureDP(0.0),)


@pytest.mark.parametrize("shape", [1.0, 0.0, -0.5, 3.0, math.inf])
@pytest.mark.parametrize("mean", [1.5, 8.0])
def test_the_pure_epsilon_of_a_selection_is_attained(shape, mean):
    """Scores of three answers in this order: the middle one is rare, and its loss is epsilon.

    The chance of the best answer is the generating function over its cell, written out.
    """
    epsilon = 0.7
    with mpmath.workdps(50):
        e, rare = mpmath.exp(epsilon), mpmath.mpf("1e-12")
        high, low = e / (1 + e), 1 / (1 + e)

        def generating(x):
            if math.isinf(shape):
                return mpmath.exp(mean * (x - 1))
            gamma = mpmath.mpf(gamma_of_mean(mean, shape))
            rest = 1 - (1 - gamma) * x
            return -mpmath.log(rest) if shape == 0 else mpmath.sign(shape) * rest ** (-shape)

        won = generating(high - rare + e * rare) - generating(high - rare)
        lost = generating(low + rare) - generating(low)
        attained = float(mpmath.log(won / lost))
    granted = only(events.select(events.promise(PureDP(epsilon)), mean, shape)).guarantees[0]
    assert attained <= granted.epsilon
    assert granted.epsilon == pytest.approx(attained, rel=1e-8)


def test_a_selection_of_approximate_runs_keeps_what_the_best_of_them_does():
    run, mean = ApproxDP(0.1, 1e-6), 5.0
    twice = events.self_compose(events.promise(run), 2)
    found = only(events.select(twice, mean)).guarantees[0]
    growth = NegativeBinomialRuns.of_mean(mean).growth(0.2, 2e-6)
    assert found.epsilon == pytest.approx(0.2 + growth, rel=1e-8)
    assert found.delta == pytest.approx(mean * 2e-6, rel=1e-8)
    # revealed by any run that reveals it: at least 1 - (1 - delta)^runs in the mean
    assert found.delta > 1 - (1 - 2e-6) ** mean


def test_selection_of_what_has_no_theorem_is_refused():
    leaking = events.select(events.promise(ApproxDP(0.1, 0.3)), 5.0)
    with pytest.raises(NotApplicable, match=r"\(select\): its runs keep neither pure, approximate"):
        only(leaking)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: events.gaussian(0.0), "sigma must be a positive number"),
        (lambda: events.gaussian(1e-320, 1e100), "sensitivity / sigma must be finite"),
        (lambda: events.laplace(-1.0), "scale must be a positive number"),
        (lambda: events.subsampled(events.gaussian(1.0), 1.5), r"rate must be in \[0, 1\]"),
        (lambda: events.subsampled(events.gaussian(1.0), math.nan), "rate must be finite"),
        (lambda: events.subsampled(events.gaussian(1.0), 0.1, "bootstrap"), "sampling must be"),
        (lambda: events.subsampled(GaussianLaw(1.0), 0.1), "an event of simulator.theory.events"),
        (lambda: events.compose(), "compose needs at least one event"),
        (lambda: events.compose("gaussian"), "an event of simulator.theory.events was expected"),
        (lambda: events.self_compose(events.gaussian(1.0), 0), "count must be at least 1"),
        (lambda: events.self_compose(events.gaussian(1.0), 2**60), r"at most 2\*\*53"),
        (lambda: events.select(events.gaussian(1.0), 0.5), "mean number of runs must be at least"),
        (lambda: events.select(events.gaussian(1.0), 2.0, -1.0), "shape must be above -1"),
        (lambda: events.tree_aggregation(1.0, ()), "at least one tree"),
        (lambda: events.promise("pure:-1"), "epsilon must be a number"),
        (lambda: events.promise(0.1), "must be a guarantee such as"),
        (lambda: events.discrete_gaussian(1.0, 0), "sensitivity must be whole"),
        (lambda: events.gaussian_mixture(1.0, (0.0, 1.0), (0.5, 0.4)), "weights must sum to 1"),
        (lambda: Account(events.gaussian(1.0), "swap-two"), "relation must be add-remove or"),
        (lambda: events.discrete((1.0, 0.0), (0.0, 1.0)), "no answer in common"),
        (lambda: Account(GaussianLaw(1.0)), "an event of simulator.theory.events was expected"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(make, complaint):
    with pytest.raises(InvalidInput, match=complaint) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "event",
    [
        events.gaussian(1e-5),
        events.promise(PureDP(2e4)),
        events.randomized_response(1e90, 10**18),
        events.gaussian_mixture(1.0, (0.0, 1e50), (0.5, 0.5)),
    ],
    ids=lambda event: event.kind,
)
def test_what_is_no_privacy_is_refused_when_it_is_asked(event):
    with pytest.raises(InvalidInput, match=rf"event.event \({event.kind}\): its .* above 10000"):
        Account(events.self_compose(event, 3)).epsilon(1e-6)


def wide(rounds):
    """Half of the rounds have a loss of 5000, give or take 100."""
    return Account(events.self_compose(events.subsampled(events.gaussian(0.01), 0.5), rounds))


@pytest.mark.nightly
def test_a_wide_loss_is_bounded_by_its_moments():
    sampled = np.arange(1, 101)
    spread = norm.sf((366_000 - (5000 + math.log(0.5)) * sampled) / (100 * np.sqrt(sampled)))
    delta = binom.pmf(sampled, 100, 0.5) @ spread  # and e^-100 of it comes back
    (row,) = wide(100).compare(delta=delta, names=["dominating-both-directions"])
    assert 366_000 - 100 <= row.answer.upper <= 1.01 * 366_000


@pytest.mark.nightly
def test_a_loss_beyond_the_engines_leaves_the_other_bounds():
    account = wide(10**6)
    with pytest.raises(NotApplicable, match="no finite epsilon is certified"):
        account.compare(delta=1e-6, names=["dominating-both-directions"])
    names = ["rdp-mironov", "zcdp-bun-steinke"]
    assert len(account.compare(delta=1e-6, names=names)) == 2


def test_too_many_rounds_are_refused_where_they_multiply():
    many = events.self_compose(events.self_compose(events.gaussian(1.0), 2**40), 2**40)
    with pytest.raises(InvalidInput, match="event: the counts multiply to more than"):
        Account(many).rounds  # noqa: B018
