"""Events as JSON, see :mod:`simulator.theory.stored`."""

from __future__ import annotations

from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import Added
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
from simulator.theory.events.sampling import (
    SampledWithReplacementEvent,
    Sampling,
    SubsampledEvent,
)
from simulator.theory.events.selection import SelectedEvent
from simulator.theory.events.sums import SampledSumEvent
from simulator.theory.events.tree import ComposedEvent, EventTree, RepeatedEvent
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.stored import JsonNode, Vocabulary


def _guarantee(node: JsonNode) -> Guarantee:
    text = node.text()
    try:
        return parse_guarantee(text)
    except InvalidInput as error:
        node.complain(str(error))


_CLASSES: tuple[type[EventTree], ...] = (
    ComposedEvent,
    RepeatedEvent,
    SubsampledEvent,
    SampledWithReplacementEvent,
    SampledSumEvent,
    SelectedEvent,
    GaussianEvent,
    LaplaceEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    StaircaseEvent,
    GaussianMixtureEvent,
    RandomizedResponseEvent,
    DiscreteEvent,
    PromiseEvent,
    AboveThresholdEvent,
    TreeAggregationEvent,
    NothingEvent,
)

EVENTS = Vocabulary(
    EventTree,
    Added("events", {each.kind: each for each in _CLASSES}),
    readers={Guarantee: _guarantee, Sampling: JsonNode.text},
)
"""Every event by its kind, such as ``{"kind": "gaussian", "sigma": 1.0}``."""
