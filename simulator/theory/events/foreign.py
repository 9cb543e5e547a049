"""Events of other libraries, read without importing them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, cast

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.extensions import Added
from simulator.foundations.strangers import from_json
from simulator.theory.events.accounting import Account
from simulator.theory.events.leaves import (
    GaussianEvent,
    LaplaceEvent,
    NothingEvent,
    PromiseEvent,
    RandomizedResponseEvent,
    TreeAggregationEvent,
)
from simulator.theory.events.noise_leaves import DiscreteLaplaceEvent, GaussianMixtureEvent
from simulator.theory.events.sampling import SampledWithReplacementEvent, SubsampledEvent
from simulator.theory.events.selection import ORDERS, SelectedEvent
from simulator.theory.events.sums import SampledSumEvent
from simulator.theory.events.tree import (
    ComposedEvent,
    EventTree,
    RepeatedEvent,
    ratio_up,
)
from simulator.theory.events.units import (
    ADD_REMOVE,
    PRESENT_OR_NOT,
    REPLACE_ONE,
    Neighbours,
    Unit,
)
from simulator.theory.guarantees.renyi import ZCDP, RenyiDP
from simulator.theory.outward import above
from simulator.theory.parameters import count, nonnegative, several

Read = Callable[[Any, Unit, str], EventTree]


def from_opacus(history: Iterable[tuple[float, float, int]]) -> Account:
    """The composition of an Opacus accountant: its ``history``, Poisson sampling, add-remove.

    Every entry is (noise multiplier, sample rate, number of steps). Raises InvalidInput for any
    other value, with the index of the entry.

    >>> from simulator.theory.events import from_opacus
    >>> account = from_opacus([(1.0, 0.01, 10)])       # noise multiplier, sample rate, steps
    >>> account.rounds[0].count, account.relation
    (10, 'add-remove')
    """
    events: list[EventTree] = []
    for place, entry in enumerate(several("history", history)):
        path = f"history[{place}]"
        try:
            noise, rate, steps = entry
        except (TypeError, ValueError):
            wanted = "(noise multiplier, sample rate, steps)"
            raise InvalidInput(f"{path}: {entry!r:.80} is not {wanted}") from None
        try:
            steps = count("the number of steps", steps, 0)
            if steps > 0:
                events.append(RepeatedEvent(SubsampledEvent(GaussianEvent(noise), rate), steps))
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from None
    return Account(ComposedEvent(tuple(events)) if events else NothingEvent(), ADD_REMOVE)


def read_account(text: str) -> Account:
    """The account of an event document, or of the JSON of an Opacus history or accountant state.

    Raises InvalidInput with the path of what is wrong.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian, read_account
    >>> text = Account().then(gaussian(10.0), 100).to_json()
    >>> round(read_account(text).epsilon(1e-6).upper, 4)
    4.8866
    """
    document = from_json(text, "event")
    history = document.get("history") if isinstance(document, dict) else document
    return from_opacus(history) if isinstance(history, list) else Account.from_json(text)


def from_dp_accounting(event: Any, relation: Neighbours = ADD_REMOVE, records: int = 1) -> Account:
    """The composition of a ``dp_accounting.DpEvent`` of version 0.6, under ``relation``.

    The events NoOp, Gaussian, Laplace, DiscreteLaplace, MixtureOfGaussians, RandomizedResponse
    (under replace-one), ZCDp, SingleEpochTreeAggregation, RepeatAndSelect, PoissonSampled,
    SampledWithoutReplacement, SampledWithReplacement (of pure differential privacy),
    TruncatedSubsampledGaussian, RandomAllocation (of its later versions), Composed and SelfComposed
    are read. ``records`` are those of a group in which neighbours differ.

    A noise multiplier of that library is the noise over C, a bound on the norm of one record's
    value, so the unit here has clip 1: a Gaussian of multiplier s has mu = 1/s under add-remove and
    2/s under replace-one. Trees and mixtures are stated for a record that is there or not, and
    refused under replace-one. Randomized response says nothing of the answer for a special record,
    and is refused under replace-special.

    Raises InvalidInput for a value that is not a DpEvent or an event without privacy, and
    NotApplicable for any other event; each names the event and its path.
    """
    return Account(_read(event, Unit(relation), "event"), relation, records)


def _read(event: Any, unit: Unit, path: str) -> EventTree:
    name = type(event).__name__
    if not any(base.__name__ == "DpEvent" for base in type(event).__mro__):
        raise InvalidInput(f"{path}: {event!r:.80} is not a DpEvent of dp_accounting")
    if name in _WITHOUT_PRIVACY:
        raise InvalidInput(f"{path}: {name} has no privacy: no finite epsilon holds")
    if name not in _READERS:
        known = ", ".join(_READERS)
        raise NotApplicable(f"{path}: {name} is not read here; these are: {known}")
    path = f"{path} ({name})"
    try:
        return _READERS[name](event, unit, path)
    except InvalidInput as error:
        message = str(error)
        raise InvalidInput(
            message if message.startswith("event") else f"{path}: {message}"
        ) from None


def _require_present_or_not(what: str, unit: Unit, path: str) -> None:
    if unit.relation not in PRESENT_OR_NOT:
        raise NotApplicable(
            f"{path}: {what} is stated for a record that is there or not: it has a meaning under "
            f"{' and '.join(PRESENT_OR_NOT)} only, not under {unit.relation}"
        )


_WITHOUT_PRIVACY = ("NonPrivateDpEvent",)


def _randomized_response(event: Any, unit: Unit, path: str) -> EventTree:
    """Randomized response with odds (1 - p + p/k) / (p/k) = 1 + k (1 - p)/p of the truth."""
    if unit.relation != REPLACE_ONE:
        raise NotApplicable(
            f"{path}: randomized response has a meaning under {REPLACE_ONE} only, not under "
            f"{unit.relation}: it gives no answer for a record that is not there"
        )
    noise, buckets = float(event.noise_parameter), count("num_buckets", event.num_buckets)
    if not 0.0 <= noise <= 1.0:
        raise InvalidInput(f"noise_parameter must be in [0, 1], not {noise!r}")
    if buckets == 1 or noise == 1.0:
        return NothingEvent()
    if noise == 0.0:
        raise InvalidInput("without noise the answer is the record: no finite epsilon holds")
    odds = buckets * (1.0 - noise) / noise
    return RandomizedResponseEvent(above(math.log1p(odds) * (1.0 + 2.0**-50)), buckets)


def _zcdp(event: Any, unit: Unit, path: str) -> EventTree:
    """(xi, rho)-zCDP is (a, xi + rho a)-Renyi DP at every order a."""
    rho, xi = nonnegative("rho", event.rho), nonnegative("xi", event.xi)
    if xi == 0.0:
        return PromiseEvent(ZCDP(rho))
    return PromiseEvent(RenyiDP(ORDERS, tuple(above(xi + above(rho * a)) for a in ORDERS)))


def _tree(event: Any, unit: Unit, path: str) -> EventTree:
    _require_present_or_not("the sensitivity of a tree", unit, path)
    counts = event.step_counts
    steps = (counts,) if isinstance(counts, int) else tuple(counts)
    kept = tuple(each for each in steps if each != 0)
    return TreeAggregationEvent(float(event.noise_multiplier), kept) if kept else NothingEvent()


def _mixture(event: Any, unit: Unit, path: str) -> EventTree:
    """A mixture; equal sensitivities are merged, those of weight 0 left out."""
    _require_present_or_not("a mixture of sensitivities", unit, path)
    weights: dict[float, float] = {}
    for shift, weight in zip(event.sensitivities, event.sampling_probs, strict=True):
        if weight != 0.0:
            weights[float(shift)] = weights.get(float(shift), 0.0) + float(weight)
    if set(weights) == {0.0}:
        return NothingEvent()
    return GaussianMixtureEvent(event.standard_deviation, tuple(weights), tuple(weights.values()))


def _without_replacement(event: Any, unit: Unit, path: str) -> EventTree:
    size = count("source_dataset_size", event.source_dataset_size)
    drawn = count("sample_size", event.sample_size, 0)
    if drawn > size:
        raise InvalidInput(f"a sample of {drawn} cannot be drawn from a population of {size}")
    inner = _read(event.event, unit, f"{path}.event")
    rate = ratio_up(float(drawn), float(size)) if drawn else 0.0
    return SubsampledEvent(inner, min(rate, 1.0), "without_replacement")


def _with_replacement(event: Any, unit: Unit, path: str) -> EventTree:
    inner = _read(event.event, unit, f"{path}.event")
    drawn = count("sample_size", event.sample_size, 0)
    size = count("source_dataset_size", event.source_dataset_size)
    return SampledWithReplacementEvent(inner, drawn, size) if drawn else NothingEvent()


def _allocated(event: Any, unit: Unit, path: str) -> EventTree:
    selected = count("num_selected", event.num_selected, 0)
    inner = _read(event.event, unit, f"{path}.event")
    if not selected:
        return NothingEvent()
    events = Added("events")
    if "random_allocation" not in events:
        raise NotApplicable(
            f"{path}: the shelf simulator.training, which reads it, is not installed"
        )
    return cast(EventTree, events["random_allocation"](inner, event.num_steps, selected))


def _truncated(event: Any, unit: Unit, path: str) -> EventTree:
    """Poisson sampling with truncated batches; the size is that of the larger database."""
    size = count("dataset_size", event.dataset_size, 0)
    most = count("truncated_batch_size", event.truncated_batch_size, 0)
    rate = float(event.sampling_probability)
    if size == 0 or most == 0 or rate == 0.0:
        return NothingEvent()
    noise = float(event.noise_multiplier)
    return SampledSumEvent(noise, rate, unit.clip, batch=most, size=size)


def _poisson(event: Any, unit: Unit, path: str) -> EventTree:
    """A Poisson sample; the values of a Gaussian are clipped to the unit's norm."""
    inner, rate = event.event, float(event.sampling_probability)
    if type(inner).__name__ == "GaussianDpEvent" and unit.relation == REPLACE_ONE:
        _read(inner, unit, f"{path}.event")  # refuses what is no Gaussian
        return SampledSumEvent(float(inner.noise_multiplier), rate, unit.clip)
    return SubsampledEvent(_read(inner, unit, f"{path}.event"), rate)


