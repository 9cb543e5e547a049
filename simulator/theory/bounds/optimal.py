"""Exact bounds for pure and approximate differential privacy: randomized response is worst."""

from __future__ import annotations

import math

from simulator.foundations.errors import NotApplicable
from simulator.theory.bounds.base import Bound, largest_loss
from simulator.theory.bounds.composition import Composition
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.pld.response_atoms import LossAtoms, mixed_atoms, repeated_atoms
from simulator.theory.pld.response_lattice import ResponseCounts, enclosing_atoms, lattice_step

_MOST_ATOMS = 4_000_000
_UNDERFLOW = 1e-300  # above all mass that a convolution in double precision loses


def _parts(core: Composition) -> ResponseCounts:
    """(epsilon, rounds) of the rounds that are not harmless."""
    return tuple((g.pure_epsilon, count) for g, count in core if g.pure_epsilon > 0.0)


def _needs_responses(core: Composition) -> str | None:
    pure = core.consists_of(PureDP)
    return None if pure else "every round must be pure or approximate differential privacy"


class OptimalHomogeneous(Bound):
    """Binomial sum over the losses (k - 2l) epsilon of k randomized responses."""

    name = "kairouz-oh-viswanath-3.3"
    source = "Kairouz, Oh and Viswanath 2017, Theorem 3.3"
    kind = "exact"

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_responses(core)) is not None:
            return reason
        parts = _parts(core)
        if len(parts) > 1:
            return "every round must have the same epsilon"
        if parts and parts[0][1] > _MOST_ATOMS:
            return f"more than {_MOST_ATOMS} rounds would need too much memory"
        return None

    def _atoms(self, core: Composition) -> LossAtoms:
        return repeated_atoms(*(_parts(core) or ((0.0, 1),))[0])

    def _delta(self, core: Composition, epsilon: float) -> float:
        return self._atoms(core).delta(epsilon)

    def _epsilon(self, core: Composition, delta: float) -> float:
        return self._atoms(core).epsilon(delta)

    def _delta_ends(self, core: Composition, epsilon: float) -> Bracket:
        return self._atoms(core).delta_bracket(epsilon)

    def _epsilon_ends(self, core: Composition, delta: float) -> Bracket:
        return self._atoms(core).epsilon_bracket(delta, largest_loss(core).upper)


class OptimalHeterogeneous(OptimalHomogeneous):
    """The sum over how many of each distinct epsilon's responses were truthful."""

    name = "murtagh-vadhan"
    source = "Murtagh and Vadhan 2016, Theorem 1.5"

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_responses(core)) is not None:
            return reason
        parts = _parts(core)
        if len(parts) < 2:
            return "needs two distinct epsilons; with one, use kairouz-oh-viswanath-3.3"
        atoms = math.prod(count + 1 for _, count in parts)
        if atoms > _MOST_ATOMS // 2:  # all of them are sorted
            return f"{atoms} atoms are too many to list; use murtagh-vadhan-rounded"
        return None

    def _atoms(self, core: Composition) -> LossAtoms:
        return mixed_atoms(_parts(core))


class RoundedHeterogeneous(Bound):
    """The upper end with every epsilon rounded up to a lattice, the lower end rounded down."""

    name = "murtagh-vadhan-rounded"
    source = "Murtagh and Vadhan 2016, Theorem 1.7 (rounding; here with a lower end as well)"

    def _why_not(self, core: Composition) -> str | None:
        if (reason := _needs_responses(core)) is not None:
            return reason
        parts = _parts(core)
        if len(parts) < 2:
            return "needs two distinct epsilons; with one, use kairouz-oh-viswanath-3.3"
        if lattice_step(parts) is None:
            return f"{core.rounds} rounds are too many for a lattice of a fine enough step"
        return None

    def _enclosing(self, core: Composition) -> tuple[LossAtoms, LossAtoms]:
        parts = _parts(core)
        step = lattice_step(parts)
        assert step is not None  # the condition was checked
        return enclosing_atoms(parts, step)

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        if epsilon >= largest_loss(core).upper:
            return Bracket(0.0, 0.0)
        below, above = self._enclosing(core)
        upper = min(1.0, above.delta_bracket(epsilon).upper + _UNDERFLOW)
        return Bracket(min(below.delta_bracket(epsilon).lower, upper), upper)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        if delta <= 2.0 * _UNDERFLOW:
            raise NotApplicable(f"{self.name}: delta {delta!r} is too small for double precision")
        below, above = self._enclosing(core)
        largest = largest_loss(core).upper
        reach = max(largest, *(float(atoms.losses[0]) * (1.0 + 1e-9) for atoms in (below, above)))
        upper = min(largest, above.epsilon_bracket(delta - _UNDERFLOW, reach).upper)
        return Bracket(min(below.epsilon_bracket(delta, reach).lower, upper), upper)
