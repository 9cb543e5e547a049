"""The steps of privacy filters and odometers, as scalar functions that numba can compile.

A rule is ``step(state, epsilon, delta) -> (admitted, new_state)``: the state is a tuple of floats
that includes the budget, and (epsilon, delta) is the guarantee of the next round. A round that is
not admitted leaves the state unchanged and must not run. The functions use ``math`` only and call
nothing of the project.

Rounding never admits a round that the promise does not cover. A sum of the rounds' own numbers is
stored in two floats, the sum and its error (Neumaier 1974), and compared with the budget times
AS_STORED: storing a decimal rounds it by up to half of that margin, so ten rounds of 0.1 fit a
budget of 1. Computed numbers are rounded UP.
"""

from __future__ import annotations

import math

AS_STORED = 1.0 + 2.0**-52
UP = 1.0 + 2.0**-49  # above the error of a few operations and one function of math

SumState = tuple[float, float, float, float, float, float]
RogersState = tuple[float, float, float, float, float, float, float, float]
WhitehouseState = tuple[float, float, float, float, float, float]
ZCDPState = tuple[float, float, float, float, float]
RenyiState = tuple[float, float, float, float, float, float]


def sum_step(state: SumState, epsilon: float, delta: float) -> tuple[bool, SumState]:
    """State: sum of epsilon and its error, sum of delta and its error, and their budgets."""
    spent, spent_error, leaked, leaked_error, budget, leak_budget = state
    if not (0.0 <= epsilon <= budget and 0.0 <= delta <= leak_budget):
        return False, state
    total, leaks = spent + epsilon, leaked + delta
    spent_error += (spent - total) + epsilon if spent >= epsilon else (epsilon - total) + spent
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if total + spent_error > budget * AS_STORED or leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (total, spent_error, leaks, leaked_error, budget, leak_budget)


def rogers_step(state: RogersState, epsilon: float, delta: float) -> tuple[bool, RogersState]:
    """State: drift, squares, sum of delta and its error, budgets, offset H, ln(2/delta)."""
    drift, squares, leaked, leaked_error, budget, leak_budget, offset, log_inverse = state
    if not (0.0 <= epsilon <= budget and 0.0 <= delta <= leak_budget) or epsilon > 700.0:
        return False, state
    drift = (drift + epsilon * math.expm1(epsilon) / 2.0) * UP
    squares = (squares + epsilon * epsilon) * UP
    leaks = leaked + delta
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    growth = 2.0 + math.log1p(squares / offset)
    if (drift + math.sqrt((squares + offset) * growth * log_inverse)) * UP > budget:
        return False, state
    if leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (drift, squares, leaks, leaked_error, budget, leak_budget, offset, log_inverse)


def whitehouse_step(
    state: WhitehouseState, epsilon: float, delta: float
) -> tuple[bool, WhitehouseState]:
    """State: squares, sum of delta and its error, budget, delta budget, ln(1/delta')."""
    squares, leaked, leaked_error, budget, leak_budget, log_inverse = state
    if not (epsilon >= 0.0 and 0.0 <= delta <= leak_budget):
        return False, state
    squares = (squares + epsilon * epsilon) * UP
    leaks = leaked + delta
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if (math.sqrt(2.0 * squares * log_inverse) + squares / 2.0) * UP > budget:
        return False, state
    if leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (squares, leaks, leaked_error, budget, leak_budget, log_inverse)


def zcdp_step(state: ZCDPState, epsilon: float, delta: float) -> tuple[bool, ZCDPState]:
    """State: sum of rho = epsilon tanh(epsilon/2), sum of delta and its error, their budgets."""
    spent, leaked, leaked_error, budget, leak_budget = state
    if not (epsilon >= 0.0 and 0.0 <= delta <= leak_budget):
        return False, state
    spent = (spent + epsilon * math.tanh(epsilon / 2.0)) * UP
    leaks = leaked + delta
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if spent > budget or leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (spent, leaks, leaked_error, budget, leak_budget)


