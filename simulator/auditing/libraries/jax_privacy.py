"""jax_privacy's accountant of DP-SGD, by privacy loss distribution and by Renyi divergence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from simulator.auditing.conformance.events import (
    GAUSSIAN,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
    batch_of,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject
from simulator.foundations.errors import NotApplicable

_CLAIMS = {
    "Pld": "the epsilon of DP-SGD with Poisson sampling, by dp_accounting's PLDAccountant with "
    "losses rounded to a grid of 1e-4 (documentation of DpParams and PldAccountantConfig)",
    "Rdp": "the epsilon of DP-SGD with Poisson sampling, by dp_accounting's RdpAccountant "
    "(documentation of DpParams and RdpAccountantConfig)",
}


_REMARK = (
    "dp_accounting rounds losses up and convolves them by Fourier transform in doubles, whose "
    "error in delta is not allowed for: it matters at small delta alone"
)


def _batch(events: Sequence[PrivacyEvent]) -> tuple[int, int]:
    """The batch size and the number of records. Raises NotApplicable for several rates."""
    rates = {event.rate for event in events}
    if len(rates) > 1:
        raise NotApplicable("one training has one rate")
    return batch_of(rates.pop())


def _schedule(events: Sequence[PrivacyEvent]) -> tuple[list[tuple[int, float]], int]:
    """The steps at which the noise changes with its new multipliers, and all steps."""
    changes, step = [], 0
    for event in events:
        changes.append((step, 1.0 / event.parameter))
        step += event.count
    return changes, step


class OfTraining:
    """``DpsgdTrainingAccountant``: the rounds are the steps of one training."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the training that the events describe."""
        from jax_privacy import accounting

        batch, records = _batch(events)
        changes, steps = _schedule(events)
        config = getattr(accounting, f"{self.kind}AccountantConfig")()
        parameters = accounting.DpParams(
            noise_multipliers=changes, num_samples=records, delta=delta, batch_size=batch
        )
        found = accounting.DpsgdTrainingAccountant(config).compute_epsilon(steps, parameters)
        return float(found)

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not offered."""
        raise NotApplicable("the accountant gives an epsilon alone")


def _snippet(kind: str, events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    batch, records = _batch(events)
    changes, steps = _schedule(events)
    return (
        "from jax_privacy.accounting import *\n"
        f"accountant = DpsgdTrainingAccountant({kind}AccountantConfig())\n"
        f"parameters = DpParams(noise_multipliers={changes!r},\n"
        f"    num_samples={records}, batch_size={batch}, delta={at!r})\n"
        f"print(accountant.compute_epsilon({steps}, parameters))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import jax_privacy.accounting  # noqa: F401

    return [
        Subject(
            name=f"DpsgdTrainingAccountant, {kind}AccountantConfig",
            role="accountant",
            make=partial(OfTraining, kind),
            claims=claims,
            kinds=(GAUSSIAN, SUBSAMPLED_GAUSSIAN),
            remark=_REMARK if kind == "Pld" else "",
            snippet=partial(_snippet, kind),
        )
        for kind, claims in _CLAIMS.items()
    ]


LIBRARY = Library(
    name="jax-privacy",
    distribution="jax-privacy",
    packages=("jax_privacy",),
    load=load,
    least="2.0",
    megabytes=4096,
)
