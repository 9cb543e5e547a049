"""Compositions as trees of events, with their laws, guarantees and certified epsilons.

``Account(compose(self_compose(subsampled(gaussian(1.0), 0.01), 1000), laplace(10.0)))`` has
certified ends. The lower-case names make the nodes; the classes are their types.
"""

from simulator.foundations.attached import furnish
from simulator.theory.events.accounting import Account
from simulator.theory.events.foreign import from_dp_accounting, from_opacus, read_account
from simulator.theory.events.leaves import (
    AboveThresholdEvent,
    DiscreteEvent,
    GaussianEvent,
    LaplaceEvent,
    NothingEvent,
    PromiseEvent,
    RandomizedResponseEvent,
    TreeAggregationEvent,
)
from simulator.theory.events.noise_leaves import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    GaussianMixtureEvent,
    StaircaseEvent,
)
from simulator.theory.events.sampling import SampledWithReplacementEvent, SubsampledEvent
from simulator.theory.events.selection import SelectedEvent
from simulator.theory.events.sums import SampledSumEvent
from simulator.theory.events.tree import (
    ComposedEvent,
    EventRounds,
    EventTree,
    RepeatedEvent,
    compose,
)
from simulator.theory.events.units import Unit

above_threshold = AboveThresholdEvent
discrete = DiscreteEvent
discrete_gaussian = DiscreteGaussianEvent
discrete_laplace = DiscreteLaplaceEvent
gaussian = GaussianEvent
gaussian_mixture = GaussianMixtureEvent
laplace = LaplaceEvent
nothing = NothingEvent
promise = PromiseEvent
randomized_response = RandomizedResponseEvent
sampled_sum = SampledSumEvent
sampled_with_replacement = SampledWithReplacementEvent
select = SelectedEvent
self_compose = RepeatedEvent
staircase = StaircaseEvent
subsampled = SubsampledEvent
tree_aggregation = TreeAggregationEvent

__all__ = [
    "AboveThresholdEvent",
    "Account",
    "ComposedEvent",
    "DiscreteEvent",
    "DiscreteGaussianEvent",
    "DiscreteLaplaceEvent",
    "EventRounds",
    "EventTree",
    "GaussianEvent",
    "GaussianMixtureEvent",
    "LaplaceEvent",
    "NothingEvent",
    "PromiseEvent",
    "RandomizedResponseEvent",
    "RepeatedEvent",
    "SampledSumEvent",
    "SampledWithReplacementEvent",
    "SelectedEvent",
    "StaircaseEvent",
    "SubsampledEvent",
    "TreeAggregationEvent",
    "Unit",
    "above_threshold",
    "compose",
    "discrete",
    "discrete_gaussian",
    "discrete_laplace",
    "from_dp_accounting",
    "from_opacus",
    "gaussian",
    "gaussian_mixture",
    "laplace",
    "nothing",
    "promise",
    "randomized_response",
    "read_account",
    "sampled_sum",
    "sampled_with_replacement",
    "select",
    "self_compose",
    "staircase",
    "subsampled",
    "tree_aggregation",
]

furnish(globals())
