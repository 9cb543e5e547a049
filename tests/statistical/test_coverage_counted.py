"""Intervals from summaries against exact answers; each test's false alarm is 1e-6.

Of every sample the interval of the very losses is asked beside it: counting may widen an interval
and never shorten it, whatever it covers.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from simulator import PureDP, simulate
from simulator.adversaries.registry import make
from simulator.analysis import Guarded
from simulator.analysis.estimation import (
    delta,
    delta_log_bound,
    tail,
    tail_log_bound,
    weighted_delta,
    weighted_tail,
)
from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.engine.sampling import Steered, Tilted
from tests.helpers.counting import counted, counted_weights, parts_of
from tests.helpers.interval_coverage import assert_covers

CONFIDENCE = 0.9
RATE = 1.0 - CONFIDENCE
SAMPLES, TRIALS, HEAD = 200, 1200, 150


def ends(estimate):
    return estimate.lower, estimate.upper


def require_contains(wide, exact):
    """Fail where counting has shortened an interval, or widened it by more than it says."""
    slack = 1e-6 * exact.value + 1e-12  # bets that bins choose differ in their last digits
    assert wide.lower <= exact.lower + slack
    assert wide.upper >= exact.upper - slack
    assert exact.lower <= wide.lower + wide.widened + slack
    assert exact.upper >= wide.upper - wide.widened - slack


# --- plain samples ------------------------------------------------------------------------------

STAKE, TOSSES = 0.1, 30
TRUTHFUL = 1.0 / (1.0 + math.exp(-STAKE))
LATTICE = (2 * np.arange(TOSSES + 1) - TOSSES) * STAKE
ON_LATTICE = binom.pmf(np.arange(TOSSES + 1), TOSSES, TRUTHFUL)
LEAK = 0.02
PAIR = (0.12341, 0.12349)
"""Two losses that share a bin, which ends at 0.1234 and at 0.1235."""


def responses(rng):
    """Losses of randomized responses as a play adds them up, in the order of the rounds."""
    signs = np.where(rng.random((TRIALS, TOSSES)) < TRUTHFUL, STAKE, -STAKE)
    return np.add.accumulate(signs, axis=1)[:, -1]


def of_atoms(atoms, mass, of, at):
    """A tail or a hockey-stick divergence as a finite sum; an atom at ``at`` is not above it."""
    above = atoms > at + 1e-9
    values = np.ones(above.sum()) if of is tail else -np.expm1(at - atoms[above])
    return float((np.asarray(mass)[above] * values).sum())


def of_normal(of, at):
    """The same of N(1/2, 1), the loss of a Gaussian mechanism."""
    above = float(norm.sf(at - 0.5))
    return above if of is tail else above - math.exp(at) * float(norm.sf(at + 0.5))


def normal(rng):
    return rng.normal(0.5, 1.0, TRIALS)


def leaky(rng):
    losses = normal(rng)
    return np.where(rng.random(TRIALS) < LEAK, np.inf, losses)


PLAIN = {
    "at an atom": (responses, 0.2, lambda of: of_atoms(LATTICE, ON_LATTICE, of, 0.2)),
    "below an atom": (responses, 0.1999, lambda of: of_atoms(LATTICE, ON_LATTICE, of, 0.1999)),
    "between atoms": (responses, 0.51237, lambda of: of_atoms(LATTICE, ON_LATTICE, of, 0.51237)),
    "between two losses of a bin": (
        lambda rng: rng.choice(PAIR, TRIALS, p=(0.7, 0.3)),
        0.12345,
        lambda of: of_atoms(np.array(PAIR), (0.7, 0.3), of, 0.12345),
    ),
    "at a bin's end": (normal, 1.234, lambda of: of_normal(of, 1.234)),
    "inside of a bin": (normal, 1.23456, lambda of: of_normal(of, 1.23456)),
    "infinite losses": (leaky, 1.5, lambda of: LEAK + (1.0 - LEAK) * of_normal(of, 1.5)),
    "infinite losses, and no other hit": (leaky, 40.0, lambda _: LEAK),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("of", [tail, delta])
@pytest.mark.parametrize("case", PLAIN)
def test_counted_losses_cover(case, of):
    draw, at, truth = PLAIN[case]

    def interval(rng):
        losses = draw(rng)
        wide = of(counted(losses, HEAD), at, 0, CONFIDENCE)
        require_contains(wide, of(LossSample.of(losses, HEAD), at, 0, CONFIDENCE))
        return ends(wide)

    assert_covers(interval, truth(of), RATE, repetitions=SAMPLES)


def test_losses_of_minus_infinity_are_no_hits_and_those_of_the_other_experiment_are():
    truth = LEAK + (1.0 - LEAK) * of_normal(tail, 1.5)

    def interval(rng):
        wide = tail(counted(-leaky(rng), HEAD), 1.5, 1, CONFIDENCE)
        assert tail(counted(-leaky(rng), HEAD), 30.0, 0, CONFIDENCE).hits == 0
        return ends(wide)

    assert_covers(interval, truth, RATE, repetitions=SAMPLES)


def inward(losses):
    """Broken on purpose: the losses of a bin at their mean, as if nothing else was known."""
    parts = [LossBins.of(losses[a:b]) for a, b in parts_of(losses.size, HEAD)]
    centres = [np.mean(part.means(), axis=0) for part in parts]
    parts = [replace(part, least=at, largest=at) for part, at in zip(parts, centres)]
    return LossSample.counted(losses[:HEAD], parts)


def test_bins_that_round_inward_are_caught():
    draw, at, truth = PLAIN["between two losses of a bin"]
    with pytest.raises(AssertionError, match="intervals miss"):
        assert_covers(
            lambda rng: ends(tail(inward(draw(rng)), at, 0, CONFIDENCE)), truth(tail), RATE,
            repetitions=SAMPLES,
        )  # fmt: skip


# --- weighted samples ---------------------------------------------------------------------------

ROUNDS, FAMILY = 20, PureDP(0.5)
WORST = make("fixed-worst-case", FAMILY, ROUNDS)
LOSSES = (2 * np.arange(ROUNDS + 1) - ROUNDS) * 0.5
MASS = binom.pmf(np.arange(ROUNDS + 1), ROUNDS, 1.0 / (1.0 + math.exp(-0.5)))
STEERED = Steered(np.array([0.3, 1.5]), np.array([[1, 0], [1, 0]]), (-4.0, 8.0))
MEASURES = {"tilted": Tilted(1.0), "steered": STEERED, "guarded": Guarded(STEERED, 0.5, 0.3)}
ATOM = 5.0


@pytest.fixture(scope="module", params=MEASURES)
def weighted(request):
    """As many plays under a measure as there are samples, of TRIALS trials each."""
    played = simulate(
        WORST, FAMILY, ROUNDS, SAMPLES * TRIALS, seed=8, sampling=MEASURES[request.param],
        experiments=(0,), jobs=1, keep="losses",
    )  # fmt: skip
    columns = played.losses(0), played.log_weights[0]
    return played, [each.reshape(SAMPLES, TRIALS) for each in columns]


@pytest.mark.nightly
@pytest.mark.parametrize("at", [ATOM, ATOM - 0.0004, ATOM + 0.31234], ids=["at", "below", "beside"])
@pytest.mark.parametrize("question", ["tail", "delta"])
def test_counted_weights_cover(weighted, question, at):
    """At an atom, a bin's width below it, and between two: valid ends."""
    played, (losses, log_w) = weighted
    of, bound = {
        "tail": (weighted_tail, tail_log_bound), "delta": (weighted_delta, delta_log_bound)
    }[question]  # fmt: skip
    truth = of_atoms(LOSSES, MASS, tail if question == "tail" else delta, at)
    asked = {"confidence": CONFIDENCE, "log_bound": played.log_bound(bound, 0, at)}
    if question == "tail":
        asked["rounds"] = ROUNDS
    found = []
    for values, weights in zip(losses, log_w):
        wide = of(counted_weights(values, weights, HEAD), None, at, **asked)
        every = WeightedSample.of(LossSample.of(values, HEAD), weights)
        require_contains(wide, of(every, None, at, **asked))
        found.append(wide)
    sample = iter(found)
    assert_covers(lambda _: ends(next(sample)), truth, RATE, repetitions=SAMPLES)
    # weights of a steered play depend on its path: those of one atom share cells
    assert played.specification.sampling == MEASURES["tilted"] or any(e.widened for e in found)
    assert all(0.2 * truth < each.lower for each in found)  # else nothing was tried
    assert all(each.no_value or each.upper < 5.0 * truth for each in found)


