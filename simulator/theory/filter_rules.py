"""The arithmetic of privacy filters and odometers, as plain scalar functions of a state.

A rule is ``step(state, epsilon, delta) -> (admitted, new_state)``: the state is a tuple of floats
that carries the budget as well, and (epsilon, delta) is what the next round must keep. A round
that is not admitted leaves the state as it was and must not run. The functions use ``math`` alone
and call nothing of the project, so that a compiler of scalar Python takes them as they stand.
"""

from __future__ import annotations

import math

SumState = tuple[float, float, float, float]
RogersState = tuple[float, float, float, float, float, float, float]
WhitehouseState = tuple[float, float, float, float, float]
ZCDPState = tuple[float, float, float, float]
RenyiState = tuple[float, float, float, float, float]


def sum_step(state: SumState, epsilon: float, delta: float) -> tuple[bool, SumState]:
    """State: sum of epsilon, sum of delta, and their budgets."""
    spent, leaked, budget, leak_budget = state
    if not (epsilon >= 0.0 and delta >= 0.0):
        return False, state
    if spent + epsilon > budget or leaked + delta > leak_budget:
        return False, state
    return True, (spent + epsilon, leaked + delta, budget, leak_budget)


def rogers_step(state: RogersState, epsilon: float, delta: float) -> tuple[bool, RogersState]:
    """State: drift, squares, sum of delta, budget, delta budget, offset H, ln(2/delta)."""
    drift, squares, leaked, budget, leak_budget, offset, log_inverse = state
    if not (epsilon >= 0.0 and delta >= 0.0) or epsilon > budget or epsilon > 700.0:
        return False, state
    drift += epsilon * math.expm1(epsilon) / 2.0
    squares += epsilon * epsilon
    leaked += delta
    growth = 2.0 + math.log1p(squares / offset)
    if drift + math.sqrt((squares + offset) * growth * log_inverse) > budget:
        return False, state
    if leaked > leak_budget:
        return False, state
    return True, (drift, squares, leaked, budget, leak_budget, offset, log_inverse)


def whitehouse_step(
    state: WhitehouseState, epsilon: float, delta: float
) -> tuple[bool, WhitehouseState]:
    """State: squares, sum of delta, budget, delta budget, ln(1/delta')."""
    squares, leaked, budget, leak_budget, log_inverse = state
    if not (epsilon >= 0.0 and delta >= 0.0):
        return False, state
    squares += epsilon * epsilon
    leaked += delta
    if math.sqrt(2.0 * squares * log_inverse) + squares / 2.0 > budget or leaked > leak_budget:
        return False, state
    return True, (squares, leaked, budget, leak_budget, log_inverse)


def zcdp_step(state: ZCDPState, epsilon: float, delta: float) -> tuple[bool, ZCDPState]:
    """State: sum of rho = epsilon tanh(epsilon/2), sum of delta, and their budgets."""
    spent, leaked, budget, leak_budget = state
    if not (epsilon >= 0.0 and delta >= 0.0):
        return False, state
    spent += epsilon * math.tanh(epsilon / 2.0)
    leaked += delta
    if spent > budget or leaked > leak_budget:
        return False, state
    return True, (spent, leaked, budget, leak_budget)


def renyi_step(state: RenyiState, epsilon: float, delta: float) -> tuple[bool, RenyiState]:
    """State: sum of Renyi divergences of one order, sum of delta, their budgets, the order."""
    spent, leaked, budget, leak_budget, alpha = state
    if not (epsilon >= 0.0 and delta >= 0.0):
        return False, state
    theta = alpha - 1.0
    if theta * epsilon > 1.0:
        top = math.log1p(math.exp(-(2.0 * theta + 1.0) * epsilon))
        spent += epsilon + (top - math.log1p(math.exp(-epsilon))) / theta
    else:
        rise = -math.expm1(theta * epsilon) * math.expm1(-alpha * epsilon)
        spent += math.log1p(rise / (1.0 + math.exp(-epsilon))) / theta
    leaked += delta
    if spent > budget or leaked > leak_budget:
        return False, state
    return True, (spent, leaked, budget, leak_budget, alpha)


MixtureState = tuple[float, float, float, float, float]


def mixture_step(state: MixtureState, epsilon: float, delta: float) -> MixtureState:
    """Odometer. State: sum of epsilon, squares, sum of delta, gamma, ln(1/delta')."""
    total, squares, leaked, gamma, log_inverse = state
    return (total + epsilon, squares + epsilon * epsilon, leaked + delta, gamma, log_inverse)


def mixture_reading(state: MixtureState) -> float:
    """The epsilon that the odometer shows: the mixture boundary, or the plain sum if less."""
    total, squares, _leaked, gamma, log_inverse = state
    spread = squares + gamma
    boundary = math.sqrt(spread * (2.0 * log_inverse + math.log1p(squares / gamma)))
    return min(total, squares / 2.0 + boundary)
