"""The mechanism matrix-factorisation of ``dpcompose bounds`` and ``dpcompose calibrate``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, print_table
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import did_you_mean
from simulator.theory.bounds.comparison import Row
from simulator.theory.bracket import Bracket
from simulator.theory.events.mechanisms import compare

if TYPE_CHECKING:
    from simulator.analysis.estimation import Estimate
    from simulator.doors.cli.random_allocation import Allocation
    from simulator.training.matrices import BinnedPair

NAME = "matrix-factorisation"

ROWS = ("either-direction", "removal", "addition", "public-bin")
"""The names of its rows."""

_DRAWS = 100_000
_CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Factorisation:
    """The options of the mechanism; None for one that is not given."""

    bins: int | None
    coefficients: tuple[float, ...] | None
    matrix: str | None
    draws: int | None
    seed: int | None
    confidence: float | None

    def refuse_given(self, *, drawing: bool = False) -> None:
        """Raise UsageError if an option is given: the mechanism is another one.

        With ``drawing`` the mechanism takes draws too, and --draws wants them.
        """
        drawn = drawing and self.draws is not None
        for field in fields(self):
            if drawn and field.name in ("draws", "seed", "confidence"):
                continue
            if getattr(self, field.name) is not None:
                raise click.UsageError(f"--{field.name} needs --mechanism {NAME}")

    def beside(
        self,
        certified: Callable[..., list[Row]],
        sigma: Sequence[tuple[float, int | None]] | None,
        allocation: Allocation,
    ) -> Callable[..., list[Row]]:
        """The certified rows of random allocation, and estimates of the exact law with --draws."""
        if self.draws is None:
            return certified
        from simulator.training.matrices import random_subset

        if allocation.epochs not in (None, 1):
            raise click.UsageError("--draws are of one epoch: leave out --epochs")
        assert sigma is not None
        assert allocation.steps is not None
        selected = 1 if allocation.selected is None else allocation.selected
        pair = random_subset(sigma[0][0], allocation.steps, selected)

        def evaluate(*, delta: float | None, epsilon: float | None) -> list[Row]:
            rows = certified(delta=delta, epsilon=epsilon)
            return [*rows, *self._estimates(pair, delta, epsilon)]

        return evaluate

    def pair(self, sigma: float, rounds: int | None) -> BinnedPair:
        """The pair; raises UsageError for an option that is missing, and InvalidInput."""
        from simulator.training.matrices import balls_in_bins

        if self.bins is None or rounds is None:
            raise click.UsageError(f"{NAME} takes --bins and --rounds")
        if self.coefficients is not None and self.matrix is not None:
            raise click.UsageError("give --coefficients or --matrix, not both")
        c = None if self.matrix is None else matrix_of(self.matrix)
        return balls_in_bins(sigma, self.bins, rounds, self.coefficients or (1.0,), matrix=c)

    def sampling(self) -> dict[str, Any]:
        """How many draws, from which seed."""
        return {
            "draws": _DRAWS if self.draws is None else self.draws,
            "seed": 0 if self.seed is None else self.seed,
        }

    def evaluation(
        self,
        sigma: Sequence[tuple[float, int | None]] | None,
        rounds: int | None,
        names: Sequence[str],
        foreign: Sequence[Any],
    ) -> Callable[..., list[Row]]:
        """A function of a delta or an epsilon that returns the rows with these names.

        Raises UsageError if one of the ``foreign`` options is given, and InvalidInput.
        """
        if sigma is None or len(sigma) != 1 or sigma[0][1] is not None or rounds is None:
            raise click.UsageError(f"{NAME} takes one --sigma, --bins and --rounds")
        if any(each is not None for each in foreign):
            raise click.UsageError(
                f"{NAME} takes --sigma, --bins, --rounds, --coefficients, --matrix, --draws, "
                "--seed, --confidence and --bound, and no other option of rounds, --tolerance or "
                "--plot"
            )
        for name in names:
            if name not in ROWS:
                near = did_you_mean(name, ROWS)
                raise InvalidInput(
                    f"no bound {name!r} of {NAME}; there are {', '.join(ROWS)}{near}"
                )
        pair = self.pair(sigma[0][0], rounds)

        def evaluate(*, delta: float | None, epsilon: float | None) -> list[Row]:
            rows = self._rows(pair, delta, epsilon)
            return [row for row in rows if not names or row.name in names]

        return evaluate

    def calibrate(
        self, target: tuple[float, float], rounds: int | None, digits: int, as_json: bool
    ) -> None:
        """Print the least sigma that meets the target, and the next smaller one."""
        from simulator.training.matrices.calibrating import ERROR, calibrate_noise

        error = ERROR if self.confidence is None else 1.0 - self.confidence
        found = calibrate_noise(
            lambda sigma: self.pair(sigma, rounds), *target, digits=digits, error=error,
            **self.sampling(),
        )  # fmt: skip
        rows = [("meets the target", found.sigma, found.delta)]
        rows.append(("the next smaller one", found.beyond, found.beyond_delta))
        if as_json:
            both = {
                key: {"value": sigma, "delta": each.value, "lower": each.lower, "upper": each.upper}
                for key, (_, sigma, each) in zip(("meets", "next"), rows)
            }
            print_json({"parameter": "sigma", "error": found.error, "tried": found.tried} | both)
            return
        print_table(
            f"sigma of {NAME} for a total of ({number(target[0])}, {number(target[1])}), by draws, "
            f"wrong with probability {number(found.error)} at most",
            ("", "sigma", f"delta at epsilon = {number(target[0])}"),
            [(name, number(sigma, 12), str(each)) for name, sigma, each in rows],
            right=("sigma",),
        )

    def _rows(self, pair: BinnedPair, delta: float | None, epsilon: float | None) -> list[Row]:
        rows = self._estimates(pair, delta, epsilon)
        mu = math.sqrt(float(np.max(np.diagonal(pair.gram))))
        public = compare("gaussian", [(mu, 1)], delta=delta, epsilon=epsilon)
        exact = next(row for row in public if row.kind == "exact")
        source = "Gaussian of the bin of the longest mean, were it public"
        rows.append(Row(ROWS[-1], "upper", Bracket(0.0, exact.answer.upper), source, exact.seconds))
        return rows

    def _estimates(self, pair: BinnedPair, delta: float | None, epsilon: float | None) -> list[Row]:
        from simulator.training.matrices import estimate_allocation

        start = time.perf_counter()
        confidence = _CONFIDENCE if self.confidence is None else self.confidence
        found = estimate_allocation(
            pair, epsilon=epsilon, delta=delta, confidence=confidence, **self.sampling()
        )
        seconds = time.perf_counter() - start
        draws = (
            f"{self.sampling()['draws']} draws, {100 * confidence:.10g}% for all; {found.theorem}"
        )
        ceiling = 1.0 if delta is None else math.inf
        return [
            Row(name, "estimate", _bracket(estimate, ceiling), draws, seconds)
            for name, estimate in zip(ROWS, (found.worst, found.removal, found.addition))
            if estimate is not None
        ]


def _bracket(estimate: Estimate, ceiling: float) -> Bracket:
    return Bracket(estimate.lower, min(estimate.upper, ceiling), estimate.value)


def matrix_of(path: str) -> np.ndarray:
    """The array of a file of numpy; raises InvalidInput."""
    try:
        found = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or 'is not an array of numpy'}") from None
    except (ValueError, EOFError):
        raise InvalidInput(f"{path}: is not an array of numpy (.npy)") from None
    if not isinstance(found, np.ndarray):
        raise InvalidInput(f"{path}: has several arrays; give a .npy file with one")
    if found.dtype.kind not in "fiu":
        raise InvalidInput(f"{path}: has entries that are not real numbers")
    return found


_OPTIONS = (
    click.option(
        "--bins",
        type=int,
        default=None,
        help=f"For {NAME}: bins, of which each record is in one; round i is of bin i mod BINS.",
    ),
    click.option(
        "--coefficients",
        type=options.Numbers(click.FLOAT),
        metavar="C0[,C1...]",
        default=None,
        help=f"For {NAME}: C has C_il = c_(i-l), and the noise is C^-1 z.  [default: 1]",
    ),
    click.option(
        "--matrix",
        metavar="FILE",
        default=None,
        help="C itself in place of its coefficients: a .npy file, lower triangular.",
    ),
    click.option(
        "--draws",
        type=int,
        default=None,
        help=f"Draws for {NAME}, by default {_DRAWS}; with random-allocation, also estimate the "
        "exact law by so many.",
    ),
    click.option("--seed", type=int, default=None, help="Seed of the draws.  [default: 0]"),
    click.option(
        "--confidence",
        type=float,
        default=None,
        help=f"Of all intervals of one table together.  [default: {_CONFIDENCE}]",
    ),
)


def factorisation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which receives them as one argument ``factorisation``."""
    return options.collected(command, _OPTIONS, Factorisation, "factorisation")
