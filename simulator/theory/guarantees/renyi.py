"""Renyi differential privacy at one order or several, and zero-concentrated privacy."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from simulator.foundations import grammar, validation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import listed
from simulator.theory.guarantees.interface import Guarantee, within
from simulator.theory.guarantees.renyi_divergence import check_order, renyi_to_delta
from simulator.theory.parameters import nonnegative


@dataclass(frozen=True)
class RenyiDP(Guarantee):
    """(alpha, epsilon)-Renyi differential privacy at one order, or at each of several.

    ``RenyiDP(2.0, 0.1)`` states one order, ``RenyiDP((2.0, 8.0), (0.1, 0.5))`` a curve. Between
    the orders (alpha - 1) epsilon(alpha) lies below its chords, as it is convex in alpha and 0 at
    alpha = 1; beyond the last order nothing is stated. ``hockey_stick`` is an upper bound (Canonne,
    Kamath and Steinke 2020, Proposition 12).

    Attributes
    ----------
    alpha : the order, finite and above 1; or distinct orders, kept in increasing order.
    epsilon : the divergence in nats, in [0, 1e100]; or one for each order.

    Source: Mironov 2017, Definition 4; van Erven and Harremoes 2014, Corollary 2 (convexity).

    >>> from simulator.theory import RenyiDP
    >>> curve = RenyiDP((2.0, 8.0), (0.1, 0.3))
    >>> curve.renyi(8.0), curve.renyi_orders
    (0.3, (2.0, 8.0))
    """

    alpha: float | tuple[float, ...]
    epsilon: float | tuple[float, ...]
    kind: ClassVar[str] = "renyi"

    def __post_init__(self) -> None:
        orders, values = _several("alpha", self.alpha), _several("epsilon", self.epsilon)
        if not orders or len(orders) != len(values) or len(set(orders)) != len(orders):
            raise InvalidInput(
                f"a Renyi curve needs distinct orders and as many epsilons, not {len(orders)} "
                f"order(s) of which {len(set(orders))} differ, and {len(values)} epsilon(s)"
            )
        curve = sorted(
            (check_order(validation.finite("alpha", order)), nonnegative("epsilon", value))
            for order, value in zip(orders, values)
        )
        alpha, epsilon = (tuple(column) for column in zip(*curve))
        self._set("alpha", alpha if len(alpha) > 1 else alpha[0])
        self._set("epsilon", epsilon if len(epsilon) > 1 else epsilon[0])

    def __str__(self) -> str:
        return f"{self.kind}:" + ",".join(f"{order!r},{value!r}" for order, value in self.curve)

    @classmethod
    def of_named(cls, named: grammar.Term) -> Guarantee:
        """The curve of orders and epsilons, which alternate without names; raises InvalidInput."""
        if any(name for name, _ in named.values):
            return super().of_named(named)
        parts = [value for _, values in named.values for value in values]
        if not parts or len(parts) % 2:
            raise InvalidInput(f"{named} has no pairs of numbers: write renyi:ALPHA,EPSILON")
        orders, epsilons = ",".join(parts[::2]), ",".join(parts[1::2])
        text = f"alpha={orders},epsilon={epsilons}"
        return super().of_named(grammar.Term(named.name, text))

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """The stated (order, epsilon), by increasing order."""
        return tuple(zip(_several("alpha", self.alpha), _several("epsilon", self.epsilon)))

    @property
    def renyi_orders(self) -> tuple[float, ...]:
        """The stated orders."""
        return tuple(order for order, _ in self.curve)

    def admits(self, other: Guarantee) -> bool:
        """Whether the Renyi divergences of ``other`` are no larger at all orders of the curve."""
        return all(within(other.renyi(order), value) for order, value in self.curve)

    def _hockey_stick(self, epsilon: float) -> float:
        if self.renyi(self.renyi_orders[-1]) == 0.0:
            return 0.0
        return renyi_to_delta(self.renyi, epsilon, orders=self.renyi_orders)

    @property
    def mean_loss(self) -> float:
        """The least stated divergence: it increases with the order, so each bounds order 1."""
        return min(value for _, value in self.curve)

    def renyi(self, alpha: float) -> float:
        """The least bound that the stated orders imply; infinity beyond the last of them."""
        theta = check_order(alpha) - 1.0
        if alpha > self.renyi_orders[-1]:
            return math.inf
        corners = self._hull
        right = bisect.bisect_left([corner for corner, _ in corners], theta)
        (start, low), (end, high) = corners[right - 1], corners[right]
        share = (theta - start) / (end - start)
        chord = ((1.0 - share) * low + share * high) / theta
        # The divergence increases with the order, so a stated value bounds all smaller orders
        # exactly.
        return min([chord, *(value for order, value in self.curve if order >= alpha)])

    @cached_property
    def _hull(self) -> list[tuple[float, float]]:
        """Corners (theta, theta epsilon) of the lower convex hull of the curve and (0, 0)."""
        corners = [(0.0, 0.0)]
        for order, value in self.curve:
            theta, height = order - 1.0, (order - 1.0) * value
            while len(corners) > 1:
                (before, base), (last, top) = corners[-2:]
                if (top - base) * (theta - before) < (height - base) * (last - before):
                    break
                corners.pop()
            corners.append((theta, height))
        return corners


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """rho-zero-concentrated differential privacy (Bun and Steinke 2016, Definition 1.1).

    ``hockey_stick`` is an upper bound (Canonne, Kamath and Steinke 2020, Proposition 12).

    >>> from simulator.theory import ZCDP
    >>> ZCDP(0.02).renyi(10.0), ZCDP(0.02).implies(ZCDP(0.03))
    (0.2, True)
    """

    rho: float
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        self._set("rho", nonnegative("rho", self.rho))

    def admits(self, other: Guarantee) -> bool:
        """Whether ``other`` is rho-zCDP at this rho."""
        return within(other.zcdp_rho, self.rho)

    def _hockey_stick(self, epsilon: float) -> float:
        return 0.0 if self.rho == 0.0 else renyi_to_delta(self.renyi, epsilon)

    @property
    def pure_epsilon(self) -> float:
        """Zero for rho = 0, else infinity."""
        return 0.0 if self.rho == 0.0 else math.inf

    @property
    def gdp_mu(self) -> float:
        """Zero for rho = 0, else infinity: zCDP implies no Gaussian differential privacy."""
        return 0.0 if self.rho == 0.0 else math.inf

    @property
    def zcdp_rho(self) -> float:
        """The rho itself."""
        return self.rho


def _several(name: str, value: object) -> tuple[Any, ...]:
    """The numbers of a curve, or a tuple of the single number."""
    if isinstance(value, str | bytes):
        raise InvalidInput(f"{name} must be a number or several, not {value!r}")
    return listed(name, value) if isinstance(value, Iterable) else (value,)