TILT = 2.0


def tilted_normal(rng, trials=TRIALS):
    """N(1/2, 1) drawn as N(1/2 + TILT, 1), and ln of the weights."""
    losses = rng.normal(0.5 + TILT, 1.0, trials)
    return losses, TILT * (1.0 + TILT) / 2.0 - TILT * losses


def tilted_leak(rng):
    """The same with infinite losses, whose share is LEAK and which three trials in ten have."""
    losses, log_w = tilted_normal(rng)
    leaks = rng.random(TRIALS) < 0.3
    return (
        np.where(leaks, np.inf, losses),
        np.where(leaks, math.log(LEAK / 0.3), log_w + math.log((1.0 - LEAK) / 0.7)),
    )


def two_of_a_bin(rng):
    """PAIR, the second one time in ten; the two log-weights share a bin of theirs as well."""
    second = rng.random(TRIALS) < 0.1
    return np.where(second, PAIR[1], PAIR[0]), np.where(second, 1e-4, 2e-4)


CONTINUOUS = {
    "at a bin's end": (tilted_normal, 3.217, lambda of: of_normal(of, 3.217)),
    "inside of a bin": (tilted_normal, 3.21749, lambda of: of_normal(of, 3.21749)),
    "infinite losses": (tilted_leak, 2.5, lambda of: LEAK + (1.0 - LEAK) * of_normal(of, 2.5)),
    "between two losses of a bin": (
        two_of_a_bin,
        0.12345,
        lambda of: 0.1 * math.exp(1e-4) * (1.0 if of is tail else -math.expm1(0.12345 - PAIR[1])),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize(("of", "plain"), [(weighted_tail, tail), (weighted_delta, delta)])
@pytest.mark.parametrize("case", CONTINUOUS)
def test_counted_weights_of_other_laws_cover(case, of, plain):
    """Below by betting; the ceiling is the truth itself, so all misses are the lower end's."""
    draw, at, exact = CONTINUOUS[case]
    truth = exact(plain)
    asked = {"confidence": CONFIDENCE, "ceiling": truth}

    def interval(rng):
        losses, log_w = draw(rng)
        wide = of(counted_weights(losses, log_w, HEAD), None, at, **asked)
        every = WeightedSample.of(LossSample.of(losses, HEAD), log_w)
        require_contains(wide, of(every, None, at, **asked))
        return wide.lower, 1.0

    assert_covers(interval, truth, RATE / 2.0, repetitions=SAMPLES)


@pytest.mark.nightly
def test_counting_the_atom_as_above_is_caught(weighted):
    _, (losses, log_w) = weighted
    truth = of_atoms(LOSSES, MASS, tail, ATOM)
    rows = iter(zip(losses, log_w))

    def interval(_):
        counts = counted_weights(*next(rows), HEAD)
        return ends(weighted_tail(counts, None, ATOM - 0.2, confidence=CONFIDENCE))

    with pytest.raises(AssertionError, match="intervals miss"):
        assert_covers(interval, truth, RATE, repetitions=SAMPLES)


@pytest.mark.sampled(n=1)
def test_a_run_counts_as_these_samples_are_counted(weighted):
    """The link between the samples above and ``keep="summary"``: the same ends, to the bit."""
    played, _ = weighted
    s = played.specification
    asked = {"seed": 3, "block_size": HEAD, "sampling": s.sampling, "experiments": (0,), "jobs": 1}
    runs = [
        simulate(WORST, FAMILY, ROUNDS, TRIALS, keep=keep, **asked)
        for keep in ("summary", "losses")
    ]
    summary, every = runs
    counts = counted_weights(every.losses(0), every.log_weights[0], HEAD)
    for name in ("least", "largest", "low_means", "high_means"):
        assert getattr(summary.weights[0], name).tobytes() == getattr(counts, name).tobytes()
    assert summary.tail(ATOM).lower <= every.tail(ATOM).lower * (1 + 1e-6)