def renyi_step(state: RenyiState, epsilon: float, delta: float) -> tuple[bool, RenyiState]:
    """State: sum of Renyi divergences of one order, sum of delta and its error, budgets, order."""
    spent, leaked, leaked_error, budget, leak_budget, alpha = state
    if not (epsilon >= 0.0 and 0.0 <= delta <= leak_budget):
        return False, state
    theta = alpha - 1.0
    if theta * epsilon > 1.0:
        top = math.log1p(math.exp(-(2.0 * theta + 1.0) * epsilon))
        cost = epsilon + (top - math.log1p(math.exp(-epsilon))) / theta
    else:
        rise = -math.expm1(theta * epsilon) * math.expm1(-alpha * epsilon)
        cost = math.log1p(rise / (1.0 + math.exp(-epsilon))) / theta
    spent = (spent + cost) * UP
    leaks = leaked + delta
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if spent > budget or leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (spent, leaks, leaked_error, budget, leak_budget, alpha)


ResidueState = tuple[float, float, float, float, float, float, float]


def residue_step(state: ResidueState, epsilon: float, delta: float) -> tuple[bool, ResidueState]:
    """State: mu left, sum of epsilon and its error, sum of delta and its error, their budgets.

    An ``epsilon`` below 0 is -mu of a Gaussian round. After an epsilon-DP round of which at most m
    is left, the rest of the play may be any Gaussian of mu <= m with
    tanh(epsilon/2) + 2 delta_m(epsilon) / (1 + e^epsilon) <= 2 Phi(mu/2) - 1, see
    :mod:`simulator.theory.filters.residue`. A round is admitted while there is such an m, or while
    the epsilons are within their budget; then nothing is left of mu, which is -1. With a budget of
    0 epsilons are not added up.
    """
    mu, spent, spent_error, leaked, leaked_error, basic, leak_budget = state
    if not 0.0 <= delta <= leak_budget:
        return False, state
    left = -1.0
    if epsilon == 0.0:
        left = max(mu, 0.0)
    elif epsilon < 0.0:
        rest = mu * mu * (1.0 - 2.0**-50) - epsilon * epsilon
        if epsilon == -mu:
            left = 0.0
        elif mu >= 0.0 and rest >= 0.0:
            left = math.sqrt(rest) * (1.0 - 2.0**-50)
        epsilon = 2.0 * basic + 1.0
    elif epsilon <= 30.0 and mu >= 0.0:
        # in total variation; what is computed is wrong by less than the margins
        whole = math.erf(mu * math.sqrt(0.125))
        spare = whole * (1.0 - 2.0**-50) - math.tanh(epsilon / 2.0)
        power = math.exp(epsilon)
        target = spare * (1.0 + power) / 2.0 - 2.0**-47
        if spare > 0.0:
            left = 0.0
            # from what a Gaussian round would leave, as a pure one leaves little less
            x = math.sqrt(mu * mu - epsilon * epsilon) if mu > epsilon else mu
            x = x if target > 0.0 else 0.0
            for _ in range(60):  # Newton's steps to delta_x(epsilon) = target
                if not x > 0.0:
                    break
                above = 0.5 * math.erfc((epsilon / x - x / 2.0) * math.sqrt(0.5))
                below = 0.5 * math.erfc((epsilon / x + x / 2.0) * math.sqrt(0.5))
                excess = above - power * below - target
                slope = math.exp(-0.5 * (epsilon / x - x / 2.0) ** 2) * 0.3989422804014327
                if slope < 1e-280:
                    break
                change = excess / slope
                x = max(min(x - change, mu), x / 4.0)
                if abs(change) <= 2.0**-50 * x:
                    break
            step = 2.0**-50 * x
            for _ in range(1100):  # down to one that is within the target
                if not x > 0.0:
                    break
                above = 0.5 * math.erfc((epsilon / x - x / 2.0) * math.sqrt(0.5))
                below = 0.5 * math.erfc((epsilon / x + x / 2.0) * math.sqrt(0.5))
                if above - power * below <= target:
                    left = min(x, mu)
                    break
                x -= step
                step *= 2.0
    if basic == 0.0:
        epsilon = 0.0
    total, leaks = spent + epsilon, leaked + delta
    spent_error += (spent - total) + epsilon if spent >= epsilon else (epsilon - total) + spent
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if left < 0.0 and not (0.0 < epsilon <= basic and total + spent_error <= basic * AS_STORED):
        return False, state
    if leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (left, total, spent_error, leaks, leaked_error, basic, leak_budget)


