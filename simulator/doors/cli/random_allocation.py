"""The mechanism random-allocation of ``dpcompose bounds`` and ``dpcompose calibrate``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import click

from simulator.doors.cli import options
from simulator.theory.bounds.certified_calibration import (
    Calibrated,
    ParameterScale,
    Rounds,
    calibrate_certified,
)
from simulator.theory.bounds.comparison import TRUTH, Row
from simulator.theory.events.accounting import Account
from simulator.theory.events.leaves import GaussianEvent
from simulator.theory.events.open_account import scale_of
from simulator.training.events import RandomAllocationEvent

NAME = "random-allocation"

_BLOCKS = (
    "upper bound: as many allocations of one step, each in its block of the steps "
    "(Feldman and Shenfeld 2025)"
)


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """The options of the mechanism; None for one that is not given."""

    steps: int | None
    selected: int | None
    epochs: int | None

    def refuse_given(self) -> None:
        """Raise UsageError if an option is given: the mechanism is another one."""
        for field in fields(self):
            if getattr(self, field.name) is not None:
                raise click.UsageError(f"--{field.name} needs --mechanism {NAME}")

    def account(self, sigma: float, epochs: int | None = None) -> Account:
        """The account; raises UsageError for an option that is missing, and InvalidInput."""
        if self.steps is None:
            raise click.UsageError(f"{NAME} takes --steps, the steps of an epoch")
        one = 1 if self.selected is None else self.selected
        many = 1 if self.epochs is None else self.epochs
        return Account(
            RandomAllocationEvent(
                GaussianEvent(sigma), self.steps, one, many if epochs is None else epochs
            )
        )

    def evaluation(
        self,
        sigma: Sequence[tuple[float, int | None]] | None,
        foreign: Sequence[Any],
        **how: Any,
    ) -> Callable[..., list[Row]]:
        """A function of a delta or an epsilon that returns the rows.

        Raises UsageError if one of the ``foreign`` options is given, and InvalidInput.
        """
        if sigma is None or len(sigma) != 1 or sigma[0][1] is not None:
            raise click.UsageError(f"{NAME} takes one --sigma, and --steps")
        if any(each is not None for each in foreign):
            raise click.UsageError(
                f"{NAME} takes --sigma, --steps, --selected and --epochs, and no other option of "
                "rounds"
            )
        account = self.account(sigma[0][0])

        def evaluate(**question: Any) -> list[Row]:
            return [
                replace(row, source=_BLOCKS) if row.name == TRUTH and not account.exact else row
                for row in account.compare(**question, **how)
            ]

        return evaluate

    def calibrated(
        self, target: tuple[float, float], sigma: float | None, digits: int, any_direction: bool
    ) -> tuple[Calibrated, ParameterScale]:
        """The sigma, or for a given sigma the epochs, that meets the target, and its scale."""
        if sigma is not None and self.epochs is not None:
            raise click.UsageError("leave out --sigma or --epochs, to be calibrated")
        self.account(1.0)  # checks the options before any work

        def laws(value: float) -> Rounds:
            if sigma is None:
                return self.account(value).laws
            return self.account(sigma, int(value)).laws

        scale = scale_of("sigma" if sigma is None else "count", digits)
        scale = replace(scale, name="sigma" if sigma is None else "epochs")
        return calibrate_certified(laws, *target, scale, any_direction=any_direction), scale

    @property
    def exact(self) -> bool:
        """Whether the lower ends are certain."""
        return self.selected in (None, 1, self.steps)


_OPTIONS = (
    click.option("--steps", type=int, default=None, help=f"For {NAME}: the steps of an epoch."),
    click.option(
        "--selected",
        type=int,
        default=None,
        help=f"For {NAME}: the steps of an epoch in which a record takes part.  [default: 1]",
    ),
    click.option(
        "--epochs", type=int, default=None, help=f"For {NAME}: how many epochs.  [default: 1]"
    ),
)


def allocation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which receives them as one argument ``allocation``."""
    return options.collected(command, _OPTIONS, Allocation, "allocation")