_READERS: dict[str, Read] = {
    "NoOpDpEvent": lambda event, unit, path: NothingEvent(),
    "GaussianDpEvent": lambda event, unit, path: GaussianEvent(
        float(event.noise_multiplier), unit.moves
    ),
    "LaplaceDpEvent": lambda event, unit, path: LaplaceEvent(
        float(event.noise_multiplier), unit.moves
    ),
    "DiscreteLaplaceDpEvent": lambda event, unit, path: DiscreteLaplaceEvent(
        float(event.noise_parameter), event.sensitivity * int(unit.moves)
    ),
    "MixtureOfGaussiansDpEvent": _mixture,
    "RandomizedResponseDpEvent": _randomized_response,
    "ZCDpEvent": _zcdp,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "RepeatAndSelectDpEvent": lambda event, unit, path: SelectedEvent(
        _read(event.event, unit, f"{path}.event"), float(event.mean), float(event.shape)
    ),
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _without_replacement,
    "SampledWithReplacementDpEvent": _with_replacement,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "RandomAllocationDpEvent": _allocated,
    "ComposedDpEvent": lambda event, unit, path: ComposedEvent(
        tuple(
            _read(each, unit, f"{path}.events[{place}]") for place, each in enumerate(event.events)
        )
    ),
    "SelfComposedDpEvent": lambda event, unit, path: RepeatedEvent(
        _read(event.event, unit, f"{path}.event"), event.count
    ),
}
"""The reader of each event, by the name of its class."""