RealisedState = tuple[float, float, float, float, float, float, float, float]


def realised_step(state: RealisedState, epsilon: float, delta: float) -> tuple[bool, RealisedState]:
    """State: loss so far, what is spent in experiments 0 and 1, sum of delta and its error.

    Then the epsilon and the two budgets. An ``epsilon`` below 0 is -mu of a Gaussian round. A round
    costs what it adds at most to E[(1 - e^(budget - loss))_+] from the realised loss on, see
    :mod:`simulator.theory.filters.realised`.
    """
    loss, spent_0, spent_1, leaked, leaked_error, promised, budget, leak_budget = state
    if loss != loss or not 0.0 <= delta <= leak_budget or not -1e3 <= epsilon <= 700.0:
        return False, state
    for way in range(2):
        gap = promised - loss if way == 0 else promised + loss
        cost = 0.0
        if epsilon >= 0.0:
            if 0.0 <= gap < epsilon:
                cost = -math.expm1(gap - epsilon) / (1.0 + math.exp(-epsilon))
            elif -epsilon < gap < 0.0:
                cost = math.expm1(gap + epsilon) / (1.0 + math.exp(epsilon))
        else:
            mu, far = -epsilon, abs(gap)
            above = 0.5 * math.erfc((far / mu - mu / 2.0) * math.sqrt(0.5))
            below = 0.5 * math.erfc((far / mu + mu / 2.0) * math.sqrt(0.5))
            cost = above * (1.0 + 2.0**-40)
            if far < 700.0:  # beyond, the bound without this term
                cost -= math.exp(far) * below
            if gap < 0.0:
                cost *= math.exp(gap)
        cost = max(cost, 0.0)
        if way == 0:
            spent_0 = (spent_0 + cost) * UP
        else:
            spent_1 = (spent_1 + cost) * UP
    leaks = leaked + delta
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if max(spent_0, spent_1) > budget or leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (loss, spent_0, spent_1, leaks, leaked_error, promised, budget, leak_budget)


def realised_loss(state: RealisedState, loss: float) -> RealisedState:
    """The state after a round's answer."""
    return (state[0] + loss, *state[1:])


def squares_step(
    state: tuple[float, float, float, float, float], mu: float, delta: float
) -> tuple[bool, tuple[float, float, float, float, float]]:
    """State: sum of mu^2, sum of delta and its error, their budgets."""
    spent, leaked, leaked_error, budget, leak_budget = state
    if not (mu >= 0.0 and 0.0 <= delta <= leak_budget):
        return False, state
    spent = (spent + mu * mu) * UP
    leaks = leaked + delta
    leaked_error += (leaked - leaks) + delta if leaked >= delta else (delta - leaks) + leaked
    if spent > budget or leaks + leaked_error > leak_budget * AS_STORED:
        return False, state
    return True, (spent, leaks, leaked_error, budget, leak_budget)


MixtureState = tuple[float, float, float, float, float, float]


def mixture_step(state: MixtureState, epsilon: float, delta: float) -> MixtureState:
    """Odometer. State: sum of epsilon and its error, squares, sum of delta, gamma, ln(1/delta')."""
    spent, spent_error, squares, leaked, gamma, log_inverse = state
    total = spent + epsilon
    spent_error += (spent - total) + epsilon if spent >= epsilon else (epsilon - total) + spent
    squares = (squares + epsilon * epsilon) * UP
    return (total, spent_error, squares, (leaked + delta) * UP, gamma, log_inverse)


def mixture_reading(state: MixtureState) -> float:
    """The odometer's epsilon: the mixture boundary, or the sum of epsilons if less."""
    spent, spent_error, squares, _leaked, gamma, log_inverse = state
    total = spent + spent_error
    if spent_error > total - spent:  # the float below the sum
        total *= AS_STORED
    spread = squares + gamma
    boundary = math.sqrt(spread * (2.0 * log_inverse + math.log1p(squares / gamma)))
    return min(total, (squares / 2.0 + boundary) * UP)
