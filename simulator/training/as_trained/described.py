"""The numbers of a training by DP-SGD, from options and from the settings of a library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.strangers import from_json
from simulator.foundations.validation import finite, open_probability
from simulator.theory.parameters import count, positive

NAMES = {
    "noise_multiplier": "noise",
    "noise_multipliers": "noise",
    "num_samples": "records",
    "records": "records",
    "batch_size": "batch",
    "sample_rate": "rate",
    "epochs": "epochs",
    "steps": "steps",
    "num_updates": "steps",
    "delta": "delta",
    "target_delta": "delta",
    "truncated_batch_size": "cut",
}
"""The members of a file of settings that are read: names of Opacus and jax_privacy, and our own."""

_REFUSED = {
    "batch_size_scale_schedule": "batches of one expected size",
    "examples_per_user": "one record of each person",
    "cycle_length": "samples of all records",
}
"""Members of jax_privacy that change the training, with what is read instead."""

LEAST_NOISE, MOST_NOISE = 0.05, 1e4
MOST_STEPS = 10**6


@dataclass(frozen=True)
class TrainingRun:
    """A training by DP-SGD with Gaussian noise on sums of gradients of norm at most C.

    Attributes
    ----------
    noise : standard deviation of the noise over C.
    records : in the data set; of two neighbours of different sizes, the larger one.
    batch : expected records of a batch; also that of a loader that passes over all records.
    steps : of the training.
    delta : at which epsilon is stated.
    rate : of Poisson samples; ``batch / records`` where it is 0.
    cut : largest size of a Poisson sample where samples are cut; 0 where the table chooses it.

    >>> from simulator.training.as_trained.described import TrainingRun
    >>> run = TrainingRun(noise=1.0, records=50_000, batch=512, steps=980, delta=1e-5)
    >>> run.per_epoch, run.whole_epochs, run.begun_epochs
    (98, 10, 10)
    """

    _: KW_ONLY
    noise: float
    records: int
    batch: int
    steps: int
    delta: float
    rate: float = 0.0
    cut: int = 0

    def __post_init__(self) -> None:
        if not LEAST_NOISE <= positive("noise", self.noise) <= MOST_NOISE:
            raise InvalidInput(
                f"noise must be in [{LEAST_NOISE}, {MOST_NOISE:g}], not {self.noise:g}",
                argument="noise",
            )
        for name in ("records", "batch", "steps"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.batch > self.records:
            raise InvalidInput(
                f"batch must be at most the number of records, {self.records}, not {self.batch}",
                argument="batch",
            )
        if self.steps > MOST_STEPS:
            raise InvalidInput(f"steps must be at most {MOST_STEPS}, not {self.steps}")
        open_probability("delta", self.delta)
        object.__setattr__(self, "cut", count("cut", self.cut, 0))
        if not 0.0 <= finite("rate", self.rate) <= 1.0:
            raise InvalidInput(f"rate must be in (0, 1], not {self.rate!r}", argument="rate")
        if not self.rate:
            object.__setattr__(self, "rate", self.batch / self.records)

    @property
    def per_epoch(self) -> int:
        """Steps in which a loader passes over all records, the last batch a smaller one."""
        return -(-self.records // self.batch)

    @property
    def opacus_rate(self) -> float:
        """The rate at which Opacus samples for a loader of this batch: 1 over its batches."""
        return 1.0 / self.per_epoch

    @property
    def whole_epochs(self) -> int:
        """Epochs that are trained to their end."""
        return self.steps // self.per_epoch

    @property
    def begun_epochs(self) -> int:
        """Epochs that are begun: a record of the first batch takes part in so many steps."""
        return -(-self.steps // self.per_epoch)


def training_of(options: Mapping[str, Any], text: str | None = None) -> TrainingRun:
    """The training of options, and of a JSON file of settings where its text is given.

    The file is an object with members of :data:`NAMES`, or the state of an accountant of Opacus,
    whose ``history`` has one entry (noise multiplier, sample rate, steps). A number that stands
    in both is refused, as is one that is missing. Raises InvalidInput.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if text is not None:
        for name, value in settings_of(text).items():
            if name in given:
                raise InvalidInput(f"{name} is both in the settings and in the options")
            given[name] = value
    if "steps" in given and "epochs" in given:
        raise InvalidInput("give steps or epochs, not both")
    if "batch" not in given and "rate" in given and "records" in given:
        share = finite("rate", given["rate"]) * count("records", given["records"])
        given["batch"] = max(1, round(share))
    for name in ("noise", "records", "batch", "delta"):
        if name not in given:
            raise InvalidInput(
                f"{name} is missing: give noise, records, batch, delta, and steps or epochs"
            )
    if "epochs" in given:
        epochs = positive("epochs", given.pop("epochs"))
        per_epoch = -(-count("records", given["records"]) // count("batch", given["batch"]))
        given["steps"] = math.ceil(epochs * per_epoch * (1.0 - 1e-12))
    if "steps" not in given:
        raise InvalidInput("a training has a number of steps or of epochs")
    known = {field.name for field in fields(TrainingRun)}
    return TrainingRun(**{name: value for name, value in given.items() if name in known})


def settings_of(text: str) -> dict[str, Any]:
    """The numbers of a file of settings by the names of :class:`TrainingRun`.

    Members that say nothing of these numbers are left out, see :func:`left_out`.
    """
    document = _document(text)
    for member, instead in _REFUSED.items():
        if document.get(member) not in (None, 1):
            raise InvalidInput(f"settings: {member} is not read here, {instead} alone")
    if document.get("is_finite_guarantee") is False:
        raise InvalidInput("settings: without a finite guarantee there is no epsilon")
    found: dict[str, Any] = {}
    for member, name in NAMES.items():
        if document.get(member) is None:
            continue
        if name in found:
            raise InvalidInput(f"settings: {member} is there under two names")
        value = document[member]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"settings: {member} must be one number, not {value!r:.80}")
        whole = name not in ("noise", "rate", "delta", "epochs")
        found[name] = int(value) if whole and float(value).is_integer() else value
    if "history" in document:
        for name, value in zip(("noise", "rate", "steps"), _history(document["history"])):
            if name in found:
                raise InvalidInput(f"settings: {name} is in the history already")
            found[name] = value
    return found


def left_out(text: str) -> list[str]:
    """The members of a file of settings that are not read, in order."""
    read = {*NAMES, *_REFUSED, "history", "is_finite_guarantee"}
    return [member for member in _document(text) if member not in read]


def _document(text: str) -> dict[str, Any]:
    document = from_json(text, "settings")
    if not isinstance(document, dict):
        raise InvalidInput("settings: is not an object with members such as noise_multiplier")
    return document


def _history(entries: Any) -> tuple[float, float, int]:
    """The one entry of the history of an accountant of Opacus."""
    if not isinstance(entries, list) or len(entries) != 1:
        raise InvalidInput(
            "settings: a history has one entry here, of steps that are alike; dpcompose bounds "
            "--event FILE composes several"
        )
    (entry,) = entries
    if not isinstance(entry, list) or len(entry) != 3:
        raise InvalidInput(f"settings: history[0] is not [noise, rate, steps]: {entry!r:.80}")
    noise, rate, steps = entry
    return positive("noise", noise), positive("rate", rate), count("steps", steps)
